// Prepares the calls of a stored session again, one after the other, as the live hooks would have: with the recorded
// times, the pricing of the model that was called, and the folds and HUDs that follow from the calls before.

import { type AppliedFolds, NOTHING_FOLDED } from "../fold/fold.ts"
import type { PricingOverride } from "../fold/pricing.ts"
import { type Slot, slotFor } from "../hud/slots.ts"
import { RECALL_TOOL } from "../output/shows.ts"
import {
  accept,
  newSessionState,
  type Prepared,
  prepareRequest,
  type RequestOptions,
  type SessionState,
} from "../request/request.ts"
import type { Message, Usage } from "../session/conversation.ts"
import { contextNow, contextTokens } from "../session/facts.ts"
import type { Env } from "../session/normalize.ts"
import { callsOf, contextAt, messageAt, watchCompactions } from "./context.ts"
import { type NamedPrice, type Price, type Prices, pricesOf } from "./prices.ts"
import { messagesOf } from "./request.ts"

export type ReplayOptions = RequestOptions & {
  /** agents for which the plugin is disabled */
  disabledAgents: readonly string[]
  /** use this provider's prices instead of the recorded providers' */
  price?: NamedPrice
  /** the user's own prices, which override those of the recorded models */
  prices: PricingOverride
}

export type ReplayedCall = {
  /** from 1; the last number is that of the call that would come next */
  number: number
  /** index of its message, and the message, which the call that would come next lacks */
  index: number
  wrote?: Message
  nowMs: number
  price: Price
  /** its context as recorded */
  context: readonly Message[]
  /** its context as OpenCode would have sent it */
  messages: readonly Message[]
  /**
   * Prepares and accepts the request; undefined when the plugin is disabled for the agent. Must run before the next
   * call.
   */
  send(): Prepared | undefined
  state: SessionState
  /** what the last call would have used, where that is not what was recorded */
  usage?: Usage
}

/** All calls of the session, then the one that would come next. `ran`: with the plugin, so that the recorded usage is right. */
export function* replayCalls(
  recorded: readonly Message[],
  options: ReplayOptions,
  env: Env,
  prices: Prices = pricesOf(recorded, options.price, options.prices),
  ran = tracesOf(recorded),
): Generator<ReplayedCall> {
  const state = newSessionState(env)
  const watch = watchCompactions(recorded)
  let number = 0
  let usage: Usage | undefined
  for (const index of [...callsOf(recorded), recorded.length]) {
    const wrote = recorded[index]
    const nowMs = wrote ? wrote.createdMs : lastTime(recorded)
    const context = contextAt(recorded, index)
    const messages = context.map((message) => messageAt(message, nowMs))
    const reading = state.ledger.read(messages)
    const { agent, model } = reading.facts
    const price = prices.of(wrote ?? { model })
    const compactsAt = watch.compactsAt(price.name)
    yield {
      number: ++number,
      index,
      ...(wrote ? { wrote } : {}),
      nowMs,
      price,
      context,
      messages,
      ...(usage === undefined ? {} : { usage }),
      send() {
        if (agent !== undefined && options.disabledAgents.includes(agent)) {
          state.ledger.accept(reading)
          usage = undefined
          return
        }
        const around = {
          nowMs,
          pricing: price.pricing,
          ...(price.model ? { model: price.model } : {}),
          ...(compactsAt === undefined ? {} : { compactsAt }),
          ...(usage === undefined ? {} : { usage }),
        }
        const prepared = prepareRequest({ messages, reading, state, around, options, env })
        accept(state, prepared)
        usage = ran ? undefined : replayedUsage(wrote?.usage, prepared, state)
        return prepared
      },
      state,
    }
  }
}

/** What a call would have used that was recorded without the plugin: less what folds leave out, and with the HUD. */
function replayedUsage(
  recorded: Usage | undefined,
  { savedTokens, hud }: Prepared,
  { folding, ledger }: SessionState,
): Usage | undefined {
  const { expected } = folding.account
  if (!recorded || !expected) return
  const { ratio } = ledger.facts
  const tokens = Math.max(0, contextTokens(recorded) - savedTokens * ratio + (hud?.tokens ?? 0))
  const cacheRead = recorded.cacheRead === 0 ? 0 : Math.max(0, tokens - expected.freshTokens * ratio)
  return { ...recorded, cacheRead, cacheWrite: 0, input: tokens - cacheRead }
}

/** Only the plugin has this tool. */
export function tracesOf(messages: readonly Message[]): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type === "tool" && part.tool === RECALL_TOOL))
}

function lastTime(messages: readonly Message[]): number {
  const last = messages.at(-1)
  return last?.completedMs ?? last?.createdMs ?? 0
}

/** What `hudfold inspect` shows of one call. */
export type Inspection = {
  /** the inspected call, 1-based; `calls` + 1 is the call that would come next */
  call: number
  /** calls of the session */
  calls: number
  hud?: string
  /** why there is no HUD */
  reason?: string
  /** estimated tokens of the HUD, 0 without one */
  tokens: number
  slot: Slot
  /** tokens in the context at that call, as the HUD says them */
  contextTokens?: number
  /** steps and outputs sent folded with that call, and the tokens that saves */
  folded: AppliedFolds
  /** the request as it is sent, records and HUD included, without system prompt and tool definitions */
  request: { label: string; body: string }[]
}

/**
 * The HUD of a stored session at call `call`, by default the call that would come next. `call` is 1 … calls + 1; for a
 * later one the result has only the number of calls. Facts known only from live events (permissions, changes on disk)
 * are missing.
 */
export function hudAtCall(
  messages: readonly Message[],
  call: number | undefined,
  options: ReplayOptions,
  env: Env,
  ran?: boolean,
): Inspection {
  const calls = callsOf(messages).length
  const wanted = call ?? calls + 1
  const result: Inspection = {
    call: wanted,
    calls,
    tokens: 0,
    slot: slotFor(options.hud.slot, undefined),
    folded: NOTHING_FOLDED,
    request: [],
  }
  for (const { number, send, price, state, messages: before, usage: usageBefore } of replayCalls(
    messages,
    options,
    env,
    undefined,
    ran,
  )) {
    const sent = send()
    if (number !== wanted) continue
    const facts = usageBefore ? { ...state.ledger.facts, usage: usageBefore } : state.ledger.facts
    const contextTokens = contextNow(facts)?.tokens
    const reason = sent ? (options.hud.enabled ? sent.reason : HUD_OFF) : AGENT_DISABLED
    return {
      ...result,
      slot: sent?.slot ?? slotFor(options.hud.slot, price.model),
      tokens: sent?.hud?.tokens ?? 0,
      folded: sent ? { steps: sent.steps, outputs: sent.outputs, savedTokens: sent.savedTokens } : NOTHING_FOLDED,
      request: messagesOf(before, sent?.change)
        .flat()
        .map(({ label, body }) => ({ label, body })),
      ...(sent?.hud ? { hud: sent.hud.text } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
    }
  }
  return result
}

const HUD_OFF = "the options turn it off"
const AGENT_DISABLED = "the options leave this agent alone"
