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
import { ROOT } from "../support/session.ts"
import { MARKED, optionsOf } from "./session.ts"

const CLOSE = 0.02

/** The session as reported by a provider that charges like the replay. */
function live(calls: number, pricing = MARKED): number {
  const tally = newTally()
  const notice = NOTICE_TOKENS
  let sum = noSaving()
  let before: CallWithout | undefined
  for (const again of replayCalls(
    conversationOf(madeUpSession({ calls }).messages),
    optionsOf({}, pricing),
    createEnv(ROOT),
  )) {
    const call = again.answer && again.send()
    if (!call) break
    const { tokens, cachedTokens } = tally.spent
    tally.add(piecesByMessage(again.messages, call.change), again.price, again.nowMs)
    const read = tally.spent.cachedTokens - cachedTokens
    const written = tally.spent.tokens - tokens - read
    // the notice comes before everything else
    const [cacheRead, cacheWrite] = read > 0 ? [read + notice, written] : [0, written + notice]
    const settled = savingOf(
      { input: 0, cacheWrite, cacheRead, output: 0 },
      {
        foldedTokens: call.savedTokens,
        changed: call.newFolds.length > 0,
        hudTokens: call.hud?.tokens ?? 0,
        noticeTokens: notice,
        ratio: 1,
        nowMs: again.nowMs,
        model: again.price.name,
        pricing,
      },
      before,
    )
    sum = addSaving(sum, settled.saving)
    before = settled.after
  }
  return 1 - sum.cost / sum.costWithout
}

test.each([45, 120, 300])(
  "the live account of a session of %d calls is that of its replay",
  (calls) => {
    const { without, with: sent } = replaySession(
      conversationOf(madeUpSession({ calls }).messages),
      optionsOf(),
      createEnv(ROOT),
    )
    const replayed = 1 - sent.cost / without.cost
    expect(Math.abs(live(calls) - replayed)).toBeLessThan(CLOSE)
    expect(Math.abs(replayed)).toBeGreaterThan(0.01)
  },
  60_000,
)
