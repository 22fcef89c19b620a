// What the digest tests share: outputs, candidates, and a model that answers when the test says so.

import type { Backend, Prompt, Speed, Written } from "../../src/digest/backends/backend.ts"
import type { Candidate } from "../../src/digest/candidate.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import type { Shelf } from "../../src/digest/shelf.ts"
import type { Digest, DigestSource } from "../../src/output/digest.ts"

/** A text file's lines, none twice; some 10 tokens a line. */
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

/** A candidate whose key, subject and message are its name unless said otherwise. */
export function candidateOf(
  name: string,
  { output, ...over }: Partial<Candidate> & { output?: string } = {},
): Candidate {
  return {
    key: `key-${name}`,
    sessionID: "ses_1",
    messageID: `msg_${name}`,
    subject: `build ${name}`,
    kind: "command",
    tokens: 300,
    worth: 5,
    source: () => sourceOf(name, output === undefined ? {} : { output }),
    ...over,
  }
}

/** A prompt of the tests' own, which no change of the real one touches. */
export function promptOf(name: string, lines?: number): Prompt {
  return {
    kind: "command",
    instruction: "Say what this is about.",
    text: outputOf(name, lines),
    schema: {
      type: "object",
      properties: {
        gist: { type: "string", maxLength: 120 },
        facts: { type: "array", maxItems: 4, items: { type: "string", maxLength: 50 } },
      },
      required: ["gist", "facts"],
      additionalProperties: false,
    },
    maxTokens: 96,
  }
}

/** What a model would answer about `outputOf(name)`, every word of it true. */
export const draftOf = (name: string) => ({
  summary: `In step 3 the shop compiled src/${name}/part3.ts`,
  facts: [`src/${name}/part7.ts`],
})

/** The digest that comes of it. */
export function writtenOf(name: string): Digest {
  return ground(draftOf(name), sourceOf(name), extract(sourceOf(name))).digest
}

/** One call of a scripted model's `write`, which ends when the test says how. */
export type Call = {
  prompt: Prompt
  signal: AbortSignal
  /** the name of the output it is about */
  name: string
  answer(structured?: unknown): void
  fail(error: unknown): void
}

/** A model that does nothing by itself. `next` resolves with its next call; an aborted call rejects as a backend's does. */
export function createScripted(
  over: Partial<Pick<Backend, "sharesProcessor" | "mostTokens">> & { speed?: Speed } = {},
) {
  const calls: Call[] = []
  const waiting: ((call: Call) => void)[] = []
  const pauses: boolean[] = []
  let seen = 0
  let id = "scripted/one"
  let busy = 0
  let mostBusy = 0
  const backend: Backend = {
    get id() {
      return id
    },
    state: { kind: "ready" },
    speed: over.speed,
    sharesProcessor: over.sharesProcessor ?? true,
    mostTokens: over.mostTokens ?? 1500,
    write(prompt, signal) {
      mostBusy = Math.max(mostBusy, ++busy)
      return new Promise<Written>((resolve, reject) => {
        const name = /filePath: \/notes\/(\S+)\.txt/.exec(prompt.text)?.[1] ?? ""
        const call: Call = {
          prompt,
          signal,
          name,
          answer(structured = draftOf(name)) {
            busy--
            const usage = { promptTokens: 200, outputTokens: 40 }
            resolve({ structured, schemaOk: structured !== null, usage, elapsedMs: 1000 })
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
    unload: async () => {},
    close: async () => {},
  }
  return {
    backend,
    calls,
    pauses,
    get mostBusy() {
      return mostBusy
    },
    rename: (name: string) => {
      id = name
    },
    /** The next call not handed out yet. */
    next(): Promise<Call> {
      const call = calls[seen++]
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

/** A shelf that remembers, and what was asked of it. */
export function createShelf(known: Record<string, Digest> = {}) {
  const digests = new Map(Object.entries(known))
  const asked: { writer: string; keys: string[] }[] = []
  const shelf: Shelf = {
    async loadDigests(writer, keys) {
      asked.push({ writer, keys: [...keys] })
      return new Map(keys.flatMap((key) => [[key, digests.get(`${writer} ${key}`)] as const]).filter(isFound))
    },
    saveDigest: (writer, key, digest) => void digests.set(`${writer} ${key}`, digest),
  }
  return { shelf, asked, digests }
}

const isFound = (entry: readonly [string, Digest | undefined]): entry is [string, Digest] => entry[1] !== undefined
