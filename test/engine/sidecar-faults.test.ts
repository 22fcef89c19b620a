// A sidecar that fails at every moment, in every way a process can: a request is rejected or gets its own right answer, the next
// request is answered, and no process is left.

import { afterAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { SidecarError } from "../../src/engine/errors.ts"
import { opencode, spawnChild, temporaryFolder, until } from "../store/support.ts"
import { sized } from "../support/size.ts"
import { MOMENTS, WAY_NAMES } from "./fixtures/failing-sidecar.ts"
import { childOf, children, never, openSidecar, specOf, writing } from "./host.ts"

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

/** Short, but sufficient for starting a runtime on a busy machine. */
const TIMES = {
  helloMs: 6_000,
  loadMs: 1_500,
  writeMs: 700,
  tickMs: 20,
  stopMs: 100,
}

const cases = MOMENTS.flatMap((moment) => WAY_NAMES.map((way) => ({ moment, way })))
const every = sized(9, 1)

describe.skipIf(process.platform === "win32")(
  "the request is answered in the end, and no process is left (skipped on Windows), when",
  () => {
    for (const [number, { moment, way }] of cases.entries())
      if (number % every === 0)
        test(`at ${moment} the sidecar ${way}`, async () => {
          const marker = join(folder.path, `failed-${number}`)
          const spec = specOf(join(import.meta.dir, "fixtures/failing-sidecar.ts"), moment, way, marker)
          {
            await using opened = openSidecar(spec, { times: TIMES })
            const answers: unknown[] = []
            for (let n = 0; n < 5 && answers.filter((one) => typeof one === "string").length < 3; n++) {
              const answer = opened.sidecar.write(writing(`document ${n}`), never)
              answers.push(
                await answer.then(
                  ({ text }) => text,
                  (error: unknown) => error,
                ),
              )
            }
            const texts = answers.map((one) => (typeof one === "string" ? JSON.parse(one).text : one))
            for (const [n, text] of texts.entries())
              if (!(text instanceof SidecarError)) expect(text).toBe(`DOCUMENT ${n}`)
            expect(texts.filter((text) => typeof text === "string")).toHaveLength(3)
            expect(texts.length).toBeLessThan(5)
          }
          await until(() => childOf(spec) === undefined)
        }, 30_000)
  },
)

describe.skipIf(process.platform === "win32")(
  "closing takes effect at once, and no process is left (skipped on Windows), if",
  () => {
    for (const [number, moment] of MOMENTS.entries())
      test(`the sidecar is suspended at ${moment}`, async () => {
        const marker = join(folder.path, `stopped-${number}`)
        const spec = specOf(join(import.meta.dir, "fixtures/failing-sidecar.ts"), moment, "stops dead", marker)
        // so long that only the end of the plugin ends a wait
        const times = { helloMs: LONG, loadMs: LONG, writeMs: LONG }
        await using opened = openSidecar(spec, { times: { ...TIMES, ...times } })
        const asked = moment === "the second digest/write" ? ["first", "second"] : ["first"]
        const answers = asked.map((text) =>
          opened.sidecar.write(writing(text), never).then(
            ({ text }) => JSON.parse(text).text,
            (error: unknown) => (error instanceof SidecarError ? error.code : error),
          ),
        )
        await until(() => existsSync(marker))
        await until(() => stateOf(spec) === "T")
        if (moment === "idle") await Promise.all(answers)
        await opened.sidecar.close()
        expect(childOf(spec)).toBeUndefined()
        const expected =
          moment === "idle" ? ["FIRST"] : asked.map((_, n) => (n < asked.length - 1 ? "FIRST" : "CLOSED"))
        expect(await Promise.all(answers)).toEqual(expected)
      }, 30_000)
  },
)

const LONG = 25_000

/** The process state: `T` when it is stopped. */
function stateOf(spec: ReturnType<typeof specOf>): string | undefined {
  const pid = childOf(spec)
  return children().find((child) => child.pid === pid)?.state[0]
}

describe.skipIf(process.platform === "win32")("without a free file descriptor (skipped on Windows)", () => {
  for (const [runtime, command, env] of [
    ["bun", process.execPath, {}],
    ["OpenCode's binary", opencode, { BUN_BE_BUN: "1" }],
  ] as const)
    test(`the host on ${runtime} goes on, gets an error, and succeeds once there are descriptors again`, async () => {
      const script = join(import.meta.dir, "fixtures/no-descriptors.ts")
      using child = spawnChild(["sh", "-c", 'ulimit -n 80; exec "$0" "$@"', command, script], env)
      const { code, stdout, stderr } = await child.finish()
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const { without, within } = JSON.parse(stdout)
      expect(without).toMatch(/^START_FAILED: .* could not be started: .*EMFILE/)
      expect(JSON.parse(within)).toEqual({ text: "A" })
    }, 120_000)
})
