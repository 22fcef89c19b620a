// What folding does to the requests the model gets: it makes room, and changes nothing else.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, messagesOf, resultsOf, systemOf, withoutHud } from "../opencode/request.ts"
import type { Reply } from "../opencode/wire.ts"
import { EAGER, FILES, foldsIn, look, recordedIn } from "../support/folds.ts"
import { sample } from "../support/size.ts"
import {
  bash,
  converse,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  SMALL,
  SMALL_ANTHROPIC,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

/** Some 80,000 tokens of outputs, where the small models have 50,000 for them. */
const LOOKS = 20

/** The projects differ in their plugin and its options, so that one process serves all. */
const WITH_PLUGIN = { ...FILES, ...listing({}) }

let here: ServedWorld
beforeAll(async () => {
  here = await serveWorld({ plugin: null, files: WITH_PLUGIN })
}, PATIENCE_MS)
afterAll(() => here.close())

function listing(options: object): Record<string, string> {
  return { "opencode.json": JSON.stringify({ plugin: [[PLUGIN, { deadlineMs: 5_000, ...options }]] }) }
}

function work(looks: number): Reply[] {
  return [...Array.from({ length: looks }, (_, at) => use(look(at + 1))), say("All of it was looked at.")]
}

describe.each(sample([[SMALL], [SMALL_ANTHROPIC]], [SMALL]))("a session on %s that reads more than fits", (model) => {
  let session: string
  let requests: ModelRequest[]

  beforeAll(async () => {
    ;({ session, requests } = await converse(here, "Look at the logs", work(LOOKS), { model }))
  }, PATIENCE_MS)

  test(
    "is compacted without the plugin, and never with it",
    async () => {
      const directory = here.host.addProject(`bare-${model.replace("/", "-")}`, FILES)
      const bare = await converse(here, "Look at the logs", work(LOOKS), { model, directory })
      expect(here.provider.from("compaction", bare.session).length).toBeGreaterThan(0)
      expect(here.provider.from("compaction", session)).toEqual([])
      expect(requests).toHaveLength(LOOKS + 1)
      for (const [at, request] of requests.entries()) expect(resultsOf(request).size + recordedIn(request)).toBe(at)
    },
    PATIENCE_MS,
  )

  test("repeats the request before it up to the first newly folded output or step", () => {
    const breaks = requests.slice(1).filter((request, at) => expectSameButFolds(requests[at], request) > 0)
    expect(breaks.length).toBeGreaterThan(0)
    // folds are rare: most requests find everything sent before in the cache
    expect(breaks.length).toBeLessThan(LOOKS / 2)
  })

  test("has the same tools and the same system prompt in all of its requests", () => {
    const [tools, ...others] = new Set(requests.map(({ body }) => JSON.stringify(body.tools)))
    expect(others).toEqual([])
    expect(tools).toContain('"hud_recall"')
    expect(new Set(requests.map(({ body }) => systemOf(body))).size).toBe(1)
    expect(systemOf((requests[0] as ModelRequest).body)).not.toMatch(/hud_recall|<hud>/)
  })

  test("ends its HUD with how much is folded and which tool brings it back", () => {
    for (const request of requests) {
      expect(hudsOf({ body: { messages: messagesOf(request).slice(-1) } })).toEqual(hudsOf(request))
      const folded = foldsIn(request).size + recordedIn(request)
      const told = hudsOf(request).at(-1) ?? ""
      if (told.includes("hud_recall")) expect(folded).toBeGreaterThan(0)
    }
  })
})

test(
  "a folder's AGENTS.md, which OpenCode adds to the first file read there, is added to the next one once that is folded",
  async () => {
    const rule = "Every handler calls audit() first."
    const one = "export const limit = 1 // of the price list\n".repeat(200)
    const files = { "api/AGENTS.md": rule, "api/one.ts": one, "api/other.ts": "export const other = 1\n" }
    const directory = here.host.addProject("api", { ...files, ...listing(EAGER[1]) })
    const steps = [read("api/one.ts"), bash("ls"), bash("ls api"), read("api/other.ts")].map((call) => use(call))
    const { requests } = await converse(here, "Look at the api", [...steps, say("Seen.")], { directory })
    expect(requests.map(({ raw }) => raw.split(rule).length - 1)).toEqual([0, 1, 1, 0, 1])
    expect(foldsIn(requests[3]).size).toBe(1)
  },
  PATIENCE_MS,
)

/** Compares a request with the one before it. Returns how many outputs and steps it folds for the first time. */
function expectSameButFolds(before: ModelRequest | undefined, now: ModelRequest): number {
  if (!before) throw new Error("there is no request before this one")
  const past = foldsIn(before)
  const outputs = [...foldsIn(now)].filter(([call]) => resultsOf(before).has(call) && !past.has(call))
  const fresh = outputs.length + recordedIn(now) - recordedIn(before)
  const sent = withoutHud(before)
  // without the newest call and its result
  const again = withoutHud(now).slice(0, -2)
  if (fresh === 0) expect(again).toEqual(sent)
  const same = again.filter((message) => sent.includes(message))
  expect(same).toEqual(sent.filter((message) => again.includes(message)))
  for (const message of again)
    if (!sent.includes(message)) expect(message).toMatch(/folded r[0-9a-z]{7} · |kept by hudfold as a record/)
  // a message that is gone was a call that is in a record now, or a result, or has another record or fold
  const calls = [...resultsOf(before).keys()]
  const left = resultsOf(now)
  expect(calls.filter((call) => !left.has(call))).toHaveLength(recordedIn(now) - recordedIn(before))
  for (const [call, text] of resultsOf(before)) {
    const isFresh = outputs.some(([one]) => one === call)
    if (left.has(call) && !isFresh) expect(left.get(call)).toBe(text)
  }
  return fresh
}
