// Makes a document fit the context. An engine given too long a prompt drops the whole document without a word and still
// answers in the right form, so tokens are counted first and the middle is left out.

import type { LlamaModel, Token } from "node-llama-cpp"

export type Fitted = {
  prompt: Token[]
  /** tokens of the document left out, as estimated from those kept */
  cutTokens: number
}

/** Less of a document than this is not worth asking about. */
const LEAST_TOKENS = 16

const GAP = "\n[… left out …]\n"

/**
 * No token of a document stands for more characters on average. A longer text is not tokenized whole: some tokenizers
 * recurse over what they are given, and all of them keep the process from hearing a cancellation meanwhile.
 */
const MOST_CHARACTERS_PER_TOKEN = 12

/**
 * The prompt with as much of the document as fits in `roomTokens`, half from its head and half from its tail, at line
 * ends where that costs little. The same document gives the same prompt. Undefined when there is room for next to nothing.
 */
export function fitDocument(
  text: string,
  roomTokens: number,
  promptOf: (text: string) => Token[],
  model: Pick<LlamaModel, "tokenize" | "detokenize">,
): Fitted | undefined {
  if (text.length <= roomTokens * MOST_CHARACTERS_PER_TOKEN) {
    const prompt = promptOf(text)
    if (prompt.length <= roomTokens) return { prompt, cutTokens: 0 }
  }
  const emptyTokens = promptOf(GAP).length
  let keepTokens = roomTokens - emptyTokens
  while (keepTokens >= LEAST_TOKENS) {
    const half = Math.floor(keepTokens / 2)
    const head = headOf(text, half, model)
    const tail = tailOf(text.slice(head.length), half, model)
    const prompt = promptOf(head + GAP + tail)
    if (prompt.length <= roomTokens) {
      const kept = head.length + tail.length
      const perCharacter = kept ? (prompt.length - emptyTokens) / kept : 1
      return { prompt, cutTokens: Math.max(1, Math.round((text.length - kept) * perCharacter)) }
    }
    // tokens at the seams are other ones than those counted
    keepTokens -= prompt.length - roomTokens + 2
  }
}

function headOf(text: string, tokens: number, model: Pick<LlamaModel, "tokenize" | "detokenize">): string {
  const looked = text.slice(0, tokens * MOST_CHARACTERS_PER_TOKEN)
  const length = model.detokenize(model.tokenize(looked).slice(0, tokens)).length
  const head = looked.slice(0, length)
  const lineEnd = head.lastIndexOf("\n")
  return lineEnd > head.length / 2 ? head.slice(0, lineEnd) : head.replace(/[\uD800-\uDBFF]$/, "")
}

function tailOf(text: string, tokens: number, model: Pick<LlamaModel, "tokenize" | "detokenize">): string {
  const looked = text.slice(-tokens * MOST_CHARACTERS_PER_TOKEN)
  const length = model.detokenize(model.tokenize(looked).slice(-tokens)).length
  const tail = length === 0 ? "" : looked.slice(-length)
  const lineStart = tail.indexOf("\n")
  return lineStart >= 0 && lineStart < tail.length / 2
    ? tail.slice(lineStart + 1)
    : tail.replace(/^[\uDC00-\uDFFF]/, "")
}
