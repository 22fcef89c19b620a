// A broken sidecar or a broken model: OpenCode must not notice, and no process is left. `test/engine` tests more faults without
// OpenCode.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { differences, outlineIn } from "../opencode/stored.ts"
import type { Reply } from "../opencode/wire.ts"
import { type TinyModel, writeTinyModel } from "../support/gguf.ts"
import { testLarge } from "../support/large.ts"
import { plantSidecar, running, starts } from "../support/sidecar.ts"
import { sample } from "../support/size.ts"
import {
  bash,
  eventually,
  FILES,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  say,
  use,
  type World,
} from "../support/world.ts"

const long = (what: string) =>
  Array.from({ length: 80 }, (_, n) => `${what} ${n}: handled by src/handlers/${what}-${n}.ts`).join("\n")
const PROJECT = { ...FILES, "routes.txt": long("route"), "jobs.txt": long("job"), "mails.txt": long("mail") }

/** The last answer comes late, so that the sidecar is in the middle of its work when the turn ends. */
function work(lastMs: number, after = async (): Promise<unknown> => undefined): Reply[] {
  return [
    use(read("routes.txt")),
    { ...use(read("jobs.txt")), delayMs: 300 },
    { ...use(bash("cat mails.txt")), delayMs: 300 },
    { ...say("Done."), after, delayMs: lastMs },
  ]
}

let models: string
let outline: string[]

beforeAll(async () => {
  models = mkdtempSync(join(tmpdir(), "opencode-hudfold-models-"))
  const plain = await openWorld({ plugin: null, files: PROJECT })
  try {
    plain.provider.play(work(0))
    const { session } = await plain.host.run("Look at the routes")
    outline = await outlineIn(plain.host, session)
    expect(outline.length).toBeGreaterThan(10)
  } finally {
    await plain.close()
  }
}, 2 * PATIENCE_MS)
afterAll(() => rmSync(models, { recursive: true, force: true }))

type Fault = { program?: string; model?: string; options?: object; stop?: boolean; says: RegExp; lastMs?: number }

async function survives({ program, model = "any.gguf", options = {}, stop = false, says, lastMs = 1500 }: Fault) {
  // a hook that waited for one of these sidecars would exceed this deadline; a busy machine alone does not
  const plugin = [PLUGIN, { digest: { backend: "llama", ...options }, deadlineMs: 4_000 }] as const
  const world = await openWorld({ plugin, files: PROJECT })
  const path = program && fileURLToPath(new URL(`../engine/fixtures/${program}.ts`, import.meta.url))
  const planted = plantSidecar(world.host.root, { model: join(models, model), ...(path ? { program: path } : {}) })
  try {
    const started = async () =>
      path && eventually("the sidecar to start", () => (starts(planted) > 0 ? true : undefined), PATIENCE_MS)
    world.provider.play(work(lastMs, started))
    const run = world.host.run("Look at the routes")
    await started()
    if (stop) for (const { pid } of running(planted.main)) process.kill(pid, "SIGSTOP")
    const { exitCode, stderr, session } = await run
    const left = await eventually("the sidecar to be gone", () => gone(planted.main), PATIENCE_MS)
    expect(left).toEqual([])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    expect(differences(outline, await outlineIn(world.host, session))).toEqual([])
    const said = world.host
      .log()
      .split("\n")
      .filter((line) => line.includes("hudfold: "))
    expect(said.filter((line) => /was not done|took longer|failed; OpenCode/.test(line))).toEqual([])
    expect(said.join("\n")).toMatch(says)
  } finally {
    await end(world)
  }
}

function gone(path: string): [] | undefined {
  return running(path).length === 0 ? [] : undefined
}

async function end(world: World): Promise<void> {
  for (const { pid } of running(world.host.root)) process.kill(pid, "SIGKILL")
  await world.close()
}

const ANY = /(?:)/

describe("a session is the same as without the plugin, and no process is left, when the sidecar", () => {
  const faults: [string, Fault][] = [
    ["is stopped in the middle of its work", { program: "slow", stop: true, says: ANY }],
    ["is slow", { program: "slow", says: ANY }],
    ["crashes on the second request", { program: "crashes-on-second", says: /killed by SIGKILL/ }],
    ["is of the wrong version", { program: "wrong-version", says: /run `?(npx )?hudfold setup/ }],
    ["is never ready", { program: "never-ready", says: ANY }],
    ["prints noise on stdout", { program: "noisy", says: ANY }],
    ["ignores the end of its stdin", { program: "ignores-end", says: ANY }],
    ["runs out of memory", { program: "out-of-memory", says: /memory/ }],
    ["is too slow for the machine", { program: "crawls", says: /too slow/ }],
  ]
  const small = ["crashes on the second request"]
  for (const [name, fault] of sample(faults, [
    ...small,
    "is stopped in the middle of its work",
    "ignores the end of its stdin",
  ])) {
    const one = small.includes(name) ? test : testLarge
    one(name, () => survives(fault), 2 * PATIENCE_MS)
  }
})

describe("a session is the same as without the plugin, and the log says why, when the model", () => {
  testLarge("is missing", () => survives({ model: "none.gguf", says: /none\.gguf/, lastMs: 3000 }), 2 * PATIENCE_MS)

  const faults: [string, NonNullable<TinyModel["fault"]>][] = [
    ["is truncated", "truncated"],
    ["is corrupt", "header"],
  ]
  for (const [name, fault] of sample(faults, ["is corrupt"]))
    testLarge(
      name,
      async () => {
        const model = `${fault}.gguf`
        await writeTinyModel(join(models, model), { fault })
        await survives({ model, says: new RegExp(model.replace(".", "\\.")), lastMs: 3000 })
      },
      2 * PATIENCE_MS,
    )

  testLarge(
    "is too large for the memory it may take",
    async () => {
      await writeTinyModel(join(models, "large.gguf"), { layers: 12 })
      await survives({ model: "large.gguf", options: { memoryMB: 1 }, says: /large\.gguf.* MB/, lastMs: 3000 })
    },
    2 * PATIENCE_MS,
  )
})
