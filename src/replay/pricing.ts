// What a recorded call is reckoned with: its model's tariff and, where the record tells what was charged, what a token
// cost. The models' price lists are not in a recorded session.

import { text } from "../fields.ts"
import { type Tariff, type TariffOverride, tariffOf } from "../fold/tariff.ts"
import { TABLE, UNKNOWN } from "../fold/tariff-table.ts"
import type { HostMessage } from "../host/v1/message.ts"
import type { ModelName } from "../hud/slots.ts"
import { readUsage } from "../session/entry.ts"
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
  of(call: HostMessage): Price
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
  messages: readonly HostMessage[],
  named: NamedPrice | undefined,
  override: TariffOverride,
): Pricing {
  const calls = callsOf(messages).map((at) => messages[at] as HostMessage)
  const charged = new Set(calls.filter((call) => chargedFor(call) > 0).map(nameOf))
  const tariffs = new Map<string, Tariff>()
  const tariffFor = (call: HostMessage): Tariff => {
    const name = nameOf(call)
    const tariff = named?.tariff ?? tariffs.get(name) ?? recordedTariff(modelOf(call), charged.has(name), override)
    tariffs.set(name, tariff)
    return tariff
  }
  const recorded: Recorded = { cost: 0, usd: 0 }
  const sums = new Map<string, Recorded>()
  for (const call of calls) {
    const usage = readUsage(call.info.tokens)
    const usd = chargedFor(call)
    recorded.usd += usd
    if (named || !usage) continue
    const { read, write, output } = tariffFor(call)
    const cost = usage.input + usage.cacheRead * read + usage.cacheWrite * write + usage.output * output
    recorded.cost += cost
    const sum = sums.get(nameOf(call)) ?? { usd: 0, cost: 0 }
    sums.set(nameOf(call), { usd: sum.usd + usd, cost: sum.cost + cost })
  }
  return {
    recorded,
    of(call) {
      const name = nameOf(call)
      const model = modelOf(call)
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

function chargedFor({ info }: HostMessage): number {
  const { cost } = info
  return typeof cost === "number" && cost > 0 && Number.isFinite(cost) ? cost : 0
}

/** The model that answered, as the message names it. */
function modelOf({ info }: HostMessage): ModelName | undefined {
  const providerID = text(info.providerID)
  const modelID = text(info.modelID)
  return providerID !== undefined && modelID !== undefined ? { providerID, modelID } : undefined
}

/** The recorded model's name, or "". */
export function nameOf(call: HostMessage): string {
  const model = modelOf(call)
  return model ? `${model.providerID}/${model.modelID}` : ""
}
