// What tokens cost on a model and how its provider's prompt cache behaves, as far as folding has to know.

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
  /** what is paid for: tokens, requests whatever their size, or nothing (a local model) */
  billing: "tokens" | "requests" | "nothing"
  /** what a million fresh input tokens cost, USD; 0 when it is not known or not billed by tokens */
  usdPerMillion: number
}
