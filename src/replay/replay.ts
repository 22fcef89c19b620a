// Replays a stored session call by call, as it was and with the plugin: what each costs, and what folding loses.

import { correctedPricing } from "../fold/calibration.ts"
import type { Fold, Folds, Reason } from "../fold/fold.ts"
import { BILLINGS, type Pricing } from "../fold/pricing.ts"
import { RECALL_DEFINITION } from "../fold/recall.ts"
import { noSaving, type Saving } from "../fold/saving.ts"
import type { Prepared } from "../request/request.ts"
import type { Message } from "../session/conversation.ts"
import { callsOf, subagentsOf } from "../session/recorded.ts"
import type { Env } from "../session/tool-event.ts"
import { type RecordedCall, type ReplayOptions, replayCalls, wasShortened } from "./calls.ts"
import { type CompactionKind, noCompactions, readCompactions } from "./compactions.ts"
import { type Piece, piece, piecesByMessage, sumTokens } from "./pieces.ts"
import { addCost, type Cost, pricesOf } from "./prices.ts"
import { type Need, newRecalls, recallCost } from "./recalls.ts"
import { type Charge, newTally, nothingSpent } from "./tally.ts"

export type Replay = ReturnType<typeof emptyReplay>

/** One call of a replay: as it was, as it would have been, and what each costs. */
export type ReplayedCall = Pick<RecordedCall, "number" | "nowMs" | "price" | "messages"> & {
  /** of the session */
  calls: number
  /** the message that answered it, as recorded */
  answer: Message
  without: Charge
  with: Charge
  /** the pieces of the request; `with` excludes the notice that introduces the plugin */
  pieces: { without: readonly Piece[]; with: readonly Piece[] }
  /** undefined when the plugin is disabled for the agent */
  prepared: Prepared | undefined
  /** what recalls would have cost at this call, in fresh input tokens; not in `with` */
  recallCost: number
  /** what the call used after it was folded */
  needs: readonly Need[]
  /** the compaction that followed the call, if any */
  compaction: CompactionKind | undefined
}

/** The replay of a session without calls, to which figures are added. */
export function emptyReplay() {
  const noCost: Cost = { cost: 0, usd: 0 }
  /** `tokens` is the size of what was folded */
  const count = () => ({ count: 0, tokens: 0 })
  return {
    calls: 0,
    /** names of the pricings used, and what is billed */
    pricings: [] as string[],
    billing: "tokens" as Pricing["billing"],
    without: nothingSpent(),
    with: nothingSpent(),
    /** what the agent would have recalled, and what that would have cost; not in `with` */
    recalls: {
      /** lines the agent copied from its context */
      copiedLines: 0,
      /** those of them that only a folded step or output contained by then */
      lostLines: 0,
      /** names and lines the agent used after they were folded */
      needs: 0,
      /** those of them that a digest line, a record or the HUD said */
      heldNeeds: 0,
      /** calls that would have needed a recall */
      calls: 0,
      ...noCost,
    },
    /** `calls` that carried a HUD; `noticeTokens` introduce the plugin in the list of tools, over all calls */
    hud: { calls: 0, tokens: 0, noticeTokens: 0 },
    /** an output counts here even if its step was folded later */
    folds: {
      outputs: count(),
      steps: count(),
      cuts: 0,
      byReason: { free: count(), pays: count(), must: count(), asked: count() } satisfies Record<Reason, unknown>,
    },
    compactions: noCompactions(),
    /** 0 when the record does not say, and for a sum of sessions when one of their records does not */
    recorded: { cost: 0, usd: 0 },
    /** ids of the subagent sessions that this one started; these figures exclude them */
    subagents: [] as string[],
    /**
     * set when the plugin ran in the session, so that what was paid includes it: what it saved; 0 calls when nothing of that is
     * known
     */
    ran: undefined as Saving | undefined,
  }
}

/**
 * `onCall` is called after each replayed call. `ran` is what the plugin saved when it ran in the session; by default
 * `wasShortened` tells whether it did.
 */
export function replaySession(
  messages: readonly Message[],
  options: ReplayOptions,
  env: Env,
  onCall?: (done: ReplayedCall) => void,
  ran = wasShortened(messages) ? noSaving() : undefined,
): Replay {
  const calls = callsOf(messages).length
  const prices = pricesOf(messages, options)
  const compactions = readCompactions(messages)
  const without = newTally()
  const withPlugin = newTally()
  // what the plugin adds to the list of tools of every call
  const notice = options.fold.enabled ? [piece("tool", RECALL_DEFINITION)] : []
  const { missedBy } = newRecalls()
  const figures = emptyReplay()
  const { recalls, hud } = figures
  const pricings = new Map<string, Pricing>()
  let folds: Folds = new Map()

  for (const replayed of replayCalls(messages, options, env, ran !== undefined, prices)) {
    const { answer, number, nowMs, context, messages: sent } = replayed
    if (!answer) break
    const prepared = replayed.send()
    // corrected by what the provider reported, as in the panel
    const pricing = correctedPricing(replayed.price.pricing, replayed.state.folding.calibration)
    const price = { ...replayed.price, pricing }
    pricings.set(pricing.row, pricing)
    const messagesWithout = piecesByMessage(sent)
    const chargeWithout = without.add(messagesWithout, price, nowMs)
    const { change, hud: sentHud } = prepared ?? {}
    const messagesWith = piecesByMessage(sent, change)
    const chargeWith = withPlugin.add([notice, ...messagesWith], price, nowMs)
    hud.noticeTokens += sumTokens(notice)
    if (sentHud) {
      hud.calls++
      hud.tokens += sentHud.tokens
    }
    folds = replayed.state.folding.recallable
    const applied = { folds: change?.folds ?? new Map(), hud: sentHud?.text ?? "" }
    const missed = missedBy({ number, nowMs, answer, context, ...applied })
    recalls.copiedLines += missed.copied
    recalls.needs += missed.needs.length
    recalls.heldNeeds += missed.needs.filter(({ held }) => held).length
    const costOfRecall = recallCost(missed.recalledTokens, chargeWith.tokens, pricing)
    recalls.lostLines += missed.lost
    if (missed.lost > 0) recalls.calls++
    addCost(recalls, costOfRecall, price)
    const { tokens } = chargeWithout
    const compaction = compactions.compactionAfter(replayed.index, tokens, tokens - chargeWith.tokens)
    onCall?.({
      ...replayed,
      answer,
      calls,
      price,
      without: chargeWithout,
      with: chargeWith,
      pieces: { without: messagesWithout.flat(), with: messagesWith.flat() },
      prepared,
      recallCost: costOfRecall,
      needs: missed.needs,
      compaction,
    })
  }
  return {
    ...figures,
    calls,
    pricings: [...pricings.keys()],
    // tokens as soon as one of its models is billed by tokens
    billing: BILLINGS.find((one) => [...pricings.values()].some(({ billing }) => billing === one)) ?? "tokens",
    without: without.spent,
    with: withPlugin.spent,
    folds: countFolds([...folds.values()]),
    compactions: compactions.found,
    recorded: prices.recorded,
    ran,
    subagents: subagentsOf(messages),
  }
}

function countFolds(folds: readonly Fold[]): Replay["folds"] {
  const counts = emptyReplay().folds
  for (const { kind, reason, tokens } of folds)
    for (const one of [counts[kind === "step" ? "steps" : "outputs"], counts.byReason[reason]]) {
      one.count++
      one.tokens += tokens
    }
  return { ...counts, cuts: new Set(folds.map(({ call }) => call)).size }
}
