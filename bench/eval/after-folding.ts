// What a digest line or a record holds of what the agent used after the original was folded: recorded sessions are replayed,
// and each path, identifier and line that a later call used, and that then stood in folded originals only, is looked up.

import { digestCandidates } from "../../src/digest/candidate.ts"
import { createEnv } from "../../src/digest/digests.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { readOptions, requestOptionsOf } from "../../src/options.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { costWithRecalls } from "../../src/replay/bill.ts"
import { priceNamed } from "../../src/replay/prices.ts"
import type { Need } from "../../src/replay/recalls.ts"
import { replaySession } from "../../src/replay/replay.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { readExport } from "../../src/store/export.ts"
import type { Recording } from "../../src/store/recording.ts"
import { take } from "../../test/support/conversation.ts"
import type { Opened } from "./backends.ts"

/** Outputs of a session, the largest first, that a model writes digests of. */
const MODEL_OUTPUTS = 40

/** Paths and identifiers, and lines, that later calls used. */
export type NeedCount = { names: number; namesHeld: number; lines: number; linesHeld: number }

export type AfterFolding = {
  /** by what the original was: a tool's output or arguments, or the agent's text */
  byKind: ReadonlyMap<string, NeedCount>
  all: NeedCount
  /** tokens of all digest lines and records */
  tokens: number
  recallsPer100: number
  /** cost with recalls, divided by the cost without the plugin, at Anthropic's prices */
  cost: number
}

/** Replays the sessions with the backend's digests. Those of a model are all written before: live, some would be late. */
export async function afterFolding(paths: readonly string[], { backend }: Opened, budgetTokens: number) {
  const byKind = new Map<string, NeedCount>()
  const all = newCount()
  const sum = { tokens: 0, calls: 0, recalls: 0, cost: 0, without: 0 }
  const options = replayOptions()
  for (const path of paths) {
    const recording = await readExport(path)
    const written = backend ? await writeAll(recording, backend, budgetTokens) : new Map<string, string>()
    const of = (key: string, source: DigestSource) => written.get(key) ?? extract(source).digest
    const env = createEnv(recording.info.directory, { of, queue: undefined })
    const replay = replaySession(conversationOf(recording.messages), options, env, ({ needs, prepared }) => {
      sum.tokens += (prepared?.newFolds ?? []).reduce((tokens, { textTokens }) => tokens + textTokens, 0)
      for (const need of needs) {
        const kind = kindOf(need)
        const counted = byKind.get(kind) ?? newCount()
        byKind.set(kind, counted)
        add(counted, need)
        add(all, need)
      }
    })
    sum.calls += replay.calls
    sum.recalls += replay.recalls.calls
    sum.cost += costWithRecalls(replay)
    sum.without += replay.without.cost
  }
  const found: AfterFolding = {
    ...{ byKind, all, tokens: sum.tokens },
    recallsPer100: (100 * sum.recalls) / Math.max(1, sum.calls),
    cost: sum.cost / Math.max(1, sum.without),
  }
  return found
}

/** The plugin's defaults, at Anthropic's prices. */
export function replayOptions() {
  const namedPrice = priceNamed("anthropic", {})
  return { ...requestOptionsOf(readOptions({}).options), disabledAgents: [], pricingOverride: {}, namedPrice }
}

const newCount = (): NeedCount => ({ names: 0, namesHeld: 0, lines: 0, linesHeld: 0 })

function add(count: NeedCount, { held, isLine }: Need): void {
  if (isLine) {
    count.lines++
    if (held) count.linesHeld++
  } else {
    count.names++
    if (held) count.namesHeld++
  }
}

function kindOf({ source: { part, side } }: Need): string {
  return part.type === "tool" ? `${part.tool} ${side === "input" ? "arguments" : "output"}` : part.type
}

/** The model's digests of the session's largest outputs, by digest key. */
async function writeAll({ messages }: Recording, backend: NonNullable<Opened["backend"]>, budgetTokens: number) {
  const { fresh } = take(createLedger(createEnv()), messages)
  const written = new Map<string, string>()
  const largest = digestCandidates(conversationOf(messages), fresh)
    .filter((candidate) => extract(candidate.source()).isText)
    .sort((a, b) => b.worth - a.worth)
    .slice(0, MODEL_OUTPUTS)
  for (const candidate of largest) {
    const source = candidate.source()
    const answer = await backend.write(promptFor(source, { budgetTokens }), new AbortController().signal)
    const { digest } = extract(source)
    written.set(candidate.key, ground(answer.structured?.summary, source, digest) ?? digest)
  }
  return written
}
