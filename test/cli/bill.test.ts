// The sentence at the top, recomputed from the recorded usage by the test's own arithmetic.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { openStore } from "../../src/store/open.ts"
import { temporaryFolder, turnOf } from "../store/support.ts"
import { madeUpSession } from "../support/made-up.ts"
import { bash, SessionBuilder, usage } from "../support/session.ts"
import { cli, writeExport } from "./support.ts"

const folder = temporaryFolder()
const env = { HUDFOLD_DATA: folder.path }
const paths = {
  long: writeExport(folder.path, "long", madeUpSession({ calls: 120 })),
  other: writeExport(folder.path, "other", madeUpSession({ calls: 60 })),
  small: writeExport(folder.path, "small", madeUpSession({ calls: 12 })),
}
const SAVED = 0.4
/** Of the made-up sessions' first message. */
const START = Date.parse("2026-11-02T09:00:00Z")
const HOUR = 3_600_000

beforeAll(async () => {
  const store = await openStore({ path: join(folder.path, "hud.db"), onWarning() {} })
  const ran = { sessionID: "ses_other", cost: 700_000, costWithout: 900_000 }
  // undone: the session has no call of it any more
  store.saveTurn(turnOf({ ...ran, startedAt: START - 2 * HOUR, endedAt: START - HOUR, usd: 100 * SAVED }))
  store.saveTurn(turnOf({ ...ran, startedAt: START, endedAt: START + HOUR / 2, usd: SAVED / 4 }))
  store.saveTurn(turnOf({ ...ran, startedAt: START + HOUR / 2, endedAt: START + 9 * HOUR, usd: (3 * SAVED) / 4 }))
  await store.close()
})
afterAll(() => folder[Symbol.dispose]())

type Message = { info: { role: string; cost?: number; tokens?: Usage } }
type Usage = { input: number; output: number; reasoning: number; cache: { read: number; write: number } }

/** What was charged, and what a fresh token cost, at Anthropic's ratios. */
function charged(path: string) {
  const { messages } = JSON.parse(readFileSync(path, "utf8")) as { messages: Message[] }
  let usd = 0
  let tokens = 0
  for (const { info } of messages) {
    usd += info.cost ?? 0
    const { input = 0, output = 0, reasoning = 0, cache } = info.tokens ?? {}
    tokens += input + 0.1 * (cache?.read ?? 0) + 1.25 * (cache?.write ?? 0) + 5 * (output + reasoning)
  }
  return { usd, perToken: usd / tokens }
}

/** What the conversation would have cost less, in fresh tokens, as `replay` counts it. */
async function conversationSaving(path: string): Promise<number> {
  const { stdout } = await cli(["replay", path, "--json"], env)
  const { without, with: sent, recalls } = JSON.parse(stdout).sum
  return without.cost - sent.cost - recalls.cost
}

const amounts = (text: string) => [...text.matchAll(/\$(\d+\.\d+)/g)].map(([, usd]) => Number(usd))

test("without the plugin: what was charged, less what it would have saved", async () => {
  const [sentence = ""] = (await cli(["replay", paths.long, paths.small], env)).stdout.split("\n")
  let without = 0
  let sent = 0
  for (const path of [paths.long, paths.small]) {
    const { usd, perToken } = charged(path)
    without += usd
    sent += usd - perToken * (await conversationSaving(path))
  }
  expect(amounts(sentence)[0]).toBeCloseTo(without, 2)
  expect(amounts(sentence)[1]).toBeCloseTo(sent, 2)
  const percent = Math.round(100 * (sent / without - 1))
  expect(sentence).toMatch(
    new RegExp(
      `^2 sessions cost \\$[\\d.]+\\. With hudfold they would .+ \\(${percent}%\\)\\. 1 of them would have cost more\\.$`,
    ),
  )
})

test("with the plugin: what was charged includes it, and what it measurably saved is added", async () => {
  const { usd } = charged(paths.other)
  const { stdout } = await cli(["replay", paths.other], env)
  const [sentence = ""] = stdout.split("\n")
  const [sent = 0, without = 0, saved = 0] = amounts(sentence)
  expect(sent).toBeCloseTo(usd, 2)
  expect(without).toBeCloseTo(usd + SAVED, 2)
  expect(saved).toBeCloseTo(SAVED, 2)
  expect(sentence).toMatch(
    /^1 session ran with hudfold and cost .+ Without hudfold it would have cost about .+: hudfold saved about .+ \(-\d+%\)\.$/,
  )
})

test("a session of an agent that the plugin leaves alone is one without it", async () => {
  const store = await openStore({ path: join(folder.path, "hud.db"), onWarning() {} })
  const times = { startedAt: START, endedAt: START + 9 * HOUR }
  store.saveTurn(turnOf({ sessionID: "ses_alone", ...times, calls: 0, cost: 0, costWithout: 0, usd: 0 }))
  await store.close()
  const path = writeExport(folder.path, "alone", madeUpSession({ calls: 12 }))
  expect((await cli(["replay", path], env)).stdout).toMatch(/^1 session cost .+ With hudfold it would have cost about /)
})

test("sessions with and without the plugin, and those billed by requests, are in no common sum", async () => {
  const copilot = new SessionBuilder("ses_1", { providerID: "github-copilot", modelID: "gpt-5.4" })
  const requests = writeExport(folder.path, "requests", copilot.user("go").assistant([bash("ls")], usage(100)))
  const [sentence = ""] = (await cli(["replay", paths.long, paths.other, requests], env)).stdout.split("\n")
  expect(amounts(sentence)[0]).toBeCloseTo(charged(paths.long).usd, 2)
  expect(amounts(sentence)[2]).toBeCloseTo(charged(paths.other).usd, 2)
  expect(sentence).toMatch(/^1 session cost .+ 1 session ran with hudfold and cost /)
  expect(sentence).toEndWith("1 session: billed by requests, so fewer tokens save no money.")
})

test("a session that shows traces of the plugin is not taken for one without", async () => {
  const session = madeUpSession({ calls: 12 })
  session.assistant([{ ...bash("x"), tool: "hud_recall" }], { ...usage(100), cost: 0.01 })
  const path = writeExport(folder.path, "traces", session)
  const [sentence] = (await cli(["replay", path], env)).stdout.split("\n")
  expect(sentence).toBe(SHORTENED)
})

const SHORTENED = "1 session: shortened by hudfold or another plugin, and what that saved is not recorded."

test.each([
  ["smaller requests while the session grew", [20_000, 30_000, 22_000, 23_000], true],
  ["requests that only grew", [20_000, 30_000, 31_000, 32_000], false],
  ["one report that lacks a part", [20_000, 30_000, 400, 32_000], false],
])("a session without a recall, by %s", async (name, sizes, isShortened) => {
  const session = new SessionBuilder("ses_sizes").user("look around")
  for (const [at, size] of sizes.entries()) session.assistant([bash(`ls ${at}`)], { ...usage(100, size), cost: 0.01 })
  const path = writeExport(folder.path, name.replaceAll(" ", "-"), session)
  const [sentence = ""] = (await cli(["replay", path], env)).stdout.split("\n")
  expect(sentence === SHORTENED).toBe(isShortened)
})
