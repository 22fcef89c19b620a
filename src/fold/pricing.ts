// What a model's tokens cost and how its provider's prompt cache behaves. Prices come from the model's record, the
// cache's behaviour from the table in pricing-table.ts, and the user's options override both.

/** What is billed: tokens, requests of any size, or nothing (a local model). */
export const BILLINGS = ["tokens", "requests", "nothing"] as const

/** Prices are multiples of a fresh input token's, so planning needs no currency. */
export type Pricing = {
  /** name of the table's row */
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
   * how many content blocks before a cache mark a cached prefix may end for the provider to find it; absent when the
   * provider has no such limit
   */
  lookback?: number
  billing: (typeof BILLINGS)[number]
  /** USD for a million fresh input tokens; 0 when unknown or not billed by tokens */
  usdPerMillion: number
  /** OpenCode has no price for what is read from the cache, or for what is written to it, and counts it as free */
  freeReads?: boolean
  /** what applies instead to a call with more input than `above`, largest first; plans are made without */
  tiers?: readonly Pricing[]
  above?: number
}

type Cost = { input: number; output: number; cacheRead: number; cacheWrite: number; above?: number; tiers?: Cost[] }

/** The part of OpenCode's model record that determines its pricing; costs are USD per million tokens, 0 when unknown. */
export type ModelRecord = {
  providerID: string
  /** the provider's own name (`api.id`), which an alias of the user's may hide */
  modelID: string
  /** the provider's package, `api.npm` */
  npm?: string | undefined
  cost?: Cost | undefined
}

export type PricingOverride = Partial<Pick<Pricing, "read" | "write" | "lifetimeMs" | "billing">>
