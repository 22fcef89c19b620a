// The GBNF grammar of an answer, so that the engine can write only conforming ones. Not node-llama-cpp's converter: it allows
// white space everywhere, and ends on a trigger that takes up to four more steps.

import type { WriteRequest } from "../src/engine/wire/messages.ts"

/**
 * A character of a string: no control characters, no line breaks, and only the two escapes that are necessary. A model
 * that is allowed to write `\n` or `\u0000` does so sooner or later.
 */
const CHARACTER = String.raw`character ::= [^"\\\x00-\x1F\x7F-\x9F] | "\\" ["\\]`

/**
 * A grammar for exactly the answers of this form, with their strings in order. Requires one space after each colon and comma,
 * as in the JSON that models were trained on: without it a small one fails at its first word.
 */
export function grammarFor(answer: WriteRequest["answer"]): string {
  const pairs = Object.entries(answer).map(([name, maxChars], index) => {
    const key = `${index ? ", " : ""}${JSON.stringify(name)}: `
    // GBNF escapes like JSON, except for control characters, which are already escaped in the key
    return `${JSON.stringify(key)} string${maxChars}`
  })
  // rules by length, because llama.cpp limits how many repetitions one rule may have
  const strings = [...new Set(Object.values(answer))].map((max) => `string${max} ::= "\\"" character{0,${max}} "\\""`)
  return [`root ::= "{" ${pairs.join(" ")} "}"`, ...strings, CHARACTER, ""].join("\n")
}
