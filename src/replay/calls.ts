// The calls of a stored session made again, one after the other, as the hooks would have prepared them: by the recorded
// clock, with the tariff of the model that was called, and with every fold and HUD following from the calls before.

import type { TariffOverride } from "../fold/tariff.ts"
import {
  accept,
  newSessionState,
  type Prepared,
  prepareRequest,
  type RequestOptions,
  type SessionState,
} from "../request/request.ts"
import type { Message } from "../session/conversation.ts"
import type { Env } from "../session/normalize.ts"
import { watchCompactions } from "./compactions.ts"
import { callsOf, contextAt } from "./context.ts"
import { type NamedPrice, type Price, type Pricing, pricingOf } from "./pricing.ts"
import { messageAt } from "./pruned.ts"

export type ReplayOptions = RequestOptions & {
  /** agents whose requests the plugin leaves alone */
  disabledAgents: readonly string[]
  /** reckon with this provider in place of the recorded ones */
  price?: NamedPrice
  /** the user's own prices, over those of the recorded models */
  prices: TariffOverride
}

export type ReplayedCall = {
  /** from 1; one more than the session has is the call that would come next */
  number: number
  /** where its message stands, and the message; none for the call that would come next */
  index: number
  wrote?: Message
  nowMs: number
  price: Price
  /** what it had before it, as recorded */
  context: readonly Message[]
  /** the same as OpenCode would send it */
  messages: readonly Message[]
  /** Prepares the request and takes it as sent; undefined when the plugin leaves the agent alone. Run it before the next. */
  send(): Prepared | undefined
  state: SessionState
}

/** All calls of the session, and the one that would come next. */
export function* replayCalls(
  recorded: readonly Message[],
  options: ReplayOptions,
  env: Env,
  pricing: Pricing = pricingOf(recorded, options.price, options.prices),
): Generator<ReplayedCall> {
  const state = newSessionState(env)
  const watch = watchCompactions(recorded)
  let number = 0
  for (const index of [...callsOf(recorded), recorded.length]) {
    const wrote = recorded[index]
    const nowMs = wrote ? wrote.createdMs : lastTime(recorded)
    const context = contextAt(recorded, index)
    const messages = context.map((message) => messageAt(message, nowMs))
    const reading = state.ledger.read(messages)
    const { agent, model } = reading.facts
    const price = pricing.of(wrote ?? { model })
    const compactsAt = watch.compactsAt(price.name)
    yield {
      number: ++number,
      index,
      ...(wrote ? { wrote } : {}),
      nowMs,
      price,
      context,
      messages,
      send() {
        if (agent !== undefined && options.disabledAgents.includes(agent)) {
          state.ledger.accept(reading)
          return
        }
        const around = {
          nowMs,
          tariff: price.tariff,
          ...(price.model ? { model: price.model } : {}),
          ...(compactsAt === undefined ? {} : { compactsAt }),
        }
        const prepared = prepareRequest(messages, reading, state, around, options, env)
        accept(state, prepared)
        return prepared
      },
      state,
    }
  }
}

function lastTime(messages: readonly Message[]): number {
  const last = messages.at(-1)
  return last?.completedMs ?? last?.createdMs ?? 0
}
