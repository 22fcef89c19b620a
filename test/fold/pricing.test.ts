import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { ModelRecord, PricingOverride } from "../../src/fold/pricing.ts"
import { PRICING_TABLE, pricingOf, UNKNOWN_PRICING } from "../../src/fold/pricing-table.ts"

const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const CLAUDE = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }
const GPT = { input: 2.5, output: 15, cacheRead: 0.25, cacheWrite: 0 }

function model(name: string, more: Partial<ModelRecord> = {}): ModelRecord {
  const [providerID = "", ...rest] = name.split("/")
  return { providerID, modelID: rest.join("/"), ...more }
}

const EXAMPLES: [string, ModelRecord][] = [
  ["Ollama", model("ollama/qwen3-coder:30b", { cost: FREE })],
  ["local", model("lmstudio/openai/gpt-oss-20b", { cost: FREE })],
  ["local", model("llama.cpp/gemma")],
  ["local", model("my-vllm/Qwen3", { npm: "@ai-sdk/openai-compatible" })],
  ["GitHub Copilot by requests", model("github-copilot/claude-sonnet-4.5", { cost: FREE })],
  ["no discount", model("cerebras/zai-glm-4.7")],
  ["Groq", model("groq/moonshotai/kimi-k2-instruct-0905")],
  ["Groq", model("work/openai/gpt-oss-120b", { npm: "@ai-sdk/groq" })],
  ["Anthropic", model("anthropic/claude-sonnet-4-5")],
  ["Anthropic", model("amazon-bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0")],
  ["Anthropic", model("google-vertex-anthropic/claude-haiku-4-5@20251001")],
  ["Anthropic", model("openrouter/anthropic/claude-sonnet-4.5")],
  ["Anthropic", model("github-copilot/claude-sonnet-4.5", { cost: CLAUDE })],
  ["OpenAI from GPT-5.6", model("openai/gpt-5.6-codex")],
  ["OpenAI from GPT-5.6", model("openrouter/openai/gpt-6-mini")],
  ["OpenAI", model("openai/gpt-5.5")],
  ["OpenAI", model("openai/gpt-5-2025-08-07")],
  ["OpenAI", model("azure-work/our-deployment", { npm: "@ai-sdk/azure" })],
  ["OpenAI", model("azure/gpt-35-turbo")],
  ["OpenAI", model("opencode/gpt-5.1-codex")],
  ["OpenAI", model("github-copilot/o4-mini", { cost: GPT })],
  ["Google Gemini", model("google/gemini-2.5-pro")],
  ["Google Gemini", model("google-vertex/gemini-3.1-pro-preview", { npm: "@ai-sdk/google-vertex" })],
  ["DeepSeek", model("deepseek/deepseek-chat")],
  ["DeepSeek", model("openrouter/deepseek/deepseek-v3.2")],
  ["xAI", model("xai/grok-4.5")],
  ["xAI", model("opencode/grok-code")],
  ["Mistral", model("mistral/devstral-medium-latest")],
  ["Mistral", model("openrouter/mistralai/devstral-2512")],
  ["Moonshot", model("moonshotai/kimi-k2.6")],
  ["Moonshot", model("kimi-for-coding/k2", { npm: "@ai-sdk/anthropic", cost: FREE })],
  ["Moonshot", model("opencode/kimi-k2.6")],
  ["Z.ai", model("zai-coding-plan/glm-4.7", { cost: FREE })],
  ["Z.ai", model("openrouter/z-ai/glm-5")],
  ["Alibaba explicit", model("qwen/qwen3-max", { npm: "@ai-sdk/alibaba" })],
  ["Alibaba implicit", model("alibaba-cn/qwen3-coder-plus", { npm: "@ai-sdk/openai-compatible" })],
  ["Alibaba implicit", model("opencode/qwen3-coder")],
  ["Anthropic's protocol", model("minimax/MiniMax-M3", { npm: "@ai-sdk/anthropic" })],
  ["free", model("litellm/qwen3-coder", { npm: "@ai-sdk/openai-compatible", cost: { ...CLAUDE, input: 0 } })],
  ["unknown", model("fireworks-ai/accounts/fireworks/models/deepseek-v3p2")],
  ["unknown", model("together/openai/gpt-oss-120b", { npm: "@ai-sdk/togetherai" })],
  ["unknown", model("amazon-bedrock/us.amazon.nova-pro-v1:0")],
  ["unknown", model("mine/best", { npm: "@ai-sdk/openai-compatible" })],
]

describe("the table of pricings", () => {
  test.each(EXAMPLES)("%s", (row, record) => {
    expect(pricingOf(record).row).toBe(row)
  })

  test("every row has an example", () => {
    const named = new Set(EXAMPLES.map(([row]) => row))
    expect([...PRICING_TABLE, UNKNOWN_PRICING].map((row) => row.name).filter((name) => !named.has(name))).toEqual([])
  })

  test("every row has plausible figures, and decision 014 has their sources", () => {
    const decision = readFileSync(join(import.meta.dir, "../../docs/decisions/014-tariffs.md"), "utf8")
    for (const row of [...PRICING_TABLE, UNKNOWN_PRICING]) {
      expect(row.figures.read).toBeGreaterThan(0)
      expect(row.figures.read).toBeLessThanOrEqual(1)
      expect(row.figures.write).toBeGreaterThanOrEqual(1)
      expect(row.figures.output).toBeGreaterThan(1)
      expect(decision).toMatch(new RegExp(`^\\| ${row.name} \\| .{40,} \\|$`, "m"))
    }
  })

  test("a local model with a price is not free", () => {
    expect(pricingOf(model("ollama-cloud/glm-5", { cost: CLAUDE }))).toMatchObject({
      row: "unknown",
      billing: "tokens",
    })
  })
})

