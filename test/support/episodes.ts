// For the end-to-end tests of episodes: what a request is made of, piece by piece, and the records in it.

import type { ModelSpec } from "../opencode/config.ts"
import { type Message, type ModelRequest, messagesOf } from "../opencode/request.ts"

/** OpenCode compacts at 58,000 tokens. */
const LIMIT = { context: 60_000, output: 2_000 }
export const CEILING_TOKENS = LIMIT.context - LIMIT.output

export const CHAT_60K = "scripted/small"
export const CLAUDE_60K = "scripted-anthropic/claude-haiku-4-5"
/** As many recalls as one likes fit into it. */
export const CHAT_LARGE = "scripted/large"

export const EPISODE_MODELS: readonly ModelSpec[] = [
  { provider: "scripted", id: "small", npm: "@ai-sdk/openai-compatible", limit: LIMIT },
  { provider: "scripted", id: "large", npm: "@ai-sdk/openai-compatible", limit: { context: 2_000_000, output: 8_000 } },
  { provider: "mistral", id: "mistral-large-latest", npm: "@ai-sdk/mistral", limit: LIMIT },
  { provider: "openai", id: "gpt-5", npm: "@ai-sdk/openai", limit: LIMIT, reasoning: true },
  { provider: "google", id: "gemini-3-pro-preview", npm: "@ai-sdk/google", limit: LIMIT, reasoning: true },
  { provider: "scripted", id: "own-name", apiID: "gemma-3-27b-it", npm: "@ai-sdk/openai-compatible", limit: LIMIT },
  {
    provider: "amazon-bedrock",
    id: "us.meta.llama4-maverick-17b-instruct-v1:0",
    npm: "@ai-sdk/amazon-bedrock",
    limit: LIMIT,
  },
  { provider: "github-copilot", id: "gpt-4.1", npm: "@ai-sdk/openai-compatible", limit: LIMIT },
  { provider: "scripted-anthropic", id: "claude-haiku-4-5", npm: "@ai-sdk/anthropic", limit: LIMIT, reasoning: true },
  { provider: "scripted-anthropic", id: "claude-sonnet-5-5", npm: "@ai-sdk/anthropic", reasoning: true },
]

/** Without snapshots and language servers a step takes half the time. */
export const EPISODE_CONFIG = { snapshot: false, lsp: false, formatter: false }

const HUD = /(?:\n\n)?<hud>[\s\S]*?<\/hud>/g
/** Numbers come again where messages were deleted: `9-12,11-15`. */
const RECORD = /^Steps? ([\d,-]+) of this session, kept by hudfold as a record .*:$/gm

/**
 * The conversation as pieces in order, without HUDs: texts, calls, results, thinking. Two requests with the same beginning
 * begin with the same pieces, however the protocol joins them to messages.
 */
export function piecesOf(request: ModelRequest): string[] {
  return pieces(request, withoutHud)
}

/** The same with HUDs. */
export function wholePiecesOf(request: ModelRequest): string[] {
  return pieces(request, (block) => block)
}

function pieces(request: ModelRequest, shown: (block: object) => object | undefined): string[] {
  return messagesOf(request).flatMap((message) => {
    const { content, ...rest } = message
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as object[])
    const kept = blocks.map(shown).filter((block) => block !== undefined)
    // a result's message is its text alone
    const isWhole = message.role === "tool" || message.tool_calls !== undefined
    return isWhole
      ? [JSON.stringify({ ...rest, kept })]
      : kept.map((block) => JSON.stringify({ role: message.role, block }))
  })
}

function withoutHud(block: object): object | undefined {
  const { text, content } = block as { text?: unknown; content?: unknown }
  const key = typeof text === "string" ? "text" : "content"
  const value = key === "text" ? text : content
  if (typeof value !== "string") return block
  const rest = value.replace(HUD, "")
  return rest === "" && value !== "" ? undefined : { ...block, [key]: rest }
}

/** Number of pieces at which two requests begin alike. */
export function sharedPieces(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((piece, index) => piece !== other[index])
  return at < 0 ? one.length : at
}

/** The numbers of the steps that stand in records. */
export function recordedSteps(request: ModelRequest): number[] {
  return textsOf(request).flatMap((text) =>
    [...text.matchAll(RECORD)].flatMap(([, steps = ""]) =>
      steps.split(",").flatMap((range) => {
        const [first = 0, last = first] = range.split("-").map(Number)
        return Array.from({ length: last - first + 1 }, (_, at) => first + at)
      }),
    ),
  )
}

/** The user's texts in the request, records and HUDs aside, in order. */
export function wordsOf(request: ModelRequest): string[] {
  return messagesOf(request)
    .filter(({ role }) => role === "user")
    .flatMap((message) => textsIn(message, ["text"]))
    .map((text) => text.replace(HUD, ""))
    .filter((text) => text !== "" && text.search(RECORD) !== 0)
}

function textsOf(request: ModelRequest): string[] {
  return messagesOf(request).flatMap((message) => textsIn(message, ["text", "content"]))
}

function textsIn({ content }: Message, keys: readonly ("text" | "content")[]): string[] {
  if (typeof content === "string") return [content]
  const blocks = (Array.isArray(content) ? content : []) as { text?: unknown; content?: unknown }[]
  return blocks.flatMap((block) => keys.map((key) => block[key]).filter((text) => typeof text === "string"))
}
