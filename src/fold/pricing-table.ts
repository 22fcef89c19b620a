// How known providers price and cache prompts. A model's prices come from OpenCode's model record; the table adds what
// the record lacks (lifetimes, minimum prefixes) and covers records without prices.
//
// Where documentation is missing or contradictory, figures err toward folding less: cheap to read, expensive to write,
// cached for long. Mistaking a warm cache for a cold one costs money; the reverse only misses a free fold. Decision 014 has
// the source of each row's figures.

import { defined } from "../system/values.ts"
import type { ModelRecord, Pricing, PricingOverride } from "./pricing.ts"

type PricingRow = {
  name: string
  /** which models, for the docs */
  models: string
  figures: Omit<Pricing, "row" | "usdPerMillion">
  matches(model: ModelRecord): boolean
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * Providers with cache marks find a prefix that ends up to 20 content blocks before a mark (Anthropic's and Alibaba's
 * documentation on prompt caching). Not verified against a paid API.
 */
const MARKED = { read: 0.1, write: 1.25, lifetimeMs: 5 * MINUTE, minimumTokens: 1024, lookback: 20 } as const

/** Of a server that the user runs: it keeps the last prompt, and a request costs only time. */
const OWN = { read: 0.02, write: 1, output: 10, minimumTokens: 0, billing: "nothing" } as const

/** The first row that matches a model applies. */
export const PRICING_TABLE: readonly PricingRow[] = [
  {
    name: "Ollama",
    models: "provider id with `ollama`, without a price",
    figures: { ...OWN, lifetimeMs: 5 * MINUTE },
    matches: (model) => model.providerID.includes("ollama") && !isPriced(model),
  },
  {
    name: "local",
    models: "provider id with `lmstudio`, `llama.cpp`, `vllm`, `sglang` or `local`, without a price",
    figures: { ...OWN, lifetimeMs: HOUR },
    matches: (model) =>
      /lm-?studio|llama[-.]?(cpp|server|swap|file)|vllm|sglang|local|\bmlx\b/i.test(model.providerID) &&
      !isPriced(model),
  },
  {
    name: "GitHub Copilot by requests",
    models: "provider id `github-copilot*`, without a price",
    figures: { read: 0.1, write: 1, output: 5, lifetimeMs: 5 * MINUTE, minimumTokens: 1024, billing: "requests" },
    matches: (model) => model.providerID.startsWith("github-copilot") && !isPriced(model),
  },
  {
    name: "no discount",
    models: "Cerebras, Perplexity",
    figures: { read: 1, write: 1, output: 3, lifetimeMs: 0, minimumTokens: 0, billing: "tokens" },
    matches: ({ providerID, npm }) => /^(cerebras|perplexity)$/.test(providerID) || npm === "@ai-sdk/cerebras",
  },
  {
    name: "Groq",
    models: "provider id `groq`, `@ai-sdk/groq`",
    figures: { read: 0.5, write: 1, output: 4, lifetimeMs: 2 * HOUR, minimumTokens: 128, billing: "tokens" },
    matches: (model) => isFrom(model, /^groq$/, "@ai-sdk/groq"),
  },
  {
    name: "Anthropic",
    models: "model id with `claude` or provider id `anthropic`; Bedrock, Vertex, Copilot and routers too",
    figures: { ...MARKED, output: 5, billing: "tokens" },
    matches: ({ providerID, modelID }) => /claude/i.test(modelID) || providerID === "anthropic",
  },
  {
    name: "OpenAI from GPT-5.6",
    models: "`gpt-5.6` and later",
    figures: { read: 0.1, write: 1.25, output: 5, lifetimeMs: HOUR, minimumTokens: 1024, billing: "tokens" },
    matches: ({ modelID }) => /(?:^|[/.])gpt-(?:[6-9](?!\d)|5[.-](?:[6-9]|[1-9]\d)(?!\d))/i.test(modelID),
  },
  {
    name: "OpenAI",
    models: "other `gpt-*` (not gpt-oss), `o1` to `o9`, `codex`; provider id `openai` or `azure*`; `@ai-sdk/openai`",
    figures: { read: 0.1, write: 1, output: 5, lifetimeMs: 24 * HOUR, minimumTokens: 1024, billing: "tokens" },
    matches: (model) =>
      /(^|[/.])(gpt-(?!oss)|chatgpt|codex|o[1-9]($|-))/i.test(model.modelID) ||
      isFrom(model, /^(openai$|azure)/, "@ai-sdk/openai", "@ai-sdk/azure"),
  },
  {
    name: "Google Gemini",
    models: "model id with `gemini`; provider id `google`",
    figures: { read: 0.1, write: 1, output: 6, lifetimeMs: HOUR, minimumTokens: 2048, billing: "tokens" },
    matches: (model) => /gemini/i.test(model.modelID) || isFrom(model, /^google$/, "@ai-sdk/google"),
  },
  {
    name: "DeepSeek",
    models: "provider id `deepseek`; through a router by model id",
    figures: { read: 0.02, write: 1, output: 4, lifetimeMs: 24 * HOUR, minimumTokens: 64, billing: "tokens" },
    matches: (model) => isFrom(model, /^deepseek/, "@ai-sdk/deepseek") || isRouted(model, /deepseek/i),
  },
  {
    name: "xAI",
    models: "provider id `xai`, model id with `grok`",
    figures: { read: 0.15, write: 1, output: 2, lifetimeMs: HOUR, minimumTokens: 0, billing: "tokens" },
    matches: (model) => /grok/i.test(model.modelID) || isFrom(model, /^xai/, "@ai-sdk/xai"),
  },
  {
    name: "Mistral",
    models: "provider id `mistral`; through a router by model id",
    figures: { read: 0.1, write: 1, output: 3, lifetimeMs: HOUR, minimumTokens: 64, billing: "tokens" },
    matches: (model) => isFrom(model, /^mistral/, "@ai-sdk/mistral") || isRouted(model, /stral|[mp]ixtral/i),
  },
  {
    name: "Moonshot",
    models: "provider id `moonshotai*` or `kimi*`; through a router by model id",
    figures: { read: 0.1, write: 1, output: 4, lifetimeMs: HOUR, minimumTokens: 0, billing: "tokens" },
    matches: (model) => isFrom(model, /^(moonshot|kimi)/) || isRouted(model, /kimi|moonshot/i),
  },
  {
    name: "Z.ai",
    models: "provider id `zai*` or `zhipuai*`; through a router by model id",
    figures: { read: 0.2, write: 1, output: 3.3, lifetimeMs: HOUR, minimumTokens: 0, billing: "tokens" },
    matches: (model) => isFrom(model, /^(zai|zhipu)/) || isRouted(model, /\bglm-/i),
  },
  {
    name: "Alibaba explicit",
    models: "`@ai-sdk/alibaba`, which OpenCode gives cache marks",
    figures: { ...MARKED, output: 4, billing: "tokens" },
    matches: ({ npm }) => npm === "@ai-sdk/alibaba",
  },
  {
    name: "Alibaba implicit",
    models: "provider id `alibaba*`; `qwen` through a router",
    figures: { read: 0.2, write: 1, output: 4, lifetimeMs: HOUR, minimumTokens: 256, billing: "tokens" },
    matches: (model) => isFrom(model, /^alibaba/) || isRouted(model, /qwen/i),
  },
  {
    name: "Anthropic's protocol",
    models: "`@ai-sdk/anthropic` with other models (MiniMax and custom providers)",
    figures: { ...MARKED, output: 4, billing: "tokens" },
    matches: ({ npm }) => npm === "@ai-sdk/anthropic",
  },
  {
    name: "free",
    models: "all others whose record says that they cost 0, such as those of a server in the user's configuration",
    figures: { ...OWN, lifetimeMs: HOUR },
    matches: (model) => model.cost !== undefined && !isPriced(model),
  },
]

/** For a model that no row matches: all figures are cautious, see the top. */
export const UNKNOWN_PRICING: PricingRow = {
  name: "unknown",
  models: "all others",
  figures: { read: 0.1, write: 1.25, output: 4, lifetimeMs: HOUR, minimumTokens: 0, billing: "tokens" },
  matches: () => true,
}

/** Whether the model's record has a price; subscriptions and local models have zeros. */
function isPriced({ cost }: ModelRecord): boolean {
  return cost !== undefined && cost.input > 0
}

function isFrom({ providerID, npm }: ModelRecord, provider: RegExp, ...packages: string[]): boolean {
  return provider.test(providerID) || (npm !== undefined && packages.includes(npm))
}

/** Open models have many hosts, each with its own cache; a router is assumed to use the vendor's. */
function isRouted({ providerID, modelID }: ModelRecord, models: RegExp): boolean {
  return (
    /^(openrouter|opencode|github-copilot|vercel|cloudflare-ai-gateway|llmgateway)/.test(providerID) &&
    models.test(modelID)
  )
}

// Ratios above these are mistakes, such as USD per token next to USD per million. Nobody sells a cached token for more
// than a fresh one; the most expensive known write, Anthropic's for an hour, costs 2; output costs up to about 8.
const MAX_READ = 1
const MAX_WRITE = 10
const MAX_OUTPUT = 100

/**
 * The pricing of a model. What is missing, zero or invalid in its record (subscriptions, local models, custom
 * providers) is taken from the row. Never throws.
 */
export function pricingOf(model: ModelRecord | undefined, override: PricingOverride = {}): Pricing {
  const row = (model && PRICING_TABLE.find((one) => one.matches(model))) ?? UNKNOWN_PRICING
  const cost = model?.cost
  const input = isPositive(cost?.input) ? cost.input : 0
  const tiers = model && cost?.tiers?.map((tier) => pricingOf({ ...model, cost: tier }, override))
  const read = multipleOf(cost?.cacheRead, input, MAX_READ)
  const hasMarks = row.figures.lookback !== undefined
  // Without marks a token that is sent again costs a fresh one at least. A lower price is for keeping it, as routers have it for
  // Gemini; taken for all that a write costs, it would make a broken prefix look free.
  const charged = multipleOf(cost?.cacheWrite, input, MAX_WRITE, hasMarks ? 0 : 1)
  // A record with a read price but no write price means that a write costs as much as a fresh token. Vendors known to
  // charge more are an exception: OpenCode gives all models of GitHub Copilot a write price of 0, Claude included.
  const write = charged ?? (read !== undefined && row === UNKNOWN_PRICING ? 1 : undefined)
  // Where requests carry marks, writes are reported, except in OpenAI's protocol, which has no word for them.
  const areWritesFree = hasMarks && model?.npm !== "@ai-sdk/openai-compatible" && !isPositive(cost?.cacheWrite)
  return {
    row: row.name,
    ...row.figures,
    ...defined({ read, write, output: multipleOf(cost?.output, input, MAX_OUTPUT), above: cost?.above, tiers }),
    ...override,
    usdPerMillion: input,
    ...(input > 0 && (!isPositive(cost?.cacheRead) || areWritesFree) ? { freeReads: true } : {}),
  }
}

/** A price as a multiple of the fresh input token's; undefined when either is missing or it is outside `min` to `max`. */
function multipleOf(price: number | undefined, input: number, max: number, min = 0): number | undefined {
  if (!isPositive(price) || !isPositive(input)) return undefined
  const multiple = price / input
  return multiple >= min && multiple <= max ? multiple : undefined
}

function isPositive(value: number | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0
}
