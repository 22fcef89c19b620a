// What tokens cost on a model and how its provider's prompt cache behaves, as far as folding has to know.
// Prices come from the model's own record, the cache's behaviour from the table, and the user has the last word.

import { TABLE, UNKNOWN } from "./tariff-table.ts"

/** Prices are multiples of what a fresh input token costs, so that a plan needs no currency. */
export type Tariff = {
  /** name of the table's row that the cache's behaviour is from */
  row: string
  /** one input token read from the cache, and one written to it; 1 and 1 where there is no cache */
  read: number
  write: number
  /** one output token */
  output: number
  /** how long a prefix stays cached without a call, in ms */
  lifetimeMs: number
  /** shortest prefix that is cached at all, in tokens */
  minimumTokens: number
  /**
   * how many content blocks before a request's end the cached prefix may end for the provider to find it; absent where
   * nothing is known of such a window
   */
  lookback?: number
  /** what is paid for: tokens, requests whatever their size, or nothing (a local model) */
  billing: "tokens" | "requests" | "nothing"
  /** what a million fresh input tokens cost, USD; 0 when it is not known or not billed by tokens */
  usdPerMillion: number
}

/** The part of OpenCode's model record that a tariff needs; prices are USD per million tokens, 0 when there is none. */
export type ModelRecord = {
  providerID: string
  /** the name the provider knows (`api.id`) tells more than an alias of the user's */
  modelID: string
  /** the provider's package, `api.npm` */
  npm?: string
  cost?: { input: number; output: number; cacheRead: number; cacheWrite: number }
}

export type TariffOverride = Partial<
  Pick<Tariff, "read" | "write" | "output" | "lifetimeMs" | "minimumTokens" | "billing">
>

// Above these a price is a slip, as USD per token beside USD per million. Nobody sells a cached token for more than a
// fresh one; a write kept for an hour costs 2 with Anthropic, the dearest known; output costs up to 8 or so.
const MOST_READ = 1
const MOST_WRITE = 10
const MOST_OUTPUT = 100

const BILLINGS: readonly unknown[] = ["tokens", "requests", "nothing"] satisfies Tariff["billing"][]

/**
 * The tariff of a model. What is missing, zero or nonsense in its record (subscriptions, local models, custom
 * providers) is the row's; what is nonsense in the override is passed over. Never throws.
 */
export function tariffOf(model: ModelRecord | undefined, override: TariffOverride = {}): Tariff {
  const row = (model && TABLE.find((one) => one.matches(model))) ?? UNKNOWN
  const cost = model?.cost
  const input = isPositive(cost?.input) ? cost.input : 0
  const read = ratio(cost?.cacheRead, input, MOST_READ)
  // A record that prices reading but not writing means that a write costs a fresh token. Vendors known to charge more
  // are an exception: OpenCode gives every model of GitHub Copilot a write price of 0, Claude too.
  const write = ratio(cost?.cacheWrite, input, MOST_WRITE) ?? (read !== undefined && row === UNKNOWN ? 1 : undefined)
  return {
    row: row.name,
    read: amount(override.read) ?? read ?? row.figures.read,
    write: amount(override.write) ?? write ?? row.figures.write,
    output: amount(override.output) ?? ratio(cost?.output, input, MOST_OUTPUT) ?? row.figures.output,
    lifetimeMs: amount(override.lifetimeMs) ?? row.figures.lifetimeMs,
    minimumTokens: amount(override.minimumTokens) ?? row.figures.minimumTokens,
    ...(row.figures.lookback === undefined ? {} : { lookback: row.figures.lookback }),
    billing: override.billing && BILLINGS.includes(override.billing) ? override.billing : row.figures.billing,
    usdPerMillion: input,
  }
}

/** A price as a multiple of the fresh input token's, undefined when either is missing or it cannot be true. */
function ratio(price: number | undefined, input: number, most: number): number | undefined {
  if (!isPositive(price) || !isPositive(input)) return undefined
  const multiple = price / input
  return multiple <= most ? multiple : undefined
}

function amount(value: number | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Whether a price is one: NaN, infinite, negative and zero are not. */
function isPositive(value: number | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0
}
