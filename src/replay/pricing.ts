// What a recorded call is reckoned with: its model's tariff and, where the record tells what was charged, what a token
// cost. The models' price lists are not in a recorded session.

import { type Tariff, type TariffOverride, tariffOf } from "../fold/tariff.ts"
import { TABLE, UNKNOWN } from "../fold/tariff-table.ts"
import type { Message, ModelName } from "../session/conversation.ts"
import { callsOf } from "./context.ts"

export type Price = {
  /** the model called, at the provider that is reckoned with */
  model: ModelName | undefined
  /** the recorded model's name, or "" */
  name: string
  tariff: Tariff
  /** what a fresh input token of the model cost, in USD; undefined where that is not known */
  usdPerToken: number | undefined
}

export type Pricing = {
  of(call: Pick<Message, "model">): Price
  recorded: Recorded
}

/**
 * What the session's calls cost by the record, output and system prompt in it; 0 where it says nothing, of several
 * sessions where it says nothing of one.
 */
export type Recorded = {
  /** the reported tokens by the tariff, in fresh input tokens; 0 when another provider is reckoned with */
  cost: number
  usd: number
}

/** What `--price` can name beside a provider's id. */
export const PRICE_NAMES: readonly string[] = TABLE.map(({ name }) => name)

/** A provider to reckon with in place of the recorded one. */
export type NamedPrice = { providerID: string; tariff: Tariff }

/** By the name of a row of the table, or of a provider that one of them is for; undefined for any other name. */
export function priceNamed(name: string, override: TariffOverride): NamedPrice | undefined {
  const providerID = name.toLowerCase()
  const row = TABLE.find((one) => one.name.toLowerCase() === providerID)
  if (row) return { providerID, tariff: { row: row.name, ...row.figures, usdPerMillion: 0, ...override } }
  const tariff = tariffOf({ providerID, modelID: "" }, override)
  return tariff.row === UNKNOWN.name ? undefined : { providerID, tariff }
}

/**
 * With `named` every call is reckoned with that tariff, and without money: what the session was charged says nothing of
 * another provider's price.
 */
export function pricingOf(
  messages: readonly Message[],
  named: NamedPrice | undefined,
  override: TariffOverride,
): Pricing {
  const calls = callsOf(messages).map((at) => messages[at] as Message)
  const charged = new Set(calls.filter((call) => call.cost > 0).map(modelName))
  const tariffs = new Map<string, Tariff>()
  const tariffFor = (call: Pick<Message, "model">): Tariff => {
    const name = modelName(call)
    const tariff = named?.tariff ?? tariffs.get(name) ?? recordedTariff(call.model, charged.has(name), override)
    tariffs.set(name, tariff)
    return tariff
  }
  const recorded: Recorded = { cost: 0, usd: 0 }
  const sums = new Map<string, Recorded>()
  for (const call of calls) {
    const { usage, cost: usd } = call
    recorded.usd += usd
    if (named || !usage) continue
    const { read, write, output } = tariffFor(call)
    const cost = usage.input + usage.cacheRead * read + usage.cacheWrite * write + usage.output * output
    recorded.cost += cost
    const sum = sums.get(modelName(call)) ?? { usd: 0, cost: 0 }
    sums.set(modelName(call), { usd: sum.usd + usd, cost: sum.cost + cost })
  }
  return {
    recorded,
    of(call) {
      const name = modelName(call)
      const model = call.model
      const sum = sums.get(name)
      return {
        model: model && named ? { ...model, providerID: named.providerID } : model,
        name,
        tariff: tariffFor(call),
        // in a session that was charged for, a model that was not is free
        usdPerToken: named || recorded.usd === 0 ? undefined : sum && sum.cost > 0 ? sum.usd / sum.cost : 0,
      }
    },
  }
}

function recordedTariff(model: ModelName | undefined, isCharged: boolean, override: TariffOverride): Tariff {
  if (!model || !isCharged) return tariffOf(model, override)
  // some models are another row's when they have a price at all, as here they had; which price is not known
  const cost = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
  return { ...tariffOf({ ...model, cost }, override), usdPerMillion: 0 }
}

/** The recorded model's name, or "". */
export function modelName({ model }: Pick<Message, "model">): string {
  return model ? `${model.providerID}/${model.modelID}` : ""
}
