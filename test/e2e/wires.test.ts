// Every provider's template accepts a request with records in it: roles alternate where they must, each call has its result,
// and nothing is empty. Folding is as eager as it can be, so that kept and folded steps stand in all kinds of neighbourhoods.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ResponsesItem } from "../opencode/as-chat.ts"
import { randomWork, WORK_FILES } from "../opencode/long-work.ts"
import type { ModelRequest } from "../opencode/request.ts"
import { faultsOf, type Template } from "../opencode/roles.ts"
import {
  CHAT_60K,
  CLAUDE_60K,
  EPISODE_CONFIG,
  EPISODE_MODELS,
  recordedSteps,
  wholePiecesOf,
  wordsOf,
} from "../support/episodes.ts"
import { EAGER } from "../support/folds.ts"
import { withoutRare } from "../support/large.ts"
import { sample, sized } from "../support/size.ts"
import { converse, type ServedWorld, serveWorld } from "../support/world.ts"

const PATIENCE_MS = 600_000
const STEPS = sized(20, 120, 30)
const BINDING = "scripted-anthropic/claude-sonnet-5-5"

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ plugin: EAGER, files: WORK_FILES, models: EPISODE_MODELS, config: EPISODE_CONFIG })
}, PATIENCE_MS)
afterAll(() => here.close())

/** A random session; the requests of each turn. */
async function play(model: string, seed: number): Promise<{ turns: ModelRequest[][]; prompts: string[] }> {
  const turns: ModelRequest[][] = []
  const prompts: string[] = []
  let session: string | undefined
  for (const { prompt, replies } of randomWork(STEPS, seed)) {
    const turn = await converse(here, prompt, replies, { model, ...(session ? { session } : {}) })
    session = turn.session
    turns.push(turn.requests)
    prompts.push(prompt)
  }
  expect(here.provider.from("compaction", session)).toEqual([])
  return { turns, prompts }
}

const WIRES: (readonly [Template, string, number])[] = [
  ["mistral", "mistral/mistral-large-latest", 1],
  ["gemma", "scripted/own-name", 2],
  ["bedrock", "amazon-bedrock/us.meta.llama4-maverick-17b-instruct-v1:0", 10],
  ["copilot", "github-copilot/gpt-4.1", 3],
  ["responses", "openai/gpt-5", 7],
  ["gemini", "google/gemini-3-pro-preview", 8],
  ["chat", CHAT_60K, 4],
  ["anthropic", CLAUDE_60K, 5],
]

const DAILY = sample(WIRES, ["mistral", "gemma", "copilot", "responses", "gemini", "bedrock"])

describe.each(withoutRare(DAILY, ["mistral", "copilot", "gemini", "bedrock"]))(
  "a random session on the %s wire",
  (wire, model, seed) => {
    test(
      "is accepted by the provider, and has the user's words in all of its requests",
      async () => {
        const { turns, prompts } = await play(model, seed)
        const requests = turns.flat()
        const faults = turns.flatMap((turn) => turn.flatMap((request, at) => faultsOf(request, wire, at === 0)))
        expect(faults).toEqual([])
        turns.forEach((turn, at) => {
          for (const request of turn) expect(wordsOf(request)).toEqual(prompts.slice(0, at + 1))
        })
        expect(recordedSteps(requests.at(-1) as ModelRequest).length).toBeGreaterThan(STEPS / 4)
      },
      PATIENCE_MS,
    )
  },
)

test(
  "for a model that drops its thinking behind a user's message, no such message follows the newest thinking",
  async () => {
    const { turns } = await play("openai/gpt-5", 9)
    let shown = 0
    for (const request of turns.flat()) {
      const { input } = JSON.parse(request.raw) as { input: ResponsesItem[] }
      const newest = input.findLastIndex(({ type }) => type === "reasoning")
      const prompt = input.findLastIndex((item) => isPrompt(JSON.stringify(item), request))
      const huds = input.flatMap((item, at) => (JSON.stringify(item).includes("<hud>") ? [at] : []))
      if (huds.length === 0 || newest < prompt) continue
      expect(huds).toEqual([input.length - 1])
      expect(input.findLastIndex(({ role }) => role === "user")).toBeLessThan(newest)
      shown++
    }
    expect(shown).toBeGreaterThan(STEPS / 4)
  },
  PATIENCE_MS,
)

test(
  "for a Claude that binds thinking, nothing before a thinking block of the running turn changes",
  async () => {
    const { turns } = await play(BINDING, 6)
    let bound = 0
    for (const turn of turns)
      turn.slice(1).forEach((now, at) => {
        const before = wholePiecesOf(turn[at] as ModelRequest)
        const again = wholePiecesOf(now)
        const prompt = before.findLastIndex((piece) => isPrompt(piece, now))
        const last = before.findLastIndex((piece) => piece.includes('"type":"thinking"'))
        if (last < prompt) return
        expect(again.slice(0, last + 1)).toEqual(before.slice(0, last + 1))
        bound++
      })
    expect(turns.flat().flatMap((request) => faultsOf(request, "anthropic", false))).toEqual([])
    expect(bound).toBeGreaterThan(STEPS / 6)
    expect(recordedSteps(turns.at(-1)?.at(-1) as ModelRequest).length).toBeGreaterThan(0)
  },
  PATIENCE_MS,
)

/** Whether the piece is the newest prompt of the request. */
function isPrompt(piece: string, request: ModelRequest): boolean {
  return piece.includes(JSON.stringify(wordsOf(request).at(-1)))
}
