// The calls of a stored session made again, one after the other, as the hooks would have prepared them: by the recorded
// clock, with the tariff of the model that was called, and with every fold and HUD following from the calls before.

import type { TariffOverride } from "../fold/tariff.ts"
import type { HostMessage } from "../host/v1/message.ts"
import { type Call, type CallOptions, type Conversation, newConversation, prepareCall } from "../request/request.ts"
import type { Env } from "../session/normalize.ts"
import { watchCompactions } from "./compactions.ts"
import { callsOf, contextAt } from "./context.ts"
import { type NamedPrice, type Price, type Pricing, pricingOf } from "./pricing.ts"
import { partsAt } from "./pruned.ts"

export type ReplayOptions = CallOptions & {
  /** agents whose requests the plugin leaves alone */
  disabledAgents: readonly string[]
  /** reckon with this provider in place of the recorded ones */
  price?: NamedPrice
  /** the user's own prices, over those of the recorded models */
  prices: TariffOverride
}

export type CallAgain = {
  /** from 1; one more than the session has is the call that would come next */
  number: number
  /** where its message stands, and the message; none for the call that would come next */
  index: number
  wrote?: HostMessage
  nowMs: number
  price: Price
  /** what it had before it, as recorded */
  context: readonly HostMessage[]
  /** the same as OpenCode would send it; after `send` as the plugin does */
  array: HostMessage[]
  /** Prepares the array and changes it; undefined when the plugin leaves the agent alone. To be run before the next. */
  send(): Call | undefined
  conversation: Conversation
}

/** All calls of the session, and the one that would come next. Reads the messages only. */
export function* callsAgain(
  messages: readonly HostMessage[],
  options: ReplayOptions,
  env: Env,
  pricing: Pricing = pricingOf(messages, options.price, options.prices),
): Generator<CallAgain> {
  const conversation = newConversation(env)
  const watch = watchCompactions(messages)
  let number = 0
  for (const index of [...callsOf(messages), messages.length]) {
    const wrote = messages[index]
    const nowMs = wrote ? (wrote.info.time?.created ?? 0) : lastTime(messages)
    const context = contextAt(messages, index)
    const array = context.map((message) => ({ ...message, parts: partsAt(message.parts, nowMs) }))
    conversation.ledger.update(array)
    const { agent, model } = conversation.ledger.facts
    const price = pricing.of(wrote ?? { info: { role: "assistant", ...model }, parts: [] })
    const compactsAt = watch.compactsAt(price.name)
    yield {
      number: ++number,
      index,
      ...(wrote ? { wrote } : {}),
      nowMs,
      price,
      context,
      array,
      send() {
        if (agent !== undefined && options.disabledAgents.includes(agent)) return
        const around = {
          nowMs,
          tariff: price.tariff,
          ...(price.model ? { model: price.model } : {}),
          ...(compactsAt === undefined ? {} : { compactsAt }),
        }
        const call = prepareCall(array, conversation, around, options, env)
        call.commit()
        return call
      },
      conversation,
    }
  }
}

function lastTime(messages: readonly HostMessage[]): number {
  const time = messages.at(-1)?.info.time
  return time?.completed ?? time?.created ?? 0
}
