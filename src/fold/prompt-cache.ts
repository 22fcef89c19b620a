// Predicts what the provider's prompt cache holds of the next request, before it is sent.
//
// With most providers, that is whatever the request has in common with the one before, from its start. Anthropic and
// providers with its protocol are different: an entry is written only where a request carries a mark, and a request
// finds only entries that end within `lookback` content blocks of one of its own marks. OpenCode 1.18 marks the system
// prompt and the last two messages. (platform.claude.com/docs/en/build-with-claude/prompt-caching; opencode's
// `applyCaching`)

import type { Anchor } from "../hud/slots.ts"
import { modelKey } from "../session/conversation.ts"
import { type Entry, writtenTokens } from "../session/entry.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { addApplied, cachedByStart, type Fold, type Folds, stepFold } from "./fold.ts"
import type { Pricing } from "./pricing.ts"

/** A message as the provider gets it. An agent's message with tool calls is sent as two: the calls, then their results. */
export type WireMessage = {
  /** where it comes from: the same object in two requests is the same content, unless the size says that a fold differs */
  source: Entry | Anchor | Fold
  /** `message`: texts, reasoning and calls; `record`: adjacent folded steps, of which the last is the source */
  holds: "message" | "results" | "record" | "hud"
  /** content blocks: texts, reasoning, calls, results, files */
  blocks: number
  /** estimated tokens, with folds applied */
  tokens: number
}

/** The last request, and the cache entries that it and earlier requests have left. */
export type SentRequest = {
  wire: readonly WireMessage[]
  /** numbers of messages after which a cache entry ends, ascending; empty when the provider uses no marks */
  ends: readonly number[]
  /** epoch ms */
  atMs: number
  /** as `provider/model` */
  model: string
  /** the agent, where each has tools of its own: a provider reads the list of tools before everything else */
  agent?: string | undefined
}

/** How the HUD of a request affects the cache. */
export type HudMark =
  /** there is none, or it stays where it was sent */
  | "none"
  /** it is a last message that the next request does not have: it takes one of the two marks */
  | "tail"
  /** it is at the end of the last message, which the next request has without it */
  | "inside"

/** Messages at the end of a request that OpenCode marks. */
export const MARKED_MESSAGES = 2

/** A request that is about to be sent. */
export type PendingRequest = {
  wire: readonly WireMessage[]
  hud: HudMark
  pricing: Pricing
  /** as `provider/model` */
  model: string
  /** the agent, where each has tools of its own: a provider reads the list of tools before everything else */
  agent?: string | undefined
  nowMs: number
}

/** The messages of a request, without a HUD at its tail. `anchors` are HUD texts that stay where they were sent. */
export function wireOf(entries: readonly Entry[], folds: Folds, anchors: readonly Anchor[]): WireMessage[] {
  if (anchors.length > 0) return extendWire([], entries, folds, anchors)
  const [wire, rest] = wireOfStart(entries, folds)
  return extendWire([...wire], rest, folds, [])
}

const wireOfStart = cachedByStart((start, folds): readonly WireMessage[] => extendWire([], start, folds, []))

function extendWire(wire: WireMessage[], entries: readonly Entry[], folds: Folds, anchors: readonly Anchor[]) {
  for (const entry of entries) {
    const { id, events, blocks } = entry
    const step = blocks > 0 ? stepFold(folds, id) : undefined
    if (step) {
      const before = wire.at(-1)?.holds === "record" ? wire.pop() : undefined
      const tokens = (before?.tokens ?? RECORD_HEAD_TOKENS) + step.textTokens
      wire.push({ source: step, holds: "record", blocks: 1, tokens })
      continue
    }
    // of a message that is not sent, only the HUD after it is
    const own = blocks - events.length
    const written = writtenTokens(entry)
    if (own > 0) wire.push({ source: entry, holds: "message", blocks: own, tokens: written })
    const results = entry.tokens - written - addApplied([entry], folds).savedTokens
    if (blocks > 0 && events.length > 0)
      wire.push({ source: entry, holds: "results", blocks: events.length, tokens: results })
    for (const anchor of anchors)
      if (anchor.after === id)
        wire.push({ source: anchor, holds: "hud", blocks: 1, tokens: tokensOfLength(anchor.text.length) })
  }
  return wire
}

const RECORD_HEAD_TOKENS = 40

export type CachedPrefix = ReturnType<typeof cachedPrefix>

