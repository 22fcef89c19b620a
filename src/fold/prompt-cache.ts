// What the provider's prompt cache holds of the next request, as far as can be told before it is sent.
//
// Most providers find whatever a request has in common with the one before, from its start. Anthropic and those that
// speak its protocol do not: an entry is written only where a request carries a mark, and a request finds only entries
// that end within `lookback` content blocks of one of its own marks. OpenCode 1.18 marks the last two messages, beside
// the system prompt. (platform.claude.com/docs/en/build-with-claude/prompt-caching; opencode's `applyCaching`)

import type { Anchor } from "../hud/slots.ts"
import type { Entry } from "../session/entry.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { type Fold, savedTokens } from "./fold.ts"
import type { Tariff } from "./tariff.ts"

/** A message as the provider gets it. One of the agent with tool calls goes out as two: the calls, then their results. */
export type WireMessage = {
  /** what it is made of: the same object in two requests is the same content, folds aside */
  source: Entry | Anchor
  /** `said`: texts, reasoning and calls */
  holds: "said" | "results" | "hud"
  /** content blocks: texts, reasoning, calls, results, files */
  blocks: number
  /** estimated tokens, folds taken off */
  tokens: number
}

/** The last request, and the cache entries that it and those before it have left. */
export type SentRequest = {
  wire: readonly WireMessage[]
  /** how many messages of the session it was made of */
  messages: number
  /** an entry ends after so many of these messages; ascending. Empty where the provider knows no marks */
  ends: readonly number[]
  /** epoch ms */
  atMs: number
  /** as `provider/model` */
  model: string
}

/** How much of a request is read from the cache, in messages from its start. */
export type CachedPrefix = {
  messages: number
  tokens: number
  /** tokens that are read no more when the message at this index changes */
  lostBy(index: number): number
}

/** Where the HUD of a request goes, as far as the cache sees it. */
export type HudMark =
  /** none, or one that stays where it was sent */
  | "none"
  /** a last message that the next request does not have: it takes one of the two marks */
  | "tail"
  /** at the end of the last message, which the next request has without it */
  | "inside"

/** Messages at the end of a request that OpenCode marks. */
export const MARKED_MESSAGES = 2

/** The messages of a request, without a HUD at its tail. `anchors` are HUD texts that stay where they were sent. */
export function wireOf(
  entries: readonly Entry[],
  folds: ReadonlyMap<string, Fold>,
  anchors: readonly Anchor[],
): WireMessage[] {
  const wire: WireMessage[] = []
  const ids = new Set(anchors.map(({ after }) => after))
  for (const entry of entries) {
    const { blocks, events } = entry
    if (blocks === 0) continue
    let results = 0
    let saved = 0
    let savedResults = 0
    for (const { partID, outputTokens, cleared } of events) {
      if (cleared) continue
      results += outputTokens
      const fold = folds.get(partID)
      if (fold?.side === "output") savedResults += savedTokens(fold)
      else if (fold) saved += savedTokens(fold)
    }
    const own = blocks - events.length
    if (own > 0) wire.push({ source: entry, holds: "said", blocks: own, tokens: entry.tokens - results - saved })
    if (events.length > 0)
      wire.push({ source: entry, holds: "results", blocks: events.length, tokens: results - savedResults })
    if (ids.has(entry.id))
      for (const anchor of anchors)
        if (anchor.after === entry.id)
          wire.push({ source: anchor, holds: "hud", blocks: 1, tokens: tokensOfLength(anchor.text.length) })
  }
  return wire
}

