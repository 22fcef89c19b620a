// The requests of the real OpenCode: secrets appear only in the session's own outputs, arguments and prompts, however much is
// folded.

import { expect, test } from "bun:test"
import type { ModelRequest } from "../opencode/request.ts"
import { countFolded, EAGER, FILES, look } from "../support/folds.ts"
import { LARGE } from "../support/large.ts"
import { plantsOf, searcher } from "../support/planted.ts"
import { sized } from "../support/size.ts"
import { bash, openWorld, PATIENCE_MS, read, say, todo, use } from "../support/world.ts"

const all = plantsOf(11).map((plant) => ({ ...plant, name: plant.kind }))
/** After which most of what came before is folded. */
const LOOKS = LARGE ? 16 : 9
const step = Math.ceil(all.length / sized(7, all.length))
const plants = all.filter((_, at) => at % step === 0)
const around = (text: string, at: number) => {
  const rows = Array.from(
    { length: 40 },
    (_, n) => `step ${n + 1} of ${at} took ${(at * 7919 + n * 104729) % 997} ms of what was planned`,
  )
  return `${[...rows, text, ...rows].join("\n")}\n`
}
const files = { ...FILES, ...Object.fromEntries(plants.map(({ text }, at) => [`out/${at}.log`, around(text, at)])) }

/** Every string of a request, wherever it stands. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

/** The parts of a request that the session does not contain. */
function restOf(request: ModelRequest, originals: readonly string[]): string {
  return stringsIn(request.body)
    .map((text) => originals.reduce((left, one) => left.replaceAll(one, ""), text))
    .join("\n")
}

test(
  "a request has no secret outside the session's own content",
  async () => {
    await using world = await disposable()
    const { host, provider } = world
    const shown = plants.map((_, at) =>
      use(at % 2 === 0 ? bash(`cat out/${at}.log; exit ${at % 3}`) : read(`out/${at}.log`)),
    )
    const [asked, noted] = [plants[1], plants[0]]
    provider.play([
      use(todo(["begin", "completed"], [`set ${noted?.text}`, "in_progress"])),
      ...shown,
      ...Array.from({ length: LOOKS }, (_, n) => use(look(n + 1))),
      say("Done."),
    ])
    const { session, exitCode } = await host.run(`Look at the logs, and mind ${asked?.text}`)
    expect(exitCode).toBe(0)
    const requests = provider.from("main", session)
    expect(countFolded(requests.at(-1))).toBeGreaterThan(plants.length / 2)

    const search = searcher(plants)
    expect(search(requests.map(({ raw }) => raw).join("\n")).size).toBeGreaterThan(plants.length / 2)
    const stored = stringsIn(await host.stored(session))
    // a command's arguments go out as JSON within JSON
    const originals = [...new Set(stored.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]))].filter(
      (text) => search(text).size > 0,
    )
    originals.sort((a, b) => b.length - a.length)
    const rest = requests.map((request) => restOf(request, originals)).join("\n")
    expect(search(rest)).toEqual(new Set())
    expect(rest).toContain("<hud>")
    expect(rest).toMatch(/folded r[0-9a-z]{7} · |kept by hudfold as a record/)
    expect(
      search(
        host
          .log()
          .split("\n")
          .filter((line) => line.includes("opencode-hudfold"))
          .join("\n"),
      ),
    ).toEqual(new Set())
  },
  2 * PATIENCE_MS,
)

async function disposable() {
  const world = await openWorld({ plugin: EAGER, files })
  return { ...world, [Symbol.asyncDispose]: () => world.close() }
}
