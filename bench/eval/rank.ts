// How a model ranks candidates: a GGUF file by likelihood, a server, which tells no likelihoods, by the numbers it answers.

import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Backend } from "../../src/digest/backends/backend.ts"
import type { Rank } from "./jobs.ts"
import type { LikelihoodRequest } from "./likelihood.ts"

const NEXT = "What the agent needs of it next: "
/** The text without a task, to which the likelihood with one is compared. */
const NEUTRAL = "An output of a tool. What somebody needs of it: "

export type Ranking = { rank: Rank; close(): void }

/** Without a backend nothing is ranked. */
export function openRanking(spec: string, backend: Backend | undefined, threads: number): Ranking {
  if (!backend) return { rank: async () => [], close: () => {} }
  if (!spec.endsWith(".gguf")) return { rank: byNumbers(backend), close: () => {} }
  const script = fileURLToPath(new URL("likelihood.ts", import.meta.url))
  const child = spawn(process.execPath, [script, spec, String(threads || 1)], { stdio: ["pipe", "pipe", "inherit"] })
  // a program that has ended is reported below
  child.stdin.on("error", () => {})
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async rank(task, candidates) {
      const request: LikelihoodRequest = { text: `${task}\n${NEXT}`, neutral: NEUTRAL, candidates }
      child.stdin.write(`${JSON.stringify(request)}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error(`${spec}: the engine has ended; is it installed (bun scripts/sidecar.ts)?`)
      return JSON.parse(value) as number[]
    },
    close: () => child.stdin.end(),
  }
}

function byNumbers(backend: Backend): Rank {
  return async (task, candidates) => {
    const { structured } = await backend.write(
      {
        instruction: "You choose what a coding agent needs next.",
        text: `${task}\n${candidates.map((one, at) => `${at + 1}: ${one}`).join("\n")}\n\nWrite the numbers of what the agent needs next, the most needed first, separated by commas.`,
        answer: { numbers: 60 },
        maxTokens: 96,
      },
      new AbortController().signal,
    )
    return scoresOf(structured?.numbers ?? "", candidates.length)
  }
}

/** The first number has the highest score; what is not mentioned has none, and keeps its order. */
export function scoresOf(answer: string, count: number): number[] {
  const scores = Array.from({ length: count }, () => 0)
  for (const [at, number] of (answer.match(/\d+/g) ?? []).entries())
    if (scores[Number(number) - 1] === 0) scores[Number(number) - 1] = 1 / (at + 1)
  return scores
}
