// What folding does to the requests the model gets: it makes room, and changes nothing else.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, messagesOf, resultsOf, systemOf, withoutHud } from "../opencode/request.ts"
import type { Reply } from "../opencode/wire.ts"
import { FILES, foldsIn, look } from "../support/folds.ts"
import { sample } from "../support/size.ts"
import {
  converse,
  PATIENCE_MS,
  type ServedWorld,
  SMALL,
  SMALL_ANTHROPIC,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

/** Some 80,000 tokens of outputs, where the small models have 50,000 for them. */
const LOOKS = 20

function work(looks: number): Reply[] {
  return [...Array.from({ length: looks }, (_, at) => use(look(at + 1))), say("All of it was looked at.")]
}

describe.each(sample([[SMALL], [SMALL_ANTHROPIC]], [SMALL]))("a session on %s that reads more than fits", (model) => {
  let plain: ServedWorld
  let here: ServedWorld
  let session: string
  let requests: ModelRequest[]

  beforeAll(async () => {
    ;[plain, here] = await Promise.all([serveWorld({ plugin: null, files: FILES }), serveWorld({ files: FILES })])
    ;({ session, requests } = await converse(here, "Look at the logs", work(LOOKS), { model }))
  }, PATIENCE_MS)
  afterAll(async () => {
    await plain.close()
    await here.close()
  })

  test(
    "is compacted without the plugin, and never with it",
    async () => {
      const bare = await converse(plain, "Look at the logs", work(LOOKS), { model })
      expect(plain.provider.from("compaction", bare.session).length).toBeGreaterThan(0)
      expect(here.provider.from("compaction", session)).toEqual([])
      expect(requests).toHaveLength(LOOKS + 1)
      expect(resultsOf(requests.at(-1) as ModelRequest).size).toBe(LOOKS)
    },
    PATIENCE_MS,
  )

  test("repeats the request before it up to the first newly folded output", () => {
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
    expect(systemOf((requests[0] as ModelRequest).body)).toContain("hud_recall")
  })

  test("ends its HUD with how much is folded and which tool brings it back", () => {
    for (const request of requests) {
      expect(hudsOf({ body: { messages: messagesOf(request).slice(-1) } })).toEqual(hudsOf(request))
      const folds = foldsIn(request)
      const told = hudsOf(request).at(-1) ?? ""
      expect(told.includes("hud_recall")).toBe(folds.size > 0)
      if (folds.size > 0) expect(told).toContain(`folded ${folds.size} output`)
    }
  })
})

/** Compares a request with the one before it. Returns how many outputs it folds for the first time. */
function expectSameButFolds(before: ModelRequest | undefined, now: ModelRequest): number {
  if (!before) throw new Error("there is no request before this one")
  const past = foldsIn(before)
  const fresh = [...foldsIn(now)].filter(([call]) => resultsOf(before).has(call) && !past.has(call))
  const sent = withoutHud(before)
  const again = withoutHud(now).slice(0, sent.length)
  const unfolded = again.map((message) =>
    fresh.reduce((text, [call, fold]) => {
      const original = resultsOf(before).get(call) ?? ""
      return text.includes(`"${call}"`) ? text.replace(JSON.stringify(fold), () => JSON.stringify(original)) : text
    }, message),
  )
  expect(unfolded).toEqual(sent)
  return fresh.length
}
