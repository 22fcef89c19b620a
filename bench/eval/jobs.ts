// Jobs for a model, compared at equal tokens: what the line of a folded output says if the model writes a sentence, chooses
// lines or ranks names, and if it does nothing. What counts are the names and lines that later calls used, after every text
// that contains them was folded.

import { condense } from "../../src/digest/condense.ts"
import { createEnv } from "../../src/digest/digests.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import { keptTexts } from "../../src/fold/cut.ts"
import { chooseNames, MAX_NAMES_TOKENS, NAMES_SHARE, namesUsed } from "../../src/fold/names.ts"
import { beginningOf, DIGEST_TOKENS } from "../../src/fold/record.ts"
import { foldSource } from "../../src/fold/sources.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { type ReplayedCall, replaySession } from "../../src/replay/replay.ts"
import { writtenIn } from "../../src/session/arguments.ts"
import type { ToolPart } from "../../src/session/conversation.ts"
import { readExport } from "../../src/store/export.ts"
import type { Recording } from "../../src/store/recording.ts"
import { plural } from "../../src/text/format.ts"
import { cut, oneLine } from "../../src/text/sanitize.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { generator } from "../sessions.ts"
import { replayOptions } from "./after-folding.ts"
import type { Opened } from "./backends.ts"

/** A model's score of each candidate, given what the agent works on. */
export type Rank = (task: string, candidates: readonly string[]) => Promise<readonly number[]>

export type Need = { text: string; isLine: boolean }

/** A folded output that was needed later. */
export type Case = {
  session: string
  source: DigestSource
  /** what the agent worked on when the output was folded */
  task: string
  /** names that stand nowhere else in the request, as the rule ranks them */
  names: readonly string[]
  /** of the line, after the name of the tool: what a digest and names get in the plugin */
  budgetTokens: number
  needs: readonly Need[]
}

/** `ms`: how long the model took; 0 where it was not asked. */
export type Line = { text: string; ms: number }
/** `rule` is the plugin without a model. Beside the four jobs, what they are to be compared with. */
export const JOBS = [
  "rule",
  "nothing",
  "sentence",
  "lines",
  "lines by rule",
  "names",
  "names and rule",
  "best names",
  "best lines",
] as const
export type Job = (typeof JOBS)[number]
export type Held = { session: string; tokens: number; ms: number; names: number; lines: number }

/** Names that a model ranks; the rule has put the worst of hundreds last. */
const MAX_NAMES = 20
const MAX_LINES = 8
const MAX_LINE_CHARS = 200
const MAX_TASK_CHARS = 300
const MAX_WORDS_CHARS = 500

/** The folded outputs that were needed later, of all sessions: `count` of them in a random order. */
export async function casesOf(paths: readonly string[], count: number, seed: number): Promise<Case[]> {
  const found: Case[] = []
  for (const path of paths) found.push(...casesIn(path, await readExport(path)))
  const random = generator(seed)
  return found
    .map((one) => ({ one, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ one }) => one)
}

export function casesIn(session: string, { info, messages }: Pick<Recording, "info" | "messages">): Case[] {
  const env = createEnv(info.directory, { of: (_key, source) => extract(source).digest, queue: undefined })
  const folded = new Map<ToolPart, { at: ReplayedCall; share: number; partID: string }>()
  const needed = new Map<ToolPart, Map<string, Need>>()
  replaySession(conversationOf(messages), replayOptions(), env, (at) => {
    const cut = at.prepared?.newFolds ?? []
    const cutTokens = cut.reduce((sum, { tokens }) => sum + tokens, 0)
    for (const { partID, messageID } of cut)
      for (const part of at.messages.find(({ id }) => id === messageID)?.parts ?? [])
        if (part.type === "tool" && !folded.has(part) && (partID === messageID || partID === part.id))
          folded.set(part, { at, share: Math.min(MAX_NAMES_TOKENS / cutTokens, NAMES_SHARE), partID })
    for (const { text, isLine, source } of at.needs) {
      if (source.part.type !== "tool" || source.side !== "output") continue
      const needs = needed.get(source.part) ?? new Map<string, Need>()
      needed.set(source.part, needs.set(text, { text, isLine }))
    }
  })
  return [...needed].flatMap(([part, needs]): Case[] => {
    const { at, share, partID } = folded.get(part) ?? {}
    if (!at?.prepared || share === undefined || partID === undefined) return []
    const found = foldSource(part, undefined)
    const source = found.whole()
    const kept = keptTexts(at.messages, at.prepared.next.folding.folds, [{ partID }])
    const shown = kept.join("\n")
    const open = [...needs.values()].filter(({ text }) => !shown.includes(text))
    if (open.length === 0) return []
    return [
      {
        session,
        source,
        task: taskOf(at, source),
        names: chooseNames([found], Number.POSITIVE_INFINITY, { kept, used: namesUsed(at.messages) }).get(found) ?? [],
        budgetTokens: DIGEST_TOKENS + share * tokensOfLength(source.output.length),
        needs: open,
      },
    ]
  })
}

/** What the user asked last, and what the agent wrote last. */
function taskOf({ messages }: ReplayedCall, { tool, input }: DigestSource): string {
  const asked = messages.findLast(({ kind }) => kind === "user")
  const last = messages.slice(-3).flatMap(writtenIn).join("\n").slice(-MAX_WORDS_CHARS)
  return [
    `Task: ${cut(
      oneLine(
        asked
          ? writtenIn(asked)
              .join(" ")
              .slice(0, 4 * MAX_TASK_CHARS)
          : "",
      ),
      MAX_TASK_CHARS,
    )}`,
    `Last steps: ${oneLine(last)}`,
    `An earlier output of ${tool}: ${cut(oneLine(JSON.stringify(input)), 160)}`,
  ].join("\n")
}