describe("the pricing of a model", () => {
  test("its own prices come first", () => {
    const cost = { input: 10, output: 20, cacheRead: 0.25, cacheWrite: 20 }
    expect(pricingOf(model("anthropic/claude-x", { cost }))).toEqual({
      row: "Anthropic",
      read: 0.025,
      write: 2,
      output: 2,
      lifetimeMs: 300_000,
      minimumTokens: 1024,
      lookback: 20,
      billing: "tokens",
      usdPerMillion: 10,
    })
  })

  test("a subscription without prices has the multiples of its row and no currency", () => {
    const { read, write, output, usdPerMillion } = pricingOf(model("anthropic/claude-sonnet-4-5", { cost: FREE }))
    expect({ read, write, output, usdPerMillion }).toEqual({ read: 0.1, write: 1.25, output: 5, usdPerMillion: 0 })
  })

  test("says where OpenCode has a price and counts what is read from the cache as free", () => {
    const freeReads = (cost: typeof GPT) => pricingOf(model("mine/best", { cost })).freeReads
    expect([GPT, { ...GPT, cacheRead: 0 }, FREE].map(freeReads)).toEqual([undefined, true, undefined])
    // where requests carry marks, most of a request may be reported as written
    const minimax = (npm: string, cost: typeof GPT) => pricingOf(model("anthropic/MiniMax-M3", { npm, cost })).freeReads
    expect(minimax("@ai-sdk/anthropic", GPT)).toBe(true)
    expect(minimax("@ai-sdk/anthropic", { ...GPT, cacheWrite: 3 })).toBeUndefined()
    expect(minimax("@ai-sdk/openai-compatible", GPT)).toBeUndefined()
  })

  test("writing costs as much as a fresh token when only reading has a price", () => {
    expect(pricingOf(model("openai/gpt-5.4", { cost: GPT })).write).toBe(1)
    expect(pricingOf(model("google/gemini-3-pro", { cost: GPT })).write).toBe(1)
    expect(pricingOf(model("mine/best", { cost: GPT }))).toMatchObject({ row: "unknown", read: 0.1, write: 1 })
  })

  test("a write below the price of a fresh token is for keeping it, unless marks say what is written", () => {
    const gemini = { input: 1.5, output: 9, cacheRead: 0.15, cacheWrite: 0.083333 }
    expect(pricingOf(model("openrouter/google/gemini-3.5-flash", { cost: gemini })).write).toBe(1)
    expect(pricingOf(model("mine/gemma", { cost: gemini })).write).toBe(1)
    const minimax = { input: 0.6, output: 2.4, cacheRead: 0.06, cacheWrite: 0.375 }
    expect(pricingOf(model("minimax/MiniMax-M2.7-highspeed", { npm: "@ai-sdk/anthropic", cost: minimax })).write).toBe(
      0.625,
    )
  })

  test("writing costs what the vendor charges when the record omits it", () => {
    const cost = { ...CLAUDE, cacheWrite: 0 }
    expect(pricingOf(model("github-copilot/claude-opus-4.5", { cost })).write).toBe(1.25)
    expect(pricingOf(model("github-copilot/gpt-5.6", { cost: GPT })).write).toBe(1.25)
  })

  test("an unknown model without prices is assumed to have a cache that is expensive to lose", () => {
    expect(pricingOf(undefined)).toEqual({
      row: "unknown",
      read: 0.1,
      write: 1.25,
      output: 4,
      lifetimeMs: 3_600_000,
      minimumTokens: 0,
      billing: "tokens",
      usdPerMillion: 0,
    })
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0])(
    "a price of %p is ignored",
    (price) => {
      const name = "anthropic/claude-sonnet-4-5"
      const usual = pricingOf(model(name, { cost: CLAUDE }))
      const odd = { ...CLAUDE, output: price, cacheRead: price, cacheWrite: price }
      expect(pricingOf(model(name, { cost: odd }))).toEqual({ ...usual, freeReads: true })
      expect(pricingOf(model(name, { cost: { ...CLAUDE, input: price } }))).toEqual({ ...usual, usdPerMillion: 0 })
    },
  )

  test("prices in two units are not compared", () => {
    const cost = { input: 0.000003, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
    const { read, write, output } = pricingOf(model("anthropic/claude-sonnet-4-5", { cost }))
    expect({ read, write, output }).toEqual({ read: 0.1, write: 1.25, output: 5 })
  })

  test("the override has the last word, also at 0", () => {
    const override: PricingOverride = {
      read: 0.5,
      write: 2,
      lifetimeMs: 3_600_000,
      billing: "requests",
    }
    expect(pricingOf(model("anthropic/claude-sonnet-4-5", { cost: CLAUDE }), override)).toMatchObject({
      row: "Anthropic",
      usdPerMillion: 2,
      ...(override as Required<PricingOverride>),
    })
  })
})
