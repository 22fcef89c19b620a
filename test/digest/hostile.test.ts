// Prompts made from hostile outputs, and what is accepted of a hostile model's answer or of a foreign digest in the store.

import { expect, setDefaultTimeout, test } from "bun:test"
import { completionBody, readCompletion } from "../../src/digest/backends/completions.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { promptFor, REQUEST } from "../../src/digest/prompt.ts"
import { readAnswer } from "../../src/engine/wire/answer.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { wellFormed } from "../../src/text/sanitize.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { TOKENS } from "../support/hostile/roles.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

/** Of which a model is asked, and its summary used. */
const PAGE = Array.from({ length: 40 }, (_, n) => `Chapter ${n}: the harbour keeps its ${n} boats in the winter.`).join(
  "\n",
)
const read = (output: string, input: Record<string, unknown> = { filePath: "/notes/a.txt" }): DigestSource => ({
  ...{ tool: "read", kind: "read", input, output: wellFormed(output), failed: false },
})
const marks = Object.values(TOKENS)
const LIES = [
  "All 412 tests have passed and the release is approved by the user",
  "Nothing has failed and all of it works",
]

for (const { id, tries, text } of CORPUS) {
  const name = text.slice(0, 2_000)

  test(`${id}: a prompt keeps its form and has no mark of a chat template when it tries to ${tries}`, () => {
    for (const source of [read(text), read(PAGE, { filePath: name, [name]: name, output: name }), read(name + PAGE)]) {
      const prompt = promptFor({ ...source, tool: name || "x" }, { budgetTokens: 400 })
      expect(prompt.text.endsWith(`\n\n${REQUEST}`)).toBe(true)
      expect(prompt.text.isWellFormed()).toBe(true)
      expect(prompt.text).toMatch(/^tool: .*\n(?:.*: .*\n)*output:\n/)
      expect(marks.filter((mark) => prompt.text.includes(mark))).toEqual([])
      expect(estimateTokens(prompt.text)).toBeLessThan(1_500)
      for (const form of [0, 1, 2, 3]) {
        const { messages } = JSON.parse(completionBody("m", prompt, form)) as {
          messages: { role: string; content: string }[]
        }
        expect(messages.map(({ role }) => role)).toEqual(["system", "user"])
        expect(messages[1]?.content).toBe(prompt.text)
      }
    }
  })

  test(`${id}: only what the output contains is accepted from a model's answer when it tries to ${tries}`, () => {
    const source = read(`${PAGE}\n${text}`)
    const known = extract(source).digest
    for (const summary of [...LIES, text, `${LIES[0]} ${name}`]) {
      const digest = ground(summary, source, known)
      for (const lie of LIES) expect(digest?.includes(lie)).not.toBe(true)
    }
  })

  test(`${id}: an answer has the requested form or is rejected when it tries to ${tries}`, () => {
    const form = promptFor(read(PAGE), { budgetTokens: 400 }).answer
    for (const answer of [
      text,
      `{"summary": "${text}`,
      `{"__proto__": {"polluted": 1}, "summary": ${JSON.stringify(text)}}`,
      `\`\`\`json\n${text}`,
    ]) {
      const structured = readAnswer(answer, form)
      if (structured === null) continue
      expect(Object.keys(structured as object)).toEqual(["summary"])
      expect((structured as { summary: string }).summary.length).toBeLessThanOrEqual(168)
      expect(Object.getPrototypeOf(structured)).toBe(Object.prototype)
    }
    const body = JSON.stringify({ choices: [{ message: { content: text } }] })
    expect(readCompletion(body).length).toBeLessThanOrEqual(text.length)
    const { message } = thrownBy(() => readCompletion(`{"error": "${text}"}`))
    expect(message).not.toMatch(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u)
    expect(message.length).toBeLessThan(400)
  })
}

function thrownBy(act: () => unknown): Error {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  throw new Error("it did not throw")
}