/** The line that each job yields. */
export async function linesOf(
  one: Case,
  { backend }: Opened,
  rank: Rank,
  documentTokens: number,
): Promise<Record<Job, Line>> {
  const { source, names, task, budgetTokens } = one
  const { digest: extracted, isText } = extract(source)
  const digest = beginningOf(extracted)
  const size = plural(source.output.split("\n").length, "line")
  const neededIn = (candidate: string) => one.needs.filter(({ text }) => candidate.includes(text)).length

  const started = performance.now()
  let written = extracted
  if (backend && isText) {
    const signal = new AbortController().signal
    const answer = await backend.write(promptFor(source, { budgetTokens: documentTokens }), signal)
    written = ground(answer.structured?.summary, source, extracted) ?? extracted
  }
  const sentenceMs = written === extracted ? 0 : performance.now() - started
  const shown = condense(source.output, documentTokens)
    .split("\n")
    .map((row) => cut(row.trim(), MAX_LINE_CHARS))
    .filter((row) => row !== "" && !row.startsWith("[…"))
  const rows = byRule(shown, names).slice(0, MAX_LINES)
  const top = names.slice(0, MAX_NAMES)
  const candidates = [...top, ...rows]
  // where no candidate is needed, no order of them matters
  const isAsked = candidates.some((candidate) => neededIn(candidate) > 0)
  const rankStarted = performance.now()
  const scores = isAsked ? await rank(task, candidates) : []
  const rankMs = isAsked ? performance.now() - rankStarted : 0
  const ranking = ordered(top, scores)
  const chosen = ordered(rows, scores.slice(top.length))
  const rest = names.slice(MAX_NAMES)
  const both = byBoth(top, ranking)
  const line = (head: string, pieces: readonly string[], ms = 0): Line => ({
    text: fill(head, pieces, budgetTokens),
    ms,
  })
  return {
    rule: line(digest, names),
    nothing: line(size, names),
    sentence: line(beginningOf(written), names, sentenceMs),
    // what room the lines leave goes to names, as for every job
    lines: line("", [...chosen, ...names], rankMs),
    "lines by rule": line("", [...rows, ...names]),
    "best lines": line("", [...ordered(shown, shown.map(neededIn)), ...names]),
    names: line(digest, [...ranking, ...rest], rankMs),
    "names and rule": line(digest, [...both, ...rest], rankMs),
    "best names": line(digest, ordered(names, names.map(neededIn))),
  }
}

/** The highest score first; equals keep their order. */
function ordered(candidates: readonly string[], scores: readonly number[]): string[] {
  const order = [...candidates.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
  return order.map((at) => candidates[at] as string)
}

/** Lines with many names that the rule ranks high come first. */
function byRule(rows: readonly string[], names: readonly string[]): string[] {
  const worths = rows.map((row) => names.reduce((sum, name, at) => sum + (row.includes(name) ? 1 / (at + 1) : 0), 0))
  return ordered(rows, worths)
}

/** By the sum of their places in two orders; `one` decides between equals. */
export function byBoth(one: readonly string[], other: readonly string[]): string[] {
  const places = new Map(one.map((text, at) => [text, at + other.indexOf(text)]))
  return one.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
}

/** As many of the pieces, best first, as the budget has room for; what is in the text already is left out. */
export function fill(head: string, pieces: readonly string[], budgetTokens: number): string {
  let text = head
  for (const piece of pieces) {
    const next = text === "" ? piece : `${text} ${piece}`
    if (!text.includes(piece) && tokensOfLength(next.length) <= budgetTokens) text = next
  }
  return text
}

/** What a line holds of what was needed. */
export function heldBy({ session, needs }: Pick<Case, "session" | "needs">, { text, ms }: Line): Held {
  const held = needs.filter((need) => text.includes(need.text))
  const lines = held.filter(({ isLine }) => isLine).length
  return { session, tokens: tokensOfLength(text.length), ms, names: held.length - lines, lines }
}

const ROUNDS = 2000

/**
 * How many more needs one job holds than the rule, in all, and the interval that contains 95 % of the differences when sessions
 * are drawn again: what is needed in one session is alike.
 */
export function gain(
  job: readonly Held[],
  rule: readonly Held[],
  seed: number,
): { more: number; from: number; to: number } {
  const bySession = new Map<string, number>()
  for (const [at, { session, names, lines }] of job.entries()) {
    const more = names + lines - (rule[at]?.names ?? 0) - (rule[at]?.lines ?? 0)
    bySession.set(session, (bySession.get(session) ?? 0) + more)
  }
  const found = [...bySession.values()]
  const random = generator(seed)
  const drawn = Array.from({ length: ROUNDS }, () =>
    found.reduce((sum) => sum + (found[Math.floor(random() * found.length)] ?? 0), 0),
  ).sort((a, b) => a - b)
  return {
    more: found.reduce((sum, one) => sum + one, 0),
    from: drawn[Math.floor(ROUNDS * 0.025)] ?? 0,
    to: drawn[Math.floor(ROUNDS * 0.975)] ?? 0,
  }
}
