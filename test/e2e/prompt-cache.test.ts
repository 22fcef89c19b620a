// What folding does to the bill, on the real OpenCode and a scripted Anthropic provider that keeps its cache by the
// documented rule: a session is cheaper with the plugin than without, and the plugin knows what the cache holds.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { readOptions, requestOptionsOf } from "../../src/options.ts"
import { replayCalls } from "../../src/replay/calls.ts"
import { priceNamed } from "../../src/replay/prices.ts"
import { contextTokens } from "../../src/session/facts.ts"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import type { ModelRequest, Usage } from "../opencode/request.ts"
import type { Reply, ToolCall } from "../opencode/wire.ts"
import { countFolded, FILES, foldsIn, recordedIn } from "../support/folds.ts"
import { LARGE } from "../support/large.ts"
import {
  ANTHROPIC,
  bash,
  converse,
  eventually,
  PLUGIN,
  type ServedWorld,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

const STEPS = LARGE ? 60 : 40
/** Of what it costs without the plugin: the longer a session is, the more folding saves. */
const AT_MOST = LARGE ? 0.9 : 0.95
const PATIENCE_MS = 240_000
const CLOSE = 0.05

/** The plugin is on in one of the two projects, so that one process serves both. */
const WITH_PLUGIN = { ...FILES, "opencode.json": JSON.stringify({ plugin: [[PLUGIN, { deadlineMs: 5_000 }]] }) }

/** Three calls at once, as agents make them: a file, a search and a command; some 1,200 tokens together. */
function step(at: number): Reply {
  const log = `logs/${1 + (at % 20)}.log`
  const lines: ToolCall = { name: "read", arguments: { filePath: log, offset: 1 + at, limit: 40 } }
  const search: ToolCall = { name: "grep", arguments: { pattern: `step-${1 + (at % 20)}-${at}[0-9]`, path: "logs" } }
  return { text: `Step ${at}.`, ...use(lines, search, bash(`sed -n '${at + 1},${at + 30}p' ${log}`)) }
}

const SCRIPT = [...Array.from({ length: STEPS }, (_, at) => step(at)), say("All of it was looked at.")]

/** In fresh input tokens, at Anthropic's prices. */
function costOf(requests: readonly ModelRequest[]): number {
  const one = ({ input, cacheRead, cacheWrite }: Usage) => input + 0.1 * cacheRead + 1.25 * cacheWrite
  return requests.reduce((sum, { usage }) => sum + one(usage), 0)
}

describe(`a session of ${STEPS} steps, three calls each, on a provider that finds entries only near a mark`, () => {
  let here: ServedWorld
  let bare: ModelRequest[]
  let requests: ModelRequest[]
  let session: string

  beforeAll(async () => {
    here = await serveWorld({ plugin: null, files: WITH_PLUGIN })
    const directory = here.host.addProject("bare", FILES)
    const [without, withPlugin] = await Promise.all([
      converse(here, "Look at the logs", SCRIPT, { model: ANTHROPIC, directory }),
      converse(here, "Look at the logs", SCRIPT, { model: ANTHROPIC }),
    ])
    bare = without.requests
    requests = withPlugin.requests
    session = withPlugin.session
  }, PATIENCE_MS)
  afterAll(() => here.close())

  test(`costs at most ${100 * AT_MOST} % of what it costs without the plugin`, () => {
    expect([requests.length, bare.length]).toEqual([STEPS + 1, STEPS + 1])
    expect(countFolded(requests.at(-1))).toBeGreaterThan(STEPS / 3)
    expect(costOf(requests)).toBeLessThan(AT_MOST * costOf(bare))
  })

  test("misses the cache only where something is folded, and only once each time", () => {
    const folded = requests.map((request) => `${foldsIn(request).size} ${recordedIn(request)}`)
    const cuts = requests.filter((_, at) => at > 0 && folded[at] !== folded[at - 1])
    const missed = requests.filter(
      ({ usage }, at) => at > 0 && usage.cacheRead < (requests[at - 1]?.usage.cacheRead ?? 0),
    )
    expect(cuts.length).toBeGreaterThan(0)
    expect(missed).toEqual(cuts)
  })

  test("reads as much from the cache as the plugin expected, within 5 %", async () => {
    const stored = (await here.host.stored(session)) as HostMessage[]
    const { options } = readOptions({})
    const price = priceNamed("anthropic", {})
    if (!price) throw new Error("no such price")
    const again = { ...requestOptionsOf(options), disabledAgents: [], pricingOverride: {}, namedPrice: price }
    let expected = 0
    let reported = 0
    let at = 0
    const env = createEnv(here.host.project)
    for (const { answer, send, state } of replayCalls(conversationOf(stored), again, env)) {
      if (!answer) break
      const call = send()
      // the call made again is the one that was made
      expect([call?.outputs, call?.steps]).toEqual([foldsIn(requests[at]).size, recordedIn(requests[at])])
      const { usage } = answer
      const { expected: forecast } = state.folding.calibration
      if (!usage || !forecast) throw new Error("nothing was reported, or nothing expected")
      if (at++ === 0) continue
      reported += usage.cacheRead
      expected += contextTokens(usage) - forecast.freshTokens * state.ledger.facts.ratio
    }
    expect(at).toBe(STEPS + 1)
    expect(Math.abs(expected / reported - 1)).toBeLessThan(CLOSE)
  })

  test("has a live account of what it would have cost without the plugin, within 5 %", async () => {
    const folder = statusFolder(join(here.host.root, "data/opencode-hudfold"))
    // it is written a moment after the turn
    const saved = await eventually("the account of the last call", async () => {
      const status = await readStatus(folder, session)
      return status?.saved.calls === STEPS + 1 ? status.saved : undefined
    })
    const told = costOf(requests) / (1 - saved.share)
    expect(Math.abs(told / costOf(bare) - 1)).toBeLessThan(CLOSE)
  })

  test.each([
    ["a prompt has moved OpenCode's reminder of the agent", "plan"],
    ["another agent has other tools", "build"],
  ])(
    "folds what is settled when %s, so that nothing is cached, and counts it so",
    async (_, before) => {
      const { client, host, provider } = here
      // of a project that had a session before, the cache holds the beginning
      const inProject = (name: string, files: typeof FILES) =>
        client.create({ directory: host.addProject(`${name}-${before}`, files) })
      const planned = async (id: string) => {
        for (const [agent, steps] of [
          [before, SCRIPT.slice(0, 10)],
          ["plan", SCRIPT.slice(10, 12)],
        ] as const) {
          provider.play([...steps, say("That is it.")], id)
          await client.prompt(id, "Look at the logs", { model: ANTHROPIC, agent })
        }
        return provider.from("main", id)
      }
      const id = await inProject("with", WITH_PLUGIN)
      const [bare, sent] = await Promise.all([inProject("bare", FILES).then(planned), planned(id)])
      const folded = sent.map(countFolded)
      expect(folded.slice(0, 11)).toEqual(Array(11).fill(0))
      expect(folded[11]).toBeGreaterThan(0)
      for (const requests of [bare, sent])
        expect(requests[11]?.usage.cacheRead).toBeLessThan(requests[2]?.usage.cacheRead ?? 0)
      const folder = statusFolder(join(host.root, "data/opencode-hudfold"))
      const saved = await eventually("the account of the last call", async () => {
        const status = await readStatus(folder, id)
        return status?.saved.calls === sent.length ? status.saved : undefined
      })
      expect(Math.abs(costOf(sent) / (1 - saved.share) / costOf(bare) - 1)).toBeLessThan(CLOSE)
    },
    PATIENCE_MS,
  )
})
