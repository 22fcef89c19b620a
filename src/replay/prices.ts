// The prices of recorded calls. A recorded session does not contain the models' price lists: there is its model's pricing and,
// where the record says what was charged, what a token cost.

import type { Pricing, PricingOverride } from "../fold/pricing.ts"
import { PRICING_TABLE, pricingOf, UNKNOWN_PRICING } from "../fold/pricing-table.ts"
import { type Message, type ModelName, modelKey } from "../session/conversation.ts"
import { callsOf } from "../session/recorded.ts"

export type Prices = ReturnType<typeof pricesOf>
export type Price = ReturnType<Prices["of"]>

/** In fresh input tokens, and in USD where it is known. */
export type Cost = { cost: number; usd?: number }

/** What `--price` accepts besides a provider's id. */
export const PRICE_NAMES: readonly string[] = PRICING_TABLE.map(({ name }) => name)

/** A provider whose prices replace those of the recorded one. */
type NamedPrice = { providerID: string; pricing: Pricing }

/** The prices for the name of a row of the table, or for the id of a provider that a row matches; undefined otherwise. */
export function priceNamed(name: string, override: PricingOverride): NamedPrice | undefined {
  const providerID = name.toLowerCase()
  const row = PRICING_TABLE.find((one) => one.name.toLowerCase() === providerID)
  if (row) return { providerID, pricing: { row: row.name, ...row.figures, usdPerMillion: 0, ...override } }
  const pricing = pricingOf({ providerID, modelID: "" }, override)
  return pricing.row === UNKNOWN_PRICING.name ? undefined : { providerID, pricing }
}

export type PriceOptions = {
  /**
   * applies to every call instead of the recorded providers' prices. Then there are no prices in money: what the session was
   * charged says nothing about another provider
   */
  namedPrice?: NamedPrice | undefined
  /** the user's own prices, which override those of the recorded models */
  pricingOverride: PricingOverride
}

export function pricesOf(messages: readonly Message[], { namedPrice: named, pricingOverride: override }: PriceOptions) {
  const calls = callsOf(messages).map((at) => messages[at] as Message)
  const charged = new Set(calls.filter((call) => call.cost > 0).map(({ model }) => modelKey(model)))
  const pricingFor = (model: ModelName | undefined): Pricing =>
    named?.pricing ?? recordedPricing(model, charged.has(modelKey(model)), override)
  const recorded = { cost: 0, usd: 0 }
  const sums = new Map<string, typeof recorded>()
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
    /** what the calls cost according to the record, output and system prompt included: the reported tokens at the pricing */
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
        /** what a fresh input token cost, in USD; undefined when unknown, 0 for a model without charges in a session with some */
        usdPerToken: named || recorded.usd === 0 ? undefined : sum && sum.cost > 0 ? sum.usd / sum.cost : 0,
      }
    },
  }
}

/** The pricing of a model of which the record says whether it was charged for, and not its prices. */
export function recordedPricing(model: ModelName | undefined, isCharged: boolean, override: PricingOverride): Pricing {
  if (!model || !isCharged) return pricingOf(model, override)
  // some models match another row when they have a price; here they had one, but its amount is unknown
  const cost = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
  return { ...pricingOf({ ...model, cost }, override), usdPerMillion: 0 }
}

/** Adds an amount in USD. If one is unknown, so is the sum. */
export function addUsd(sum: { usd?: number }, usd: number | undefined): void {
  if (usd === undefined) delete sum.usd
  else if (sum.usd !== undefined) sum.usd += usd
}

/** Adds a cost in fresh input tokens, and in USD where the price is known. */
export function addCost(sum: Cost, cost: number, { usdPerToken }: Price): void {
  sum.cost += cost
  addUsd(sum, usdPerToken === undefined ? undefined : cost * usdPerToken)
}