/** What the cache holds of a request, from its start. `sent` is the last one; without it, nothing is cached. */
export function cachedPrefix(request: PendingRequest, sent: SentRequest | undefined) {
  const { wire, pricing } = request
  const { lookback } = pricing
  const same = warmMessages(request, sent)
  const tokens = [0]
  for (const message of wire.slice(0, same)) tokens.push((tokens.at(-1) ?? 0) + message.tokens)
  const ends = lookback === undefined ? undefined : findable(request, lookback, sent?.ends ?? [], same)
  const messagesBefore = (index: number) => (ends ? (ends.findLast((end) => end <= index) ?? 0) : Math.min(index, same))
  const messages = messagesBefore(same)
  const found = tokens[messages] ?? 0
  return {
    messages,
    tokens: found,
    /** tokens that can no longer be read when the message at this index changes */
    lostBy: (index: number) => (index >= messages ? 0 : found - (tokens[messagesBefore(index)] ?? 0)),
  }
}

/** Entries remembered; older ones are out of reach unless the session is reverted. */
const MAX_ENDS = 50

/** The request once it is sent, for the next one. */
export function sentRequest(request: PendingRequest, before: SentRequest | undefined): SentRequest {
  const { wire, hud, pricing, model, agent, nowMs } = request
  const sent = { wire, atMs: nowMs, model, agent }
  if (pricing.lookback === undefined) return { ...sent, ends: [] }
  const same = warmMessages(request, before)
  const ends = new Set(before?.ends.filter((end) => end <= same))
  for (const end of marksOf(wire, hud)) if (end < wire.length || hud !== "inside") ends.add(end)
  return { ...sent, ends: [...ends].sort((a, b) => a - b).slice(-MAX_ENDS) }
}

/** How many messages at its start a request shares with the last one; 0 if that was another model's or agent's, or has expired. */
function warmMessages({ wire, model, agent, nowMs, pricing }: PendingRequest, sent: SentRequest | undefined): number {
  if (!sent || sent.model !== model || nowMs - sent.atMs >= pricing.lifetimeMs) return 0
  if (sent.agent !== agent && sent.agent !== undefined && agent !== undefined) return 0
  const changed = wire.findIndex((message, at) => !isSame(message, sent.wire[at]))
  return changed < 0 ? wire.length : changed
}

/**
 * The last request of an earlier process, derived from the message that answered it; undefined when there was none. The
 * caller must know that it was made with this plugin: otherwise even the system prompt may differ.
 */
export function sentByEarlierProcess(entries: readonly Entry[], wire: readonly WireMessage[]): SentRequest | undefined {
  const at = entries.findLastIndex(({ kind }) => kind === "step")
  const answer = entries[at]
  if (!answer?.model) return
  const next = wire.findIndex(({ source }) => source === answer)
  const before = wire.slice(0, next < 0 ? wire.length : next)
  // its time may be unknown; a warm cache taken for a cold one costs more than the reverse
  const atMs = answer.createdMs || Number.POSITIVE_INFINITY
  return { wire: before, ends: [before.length], atMs, model: modelKey(answer.model) }
}

/** Numbers of messages after which the request carries a mark; a HUD at the tail takes one of the marks. */
function marksOf(wire: readonly WireMessage[], hud: HudMark): number[] {
  const count = hud === "tail" ? MARKED_MESSAGES - 1 : MARKED_MESSAGES
  return Array.from({ length: count }, (_, i) => wire.length - i).filter((end) => end > 0)
}

/** Whether a request with these marks finds an entry; all are counted in content blocks from the start. */
export function isInReach(end: number, marks: readonly number[], lookback: number): boolean {
  // the lookback includes the block that carries the mark
  return marks.some((mark) => end <= mark && mark - end < lookback)
}

/** The entries within the first `same` messages that the request finds. */
function findable({ wire, hud }: PendingRequest, lookback: number, ends: readonly number[], same: number): number[] {
  const blocks = [0]
  for (const message of wire) blocks.push((blocks.at(-1) ?? 0) + message.blocks)
  // the mark of a HUD at the tail is one block later, and finds nothing that the other mark does not
  const marks = marksOf(wire, hud).map((end) => blocks[end] ?? 0)
  return ends.filter((end) => end <= same && isInReach(blocks[end] ?? 0, marks, lookback))
}

/** An entry is made again when more is known of its message, such as its usage. */
function isSame(one: WireMessage, other: WireMessage | undefined): boolean {
  if (one.holds !== other?.holds || one.tokens !== other.tokens) return false
  const [source, before] = [one.source, other.source]
  const isEntry = "blocks" in source && "blocks" in before
  return source === before || (isEntry && source.id === before.id && source.blocks === before.blocks)
}
