// What a model is asked when it shall write a digest. The instruction is the same for every output, so that an engine
// evaluates it once. The model writes only what code cannot: what the output is about, and what in it matters. Its
// kind and its verdict are known without it.

import type { DigestSource } from "../output/digest.ts"
import { withoutTurns } from "../text/markers.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line } from "../text/text.ts"
import { condense } from "./condense.ts"

/** What a model is asked. */
export type Prompt = {
  /** kind of the tool output; for logs */
  kind: string
  /** the same for every prompt of a version */
  instruction: string
  /** the document: tool, arguments and output, cut to the budget, without secrets */
  text: string
  /** JSON schema of the answer */
  schema: Record<string, unknown>
  /** upper bound of the answer, in the model's tokens */
  maxTokens: number
}

export type PromptOptions = {
  /** size of the document, in tokens of a small model, as estimated */
  budgetTokens: number
  /** what the user asked for */
  task?: string
}

/** Part of the key digests are kept by: raise it with every change to what a model is given. */
export const PROMPT_VERSION = 2

export const INSTRUCTION = "You summarize the output of developer tools. Use only what the output says."

/** After the document, where a small model still knows it. */
export const REQUEST = "Summarize this output in one sentence, then copy up to three important facts from it."

/**
 * Characters of the summary. Not more, because of digits a model may write one a token: so long a summary always ends
 * within the 96 tokens, and the answer is of the form asked for. And a small model's sentence goes wrong at its end.
 */
export const SUMMARY_CHARS = 84
/** Characters of a fact, and facts. What is cut off of them is left out. */
const FACT_CHARS = 50
const MOST_FACTS = 3

/** `summary`, not `gist`: at that word the smallest models wrote version numbers and addresses. */
const SCHEMA = {
  type: "object",
  properties: {
    summary: { type: "string", maxLength: SUMMARY_CHARS },
    facts: { type: "array", maxItems: MOST_FACTS, items: { type: "string", maxLength: FACT_CHARS } },
  },
  required: ["summary", "facts"],
  additionalProperties: false,
}
const MAX_TOKENS = 96

const TASK_CHARS = 160
const ARGUMENT_CHARS = 160
const ARGUMENTS_CHARS = 400
/** Arguments that are the output over again, or more of it than a model has room for. */
const BULK = new Set(["content", "newString", "oldString", "patchText", "edits", "todos"])

/** The prompt for one output; the same source and options give the same prompt. Holds no secret that `redact` knows. */
export function promptFor(source: DigestSource, options: PromptOptions): Prompt {
  const head = [
    ...(options.task === undefined ? [] : [`task: ${cut(redact(line(options.task)), TASK_CHARS)}`]),
    `tool: ${cut(line(source.tool), 60)}`,
    ...argumentsOf(source.input),
    ...(source.failed ? ["the tool failed"] : []),
    ...(source.exit ? [`exit code: ${source.exit}`] : []),
    "output:",
  ].join("\n")
  const output = condense(source.output, options.budgetTokens, { words: soughtBy(source.input) })
  return {
    kind: source.kind,
    instruction: INSTRUCTION,
    // an output must not end the user's turn
    text: withoutTurns(`${head}\n${output}\n\n${REQUEST}`),
    schema: structuredClone(SCHEMA),
    maxTokens: MAX_TOKENS,
  }
}

/** The words of a search. */
function soughtBy(input: DigestSource["input"]): string[] {
  const sought = [input.pattern, input.query].filter((value) => typeof value === "string")
  return sought.flatMap((text) => text.slice(0, 200).split(/[^\p{L}\p{N}_./-]+/u)).slice(0, 20)
}

function argumentsOf(input: DigestSource["input"]): string[] {
  const said: string[] = []
  let left = ARGUMENTS_CHARS
  for (const [name, value] of Object.entries(input)) {
    if (BULK.has(name) || (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean"))
      continue
    const text = `${cut(line(name), 40)}: ${cut(redact(line(String(value))), ARGUMENT_CHARS)}`
    left -= text.length
    if (left < 0) break
    said.push(text)
  }
  return said
}
