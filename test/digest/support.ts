// Shared by the digest tests: outputs, candidates, and a model that answers when the test tells it to.

import type { Backend, Speed, Written } from "../../src/digest/backends/backend.ts"
import type { DigestCandidate } from "../../src/digest/candidate.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import type { WriteRequest } from "../../src/engine/wire/messages.ts"
import type { DigestSource } from "../../src/output/digest.ts"

/** A text file without repeated lines, about 10 tokens each. */
export function outputOf(name: string, lines = 30): string {
  const steps = Array.from({ length: lines }, (_, n) => `${name} step ${n}: the shop compiled src/${name}/part${n}.ts`)
  return [`# Notes on ${name}`, "", ...steps].join("\n")
}

export function sourceOf(name: string, over: Partial<DigestSource> = {}): DigestSource {
  return {
    tool: "read",
    kind: "read",
    input: { filePath: `/notes/${name}.txt` },
    output: outputOf(name),
    failed: false,
    ...over,
  }
}

/** A candidate whose key, subject and message derive from its name by default. */
export function candidateOf(
  name: string,
  { output, ...over }: Partial<DigestCandidate> & { output?: string } = {},
): DigestCandidate {
  return {
    key: `key-${name}`,
    sessionID: "ses_1",
    messageID: `msg_${name}`,
    subject: `build ${name}`,
    worth: 5,
    source: () => sourceOf(name, output === undefined ? {} : { output }),
    ...over,
  }
}

/** A prompt that does not change with the real one. */
export function promptOf(name: string, lines?: number): WriteRequest {
  return {
    instruction: "Say what this is about.",
    text: outputOf(name, lines),
    answer: { gist: 120, fact: 50 },
    maxTokens: 96,
  }
}

/** A truthful answer of a model about `outputOf(name)`. */
export const draftOf = (name: string) => ({
  summary: `In step 3 the shop compiled src/${name}/part3.ts`,
})

/** The digest that this answer yields. */
export function writtenOf(name: string): string {
  return ground(draftOf(name).summary, sourceOf(name), extract(sourceOf(name)).digest) as string
}

/** A call of a scripted model's `write`. The test decides how it ends. */
export type Call = {
  prompt: WriteRequest
  signal: AbortSignal
  /** the name of the output it is about */
  name: string
  answer(structured?: Record<string, string> | null): void
  fail(error: unknown): void
}

/** A model that does nothing by itself. Aborted calls reject, as with a real backend. */
export function createScripted(
  over: Partial<Pick<Backend, "sharesProcessor" | "maxDocumentTokens">> & { speed?: Speed } = {},
) {
  const calls: Call[] = []
  const waiting: ((call: Call) => void)[] = []
  const pauses: boolean[] = []
  let seen = 0
  let busy = 0
  let mostBusy = 0
  const backend: Backend = {
    model: "one",
    state: { kind: "ready" },
    speed: over.speed,
    sharesProcessor: over.sharesProcessor ?? true,
    maxDocumentTokens: over.maxDocumentTokens ?? 1500,
    write(prompt, signal) {
      mostBusy = Math.max(mostBusy, ++busy)
      return new Promise<Written>((resolve, reject) => {
        const name = /filePath: \/notes\/(\S+)\.txt/.exec(prompt.text)?.[1] ?? ""
        const call: Call = {
          prompt,
          signal,
          name,
          answer(structured: Record<string, string> | null = draftOf(name)) {
            busy--
            resolve({ structured })
          },
          fail(error) {
            busy--
            reject(error)
          },
        }
        signal.addEventListener("abort", () => call.fail(signal.reason), { once: true })
        calls.push(call)
        waiting.shift()?.(call)
      })
    },
    pause: (paused) => pauses.push(paused),
    close: async () => {},
  }
  return {
    backend,
    calls,
    pauses,
    get mostBusy() {
      return mostBusy
    },
    /** Resolves with the next call that was not returned yet. */
    next(): Promise<Call> {
      const call = calls[seen++]
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}
