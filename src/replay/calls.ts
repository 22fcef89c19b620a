// Prepares the calls of a stored session again, one after the other, as the live hooks would have: with the recorded
// times, the pricing of the model that was called, and the folds and HUDs that follow from the calls before.

import { RECALL_TOOL } from "../output/shows.ts"
import {
  accept,
  isDisabledFor,
  newSessionState,
  type Prepared,
  prepareRequest,
  type RequestOptions,
  type SessionState,
} from "../request/request.ts"
import { type Message, modelKey, type Usage } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import { callsOf, compactionOf, contextAt, messageAt } from "../session/recorded.ts"
import type { Env } from "../session/tool-event.ts"
import { readCompactions } from "./compactions.ts"
import { type PriceOptions, type Prices, pricesOf } from "./prices.ts"

export type ReplayOptions = RequestOptions & PriceOptions & { disabledAgents: readonly string[] }

/** All calls of the session, then the one that would come next. `ran`: the plugin ran, so the recorded usage applies. */
export function* replayCalls(
  recorded: readonly Message[],
  options: ReplayOptions,
  env: Env,
  ran = wasShortened(recorded),
  prices: Prices = pricesOf(recorded, options),
) {
  const state = newSessionState(env)
  const compactions = readCompactions(recorded)
  let number = 0
  let usage: Usage | undefined
  let before = 0
  for (const index of [...callsOf(recorded), recorded.length]) {
    const answer = recorded[index]
    const last = recorded.at(-1)
    const nowMs = answer?.createdMs ?? last?.completedMs ?? last?.createdMs ?? 0
    const asItWas = (message: Message) => messageAt(message, nowMs)
    // as a compaction does: the step before it may be in the context of no other call
    const compacted = recorded.slice(before, index).findIndex((message) => compactionOf(message) !== undefined)
    if (compacted > 0) state.ledger.accept(state.ledger.read(contextAt(recorded, before + compacted).map(asItWas)))
    before = index
    const context = contextAt(recorded, index)
    const messages = context.map(asItWas)
    const reading = state.ledger.read(messages)
    const { agent, model } = reading.facts
    const price = prices.of(answer ?? { model })
    const fullAt = compactions.compactsAt(price.name)
    yield {
      /** from 1; the last number is that of the call that would come next */
      number: ++number,
      /** the recorded message that answered it, and its index; the call that would come next has none */
      answer,
      index,
      nowMs,
      price,
      /** its context as recorded, and as OpenCode would have sent it */
      context,
      messages,
      /** what the last call would have used, where that is not what was recorded */
      usage,
      /** Prepares and accepts the request; undefined when the plugin is disabled for the agent. Must run before the next call. */
      send(): Prepared | undefined {
        if (isDisabledFor(agent, options)) {
          state.ledger.accept(reading)
          usage = undefined
          return
        }
        const { folding } = state
        // what the recorded provider reports of its cache says nothing about that of another
        const calibration = { ...folding.calibration, shortCalls: 0, unreadCalls: 0 }
        if (options.namedPrice) state.folding = { ...folding, calibration }
        const circumstances = { nowMs, pricing: price.pricing, model: price.model, fullAt, usage }
        const prepared = prepareRequest({ messages, reading, state, circumstances, options, env })
        accept(state, prepared)
        usage = ran ? undefined : replayedUsage(answer?.usage, prepared, state)
        return prepared
      },
      state,
    }
  }
}

/** A call of a stored session, whose request can be prepared again. */
export type RecordedCall = ReturnType<typeof replayCalls> extends Generator<infer Call> ? Call : never

/** What a call would have used that was recorded without the plugin: less what folds leave out, and with the HUD. */
function replayedUsage(recorded: Usage | undefined, { savedTokens, hud }: Prepared, { folding, ledger }: SessionState) {
  const { expected } = folding.calibration
  if (!recorded || !expected) return
  const { ratio } = ledger.facts
  // the ratio is not exact: of what was recorded at least the messages are left that were sent
  const left = Math.max(expected.sentTokens * ratio, contextTokens(recorded) - savedTokens * ratio)
  const tokens = left + (hud?.tokens ?? 0)
  const cacheRead = recorded.cacheRead === 0 ? 0 : Math.max(0, tokens - expected.freshTokens * ratio)
  return { ...recorded, cacheRead, cacheWrite: 0, input: tokens - cacheRead }
}

/**
 * Whether the plugin, or another that shortens requests, ran in the session: the agent recalled something, or requests became
 * smaller while the conversation grew.
 */
export function wasShortened(messages: readonly Message[]): boolean {
  const hasRecall = ({ parts }: Message) => parts.some((part) => part.type === "tool" && part.tool === RECALL_TOOL)
  return messages.some(hasRecall) || hasShrunk(messages)
}

/** A request has shrunk when it has less than this share of the one before it, and this many tokens less. */
const SHRUNK_SHARE = 0.8
const MIN_SHRUNK_TOKENS = 4_000
/** The next request has less than this share too. Otherwise the provider only left a part out of one report. */
const STILL_SHRUNK_SHARE = 0.9

/**
 * Whether a request was smaller than the one before it in the same turn, with the same model. Within a turn OpenCode itself
 * neither compacts nor clears anything, and tokens of two models cannot be compared.
 */
function hasShrunk(messages: readonly Message[]): boolean {
  let sizes: number[] = []
  let model = ""
  for (const message of messages) {
    const name = modelKey(message.model)
    if (message.kind !== "step" || name !== model) sizes = []
    model = name
    if (message.kind !== "step" || !message.usage) continue
    sizes.push(contextTokens(message.usage))
    const [before = 0, after = 0, next = before] = sizes.slice(-3)
    if (before - after >= MIN_SHRUNK_TOKENS && after < SHRUNK_SHARE * before && next < STILL_SHRUNK_SHARE * before)
      return true
  }
  return false
}