/** What the cache holds of a request with these messages. `sent` is the last one; absent, nothing is cached. */
export function cachedPrefix(
  wire: readonly WireMessage[],
  sent: SentRequest | undefined,
  hud: HudMark,
  { lifetimeMs, lookback }: Tariff,
  model: string,
  nowMs: number,
): CachedPrefix {
  const isWarm = sent !== undefined && sent.model === model && nowMs - sent.atMs < lifetimeMs
  const same = isWarm ? sameMessages(wire, sent.wire) : 0
  const tokens = [0]
  for (const message of wire.slice(0, same)) tokens.push((tokens.at(-1) ?? 0) + message.tokens)
  const ends = lookback === undefined ? undefined : findable(wire, sent?.ends ?? [], same, hud, lookback)
  const messagesBefore = (index: number) => (ends ? (ends.findLast((end) => end <= index) ?? 0) : Math.min(index, same))
  const messages = messagesBefore(same)
  const found = tokens[messages] ?? 0
  return {
    messages,
    tokens: found,
    lostBy: (index) => (index >= messages ? 0 : found - (tokens[messagesBefore(index)] ?? 0)),
  }
}

/** Entries kept in mind; one further back is out of every lookback unless the session is reverted to it. */
const MOST_ENDS = 50

/** The request as the next one will find it. `changed`: the first message that goes out otherwise than in the last. */
export function sentRequest(
  { wire, messages }: { wire: readonly WireMessage[]; messages: number },
  before: SentRequest | undefined,
  changed: number,
  hud: HudMark,
  { lifetimeMs, lookback }: Tariff,
  model: string,
  atMs: number,
): SentRequest {
  const sent = { wire, messages, atMs, model }
  if (lookback === undefined) return { ...sent, ends: [] }
  const isWarm = before !== undefined && before.model === model && atMs - before.atMs < lifetimeMs
  const intact = isWarm ? Math.min(sameMessages(wire, before.wire), changed) : 0
  const ends = new Set(isWarm ? before.ends.filter((end) => end <= intact) : [])
  for (const end of marksOf(wire, hud)) if (end < wire.length || hud !== "inside") ends.add(end)
  return { ...sent, ends: [...ends].sort((a, b) => a - b).slice(-MOST_ENDS) }
}

/**
 * The last request of an earlier process, by the message that answered it; undefined when there was none. Whether it was
 * made with this plugin is for the caller to know: otherwise not even the system prompt need be the same.
 */
export function sentBefore(entries: readonly Entry[], wire: readonly WireMessage[]): SentRequest | undefined {
  const at = entries.findLastIndex(({ call }) => call)
  const answer = entries[at]
  if (!answer?.model) return
  const { providerID, modelID } = answer.model
  const next = wire.findIndex(({ source }) => source === answer)
  const before = wire.slice(0, next < 0 ? wire.length : next)
  return { wire: before, messages: at, ends: [before.length], atMs: answer.created, model: `${providerID}/${modelID}` }
}

/** After which messages the request carries a mark; a HUD at the tail has the other one. */
function marksOf(wire: readonly WireMessage[], hud: HudMark): number[] {
  const count = hud === "tail" ? MARKED_MESSAGES - 1 : MARKED_MESSAGES
  return Array.from({ length: count }, (_, i) => wire.length - i).filter((end) => end > 0)
}

/** Whether an entry is found by a request with these marks; all of them are counts of content blocks from the start. */
export function isInReach(end: number, marks: readonly number[], lookback: number): boolean {
  // the block that carries the mark is the first of those that are looked at
  return marks.some((mark) => end <= mark && mark - end < lookback)
}

/** Those of the entries within the first `same` messages that the request finds. */
function findable(
  wire: readonly WireMessage[],
  ends: readonly number[],
  same: number,
  hud: HudMark,
  lookback: number,
): number[] {
  const blocks = [0]
  for (const message of wire) blocks.push((blocks.at(-1) ?? 0) + message.blocks)
  // the mark of a HUD at the tail is one block further on, and finds nothing that the other does not
  const marks = marksOf(wire, hud).map((end) => blocks[end] ?? 0)
  return ends.filter((end) => end <= same && isInReach(blocks[end] ?? 0, marks, lookback))
}

function sameMessages(one: readonly WireMessage[], other: readonly WireMessage[]): number {
  const isSame = (at: number) => one[at]?.source === other[at]?.source && one[at]?.holds === other[at]?.holds
  let at = 0
  while (at < one.length && at < other.length && isSame(at)) at++
  return at
}
