// The prompt that asks a model for a digest. The instruction is the same for every output, so that an engine evaluates
// it only once. The model writes only what code cannot: what the output is about and what matters in it.

import type { WriteRequest } from "../engine/wire/messages.ts"
import type { DigestSource } from "../output/digest.ts"
import { clip } from "../output/lines.ts"
import { redactLine } from "../text/redact/redact.ts"
import { cut, withoutTurns } from "../text/sanitize.ts"
import { condense } from "./condense.ts"

export const INSTRUCTION = "You summarize the output of developer tools. Use only what the output says."

/** Comes after the document, so that a small model has not forgotten it when it answers. */
export const REQUEST = "Summarize this output in one sentence."

/**
 * A model may write digits at one token each. A summary of this length still ends within `MAX_ANSWER_TOKENS` then, so
 * that the answer is complete. Also, the longer a small model's sentence is, the likelier its end is wrong.
 */
export const MAX_SUMMARY_CHARS = 84

const MAX_ANSWER_TOKENS = 96

const MAX_ARGUMENT_CHARS = 160
const MAX_ARGUMENTS_CHARS = 400
/** Arguments that repeat the output or are too large for the prompt. */
const BULK_ARGUMENTS = new Set(["content", "newString", "oldString", "patchText", "edits", "todos"])

/**
 * The prompt for one output, the same for every backend: the sidecar's request. The output is condensed to `budgetTokens`
 * estimated tokens of a small model. Deterministic, and free of every secret that `redact` recognizes.
 */
export function promptFor(source: DigestSource, { budgetTokens }: { budgetTokens: number }): WriteRequest {
  const head = [
    `tool: ${clip(source.tool, 60)}`,
    ...argumentsOf(source.input),
    ...(source.failed ? ["the tool failed"] : []),
    ...(source.exit ? [`exit code: ${source.exit}`] : []),
    "output:",
  ].join("\n")
  const output = condense(source.output, budgetTokens)
  return {
    instruction: INSTRUCTION,
    // an output must not be able to end the user's turn
    text: withoutTurns(`${head}\n${output}\n\n${REQUEST}`),
    // not `gist`: asked for that, the smallest models wrote version numbers and addresses
    answer: { summary: MAX_SUMMARY_CHARS },
    maxTokens: MAX_ANSWER_TOKENS,
  }
}

function argumentsOf(input: DigestSource["input"]): string[] {
  const lines: string[] = []
  let left = MAX_ARGUMENTS_CHARS
  for (const [name, value] of Object.entries(input)) {
    if (BULK_ARGUMENTS.has(name) || !/^(?:string|number|boolean)$/.test(typeof value)) continue
    const text = `${clip(name, 40)}: ${cut(redactLine(String(value)), MAX_ARGUMENT_CHARS)}`
    left -= text.length
    if (left < 0) break
    lines.push(text)
  }
  return lines
}
