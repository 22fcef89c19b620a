import type { Pricing } from "../../src/fold/pricing.ts"

/** Anthropic's prices: a token costs a tenth of a fresh one when it is read from the cache, a quarter more to write. */
export const PRICING: Pricing = {
  row: "test",
  read: 0.1,
  write: 1.25,
  output: 5,
  lifetimeMs: 300_000,
  minimumTokens: 1024,
  billing: "tokens",
  usdPerMillion: 3,
}
