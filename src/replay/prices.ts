// The prices of a recorded call: its model's pricing and, where the record says what was charged, what a token cost. A
// recorded session does not contain the models' price lists.

import type { Pricing, PricingOverride } from "../fold/pricing.ts"
import { PRICING_TABLE, pricingOf, UNKNOWN_PRICING } from "../fold/pricing-table.ts"
import { type Message, type ModelName, modelKey } from "../session/conversation.ts"
import { callsOf } from "./context.ts"

export type Prices = ReturnType<typeof pricesOf>
export type Price = ReturnType<Prices["of"]>

/**
 * What the session's calls cost according to the record, output and system prompt included; 0 when the record does not
 * say, and for a sum of sessions when one of their records does not.
 */
export type Recorded = {
  /** the reported tokens at the pricing, in fresh input tokens */
  cost: number
  usd: number
}

/** What `--price` accepts besides a provider's id. */
export const PRICE_NAMES: readonly string[] = PRICING_TABLE.map(({ name }) => name)

/** A provider whose prices replace those of the recorded one. */
export type NamedPrice = { providerID: string; pricing: Pricing }

/**
 * The prices for the name of a row of the table, or for the id of a provider that a row matches; undefined otherwise.
 */
export function priceNamed(name: string, override: PricingOverride): NamedPrice | undefined {
  const providerID = name.toLowerCase()
  const row = PRICING_TABLE.find((one) => one.name.toLowerCase() === providerID)
  if (row) return { providerID, pricing: { row: row.name, ...row.figures, usdPerMillion: 0, ...override } }
  const pricing = pricingOf({ providerID, modelID: "" }, override)
  return pricing.row === UNKNOWN_PRICING.name ? undefined : { providerID, pricing }
}

/**
 * With `named`, that pricing applies to every call and there are no prices in money: what the session was charged says
 * nothing about another provider.
 */
export function pricesOf(messages: readonly Message[], named: NamedPrice | undefined, override: PricingOverride) {
  const calls = callsOf(messages).map((at) => messages[at] as Message)
  const charged = new Set(calls.filter((call) => call.cost > 0).map(({ model }) => modelKey(model)))
  const pricings = new Map<string, Pricing>()
  const pricingFor = (model: ModelName | undefined): Pricing => {
    const name = modelKey(model)
    const pricing = named?.pricing ?? pricings.get(name) ?? recordedPricing(model, charged.has(name), override)
    pricings.set(name, pricing)
    return pricing
  }
  const recorded: Recorded = { cost: 0, usd: 0 }
  const sums = new Map<string, Recorded>()
  for (const call of calls) {
    const { usage, cost: usd } = call
    recorded.usd += usd
    if (!usage) continue
    const { read, write, output } = pricingFor(call.model)
    // another provider would charge for a cache write what its own reported as fresh input
    const cost =
      usage.input * (named ? write : 1) + usage.cacheRead * read + usage.cacheWrite * write + usage.output * output
    recorded.cost += cost
    const sum = sums.get(modelKey(call.model)) ?? { usd: 0, cost: 0 }
    sums.set(modelKey(call.model), { usd: sum.usd + usd, cost: sum.cost + cost })
  }
  return {
    recorded,
    of({ model }: Pick<Message, "model">) {
      const name = modelKey(model)
      const sum = sums.get(name)
      return {
        /** the model called, at the provider whose prices apply */
        model: model && named ? { ...model, providerID: named.providerID } : model,
        /** the recorded model's name, or "" */
        name,
        pricing: pricingFor(model),
        /** what a fresh input token cost, in USD; undefined when unknown */
        // if anything was charged in this session, a model without charges is free
        usdPerToken: named || recorded.usd === 0 ? undefined : sum && sum.cost > 0 ? sum.usd / sum.cost : 0,
      }
    },
  }
}

function recordedPricing(model: ModelName | undefined, isCharged: boolean, override: PricingOverride): Pricing {
  if (!model || !isCharged) return pricingOf(model, override)
  // some models match another row when they have a price; here they had one, but its amount is unknown
  const cost = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
  return { ...pricingOf({ ...model, cost }, override), usdPerMillion: 0 }
}
