// The panel and `replay` compute a session's saving in two ways: from the provider's reports while the session runs,
// and from the whole recorded session. Their results must agree.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { addSaving, type CallWithout, NOTICE_TOKENS, noSaving, savingOf } from "../../src/fold/saving.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { replayCalls } from "../../src/replay/calls.ts"
import { piecesByMessage } from "../../src/replay/pieces.ts"
import { replaySession } from "../../src/replay/replay.ts"
import { newTally } from "../../src/replay/tally.ts"
import { madeUpSession } from "../support/made-up.ts"
import { ROOT, type SessionBuilder } from "../support/session.ts"
import { MARKED, optionsOf } from "./session.ts"

const CLOSE = 0.02

/** The session as reported by a provider that charges like the replay. */
function live({ messages }: SessionBuilder, options = optionsOf(), hasCache = true): number {
  const tally = newTally()
  const notice = NOTICE_TOKENS
  let sum = noSaving()
  let before: CallWithout | undefined
  for (const again of replayCalls(conversationOf(messages), options, createEnv(ROOT))) {
    const call = again.answer && again.send()
    if (!call) break
    const { tokens, cachedTokens } = tally.spent
    tally.add(piecesByMessage(again.messages, call.change), again.price, again.nowMs)
    const read = tally.spent.cachedTokens - cachedTokens
    const written = tally.spent.tokens - tokens - read
    // the notice comes before everything else
    const [cacheRead, cacheWrite] = read > 0 ? [read + notice, written] : [0, written + notice]
    const cached = { input: 0, cacheWrite, cacheRead, output: 0 }
    const settled = savingOf(
      hasCache ? cached : { input: read + written + notice, cacheWrite: 0, cacheRead: 0, output: 0 },
      {
        foldedTokens: call.savedTokens,
        changed: call.newFolds.length > 0,
        hudTokens: call.hud?.tokens ?? 0,
        noticeTokens: notice,
        ratio: 1,
        nowMs: again.nowMs,
        model: again.price.name,
        pricing: MARKED,
      },
      before,
    )
    sum = addSaving(sum, settled.saving)
    before = settled.after
  }
  return 1 - sum.cost / sum.costWithout
}

function replayed({ messages }: SessionBuilder, options = optionsOf()): number {
  const { without, with: sent } = replaySession(conversationOf(messages), options, createEnv(ROOT))
  return 1 - sent.cost / without.cost
}

test.each([45, 120, 300])(
  "the live account of a session of %d calls is that of its replay",
  (calls) => {
    const session = madeUpSession({ calls })
    const saved = replayed(session)
    expect(Math.abs(live(session) - saved)).toBeLessThan(CLOSE)
    expect(Math.abs(saved)).toBeGreaterThan(0.01)
  },
  60_000,
)

test("they agree too where the provider never reports a cache read, which counts as one without a cache", () => {
  const session = withoutReads(120)
  const options = optionsOf({}, null)
  const saved = replayed(session, options)
  expect(saved).toBeGreaterThan(0.3)
  expect(Math.abs(live(session, options, false) - saved)).toBeLessThan(CLOSE)
})

// never, or not any more, for which folding stops at the provider itself
test.each([0, 20])("reads of the first %d calls say nothing about the cache of one whose prices are used", (count) => {
  expect(replayed(withoutReads(120, count))).toBeCloseTo(replayed(madeUpSession({ calls: 120 })), 2)
})

/** A made-up session at a provider that reports cache reads for the first calls alone. */
function withoutReads(calls: number, reported = 0): SessionBuilder {
  const session = madeUpSession({ calls })
  const steps = session.messages.filter(({ info }) => info.tokens)
  for (const { info } of steps.slice(reported)) {
    const { input, cache } = info.tokens as { input: number; cache: { read: number; write: number } }
    info.tokens = { input: input + cache.read + cache.write, output: 100, cache: { read: 0, write: 0 } }
  }
  return session
}
