// A stored session replayed call by call, as it was and with the plugin: what each costs, and what folding loses. Reads
// the messages only.

import type { Fold } from "../fold/fold.ts"
import { RECALL_DESCRIPTION } from "../fold/recall.ts"
import type { Tariff } from "../fold/tariff.ts"
import { paragraph } from "../hud/paragraph.ts"
import type { Prepared, RequestOptions } from "../request/request.ts"
import type { Message } from "../session/conversation.ts"
import type { Env } from "../session/normalize.ts"
import { asString } from "../system/values.ts"
import { addUsd, type Charge, newBill, type Spent } from "./bill.ts"
import { replayCalls, type ReplayOptions } from "./calls.ts"
import { type CompactionKind, type Compactions, watchCompactions } from "./compactions.ts"
import { callsOf } from "./context.ts"
import { countFolds, type FoldCount } from "./fold-count.ts"
import { type Price, pricingOf, type Recorded } from "./pricing.ts"
import { newRecalls, recallCost } from "./recalls.ts"
import { messagesOf, type Piece, piece, sumTokens } from "./request.ts"

export type Replay = {
  calls: number
  /** names of the tariffs reckoned with, and what is billed */
  tariffs: string[]
  billing: Tariff["billing"]
  without: Spent
  with: Spent
  recalls: Recalled
  hud: {
    /** calls that carried one */
    calls: number
    tokens: number
    /** tokens that tell the model of the plugin, in the system prompt and the list of tools, over all calls */
    noticeTokens: number
  }
  folds: FoldCount
  compactions: Compactions
  recorded: Recorded
  /** ids of the sessions of subagents that this one started: sessions of their own, not in these figures */
  subagents: string[]
}

/** What the agent would have asked back. */
export type Recalled = {
  /** lines the agent copied from its context, and those of them that by then only a folded output held */
  copiedLines: number
  lostLines: number
  /** calls in which something had to be asked back */
  calls: number
  /** what that would have cost, in fresh input tokens and in USD; not in `with` */
  cost: number
  usd?: number
}

/** One call of a replay: what it was, what it would have been, and what that costs. */
export type CallReplayed = {
  /** from 1, of so many */
  number: number
  calls: number
  nowMs: number
  /** the message the call wrote, as recorded */
  wrote: Message
  price: Price
  without: Charge
  with: Charge
  /** what the request is made of; with the plugin without what tells the model of it */
  pieces: { without: readonly Piece[]; with: readonly Piece[] }
  /** undefined when the plugin leaves the agent alone */
  call: Prepared | undefined
  /** what asking back would have cost at this call, in fresh input tokens; not in `with` */
  recallCost: number
  /** what came after the call, if the context was compacted */
  compaction: CompactionKind | undefined
}

const NONE: ReadonlyMap<string, Fold> = new Map()

/** `onCall` hears of every call that is done. */
export function replaySession(
  messages: readonly Message[],
  options: ReplayOptions,
  env: Env,
  onCall?: (done: CallReplayed) => void,
): Replay {
  const calls = callsOf(messages).length
  const pricing = pricingOf(messages, options.price, options.prices)
  const watch = watchCompactions(messages)
  const recalls = newRecalls()
  const without = newBill()
  const withPlugin = newBill()
  const notice = noticeOf(options)
  const recalled: Recalled = { copiedLines: 0, lostLines: 0, calls: 0, cost: 0, usd: 0 }
  const hud = { calls: 0, tokens: 0, noticeTokens: 0 }
  const tariffs = new Map<string, Tariff>()
  let folds: ReadonlyMap<string, Fold> = NONE

  for (const again of replayCalls(messages, options, env, pricing)) {
    const { wrote, number, nowMs, price, context, messages: sent } = again
    if (!wrote) break
    tariffs.set(price.tariff.row, price.tariff)
    const messagesWithout = messagesOf(sent)
    const chargeWithout = without.add(messagesWithout, price, nowMs)
    const call = again.send()
    const messagesWith = messagesOf(sent, call?.change)
    const chargeWith = withPlugin.add([notice, ...messagesWith], price, nowMs)
    hud.noticeTokens += sumTokens(notice)
    if (call?.hud) {
      hud.calls++
      hud.tokens += call.hud.tokens
    }
    const { folding } = again.state
    folds = folding.byID
    const sentFolds = call ? folding.folds : NONE
    const missed = recalls.missed({ number, nowMs, wrote, context, folds: sentFolds, hud: call?.hud?.text ?? "" })
    recalled.copiedLines += missed.copied
    const askedCost = recallCost(missed.back, chargeWith.tokens, price.tariff)
    if (missed.back.length) {
      recalled.lostLines += missed.lost
      recalled.calls++
      recalled.cost += askedCost
      addUsd(recalled, askedCost, price.usdPerToken)
    }
    const compaction = watch.call(again.index, chargeWithout.tokens, chargeWithout.tokens - chargeWith.tokens)
    onCall?.({
      ...{ number, calls, nowMs, wrote, price, call, compaction },
      without: chargeWithout,
      with: chargeWith,
      pieces: { without: messagesWithout.flat(), with: messagesWith.flat() },
      recallCost: askedCost,
    })
  }
  if (without.spent.usd === undefined) delete recalled.usd
  return {
    calls,
    tariffs: [...tariffs.keys()],
    billing: billingOf([...tariffs.values()]),
    without: without.spent,
    with: withPlugin.spent,
    recalls: recalled,
    hud,
    folds: countFolds(folds.values(), messages),
    compactions: watch.found,
    recorded: pricing.recorded,
    subagents: subagentsOf(messages),
  }
}

/** What the plugin adds to the system prompt and the list of tools, on every call the same. */
function noticeOf({ hud, fold }: RequestOptions): Piece[] {
  const said = paragraph({ hud: hud.enabled, folds: fold.enabled })
  return [...(said ? [piece("system", said)] : []), ...(fold.enabled ? [piece("tool", RECALL_DESCRIPTION)] : [])]
}

/** Where a session used several models: tokens are what counts as soon as one of them is billed by them. */
function billingOf(tariffs: readonly Tariff[]): Tariff["billing"] {
  const billings = ["tokens", "requests", "nothing"] as const
  return billings.find((billing) => tariffs.some((tariff) => tariff.billing === billing)) ?? "tokens"
}

function subagentsOf(messages: readonly Message[]): string[] {
  const ids = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const id = part.type === "tool" && part.tool === "task" ? asString(part.metadata.sessionId) : undefined
      return id === undefined ? [] : [id]
    }),
  )
  return [...new Set(ids)]
}
