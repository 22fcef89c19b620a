// What is remembered of a session's folds from call to call, and one call's decisions made into folds.

import { renew } from "../bounded.ts"
import type { HostMessage, HostPart } from "../host/v1/message.ts"
import type { Entry } from "../session/entry.ts"
import { nameOf, type ToolEvent } from "../session/event.ts"
import { digestKey, type Env, sourceOf } from "../session/normalize.ts"
import { withoutSecrets } from "../session/withheld.ts"
import { cutMiddle } from "../text/text.ts"
import { estimateTokens, tokensOfLength } from "../text/tokens.ts"
import { type Account, newAccount } from "./account.ts"
import type { Fold } from "./fold.ts"
import type { Decision } from "./plan.ts"
import { inputWords, outputWords } from "./words.ts"

export type Folding = {
  /** by part id; those of messages that a compaction or a revert took away stay, for recall */
  folds: Map<string, Fold>
  /** the same by recall id */
  byID: Map<string, Fold>
  /** number of the newest recall id */
  lastNumber: number
  /** the call in which an output was last quoted, by part id */
  quotedAt: Map<string, number>
  /** ids of parts that a fold would not make shorter: a plan that went on reckoning with them would fold too little */
  refused: Set<string>
  /** what the provider reported against what was expected */
  account: Account
}

export function newFolding(): Folding {
  return {
    folds: new Map(),
    byID: new Map(),
    lastNumber: 0,
    quotedAt: new Map(),
    refused: new Set(),
    account: newAccount(),
  }
}

/** Folds kept of a session, as many as the store keeps; an older one goes out whole again. */
const MOST_KEPT = 5000

/**
 * Adds folds, as decided or as an earlier process left them. Two processes in one session give the same id twice: of
 * those the first stays and the other output goes out whole, since an id must never bring back another's original.
 */
export function addFolds(folding: Folding, folds: readonly Fold[]): void {
  for (const fold of folds) {
    const known = folding.byID.get(fold.id)
    if (known && known.partID !== fold.partID) continue
    renew(folding.folds, fold.partID, fold, MOST_KEPT)
    renew(folding.byID, fold.id, fold, MOST_KEPT)
    folding.lastNumber = Math.max(folding.lastNumber, Number(fold.id.slice(1)) || 0)
  }
}

/** Parts remembered as refused; of an older one the plan is made once more, and refused once more. */
const MOST_REFUSED = 2000

export function refuse({ refused }: Folding, partID: string): void {
  refused.add(partID)
  const [oldest] = refused
  if (refused.size > MOST_REFUSED && oldest !== undefined) refused.delete(oldest)
}

/** Forgets folds of parts that hold another content by now. `fresh` are entries just read. */
export function dropChanged({ folds, refused }: Folding, fresh: readonly Entry[]): string[] {
  for (const { events } of fresh) for (const { partID } of events) refused.delete(partID)
  const changed = fresh.flatMap(({ events }) =>
    events.filter((event) => {
      const fold = folds.get(event.partID)
      return fold?.messageID === event.messageID && !event.cleared && fold.hash !== hashOf(event, fold.side)
    }),
  )
  for (const { partID } of changed) folds.delete(partID)
  return changed.map(({ partID }) => partID)
}

/** The folds that decisions come to, oldest first; a part that cannot be found or gets no shorter gives none. */
export function foldsOf(
  decisions: readonly Decision[],
  messages: readonly HostMessage[],
  { lastNumber }: Folding,
  call: number,
  env: Env,
): Fold[] {
  const found = partsOf(messages, new Set(decisions.map(({ event }) => event.messageID)))
  const folds: Fold[] = []
  for (const decision of decisions) {
    const { event, side, reason, because, tokens } = decision
    const part = found.get(placeOf(event.messageID, event.partID))
    if (!part) continue
    const id = `r${lastNumber + folds.length + 1}`
    const source = withoutSecrets(sourceOf(part))
    const text =
      side === "input"
        ? inputWords(id, source.input)
        : outputWords(id, decision, source, env.digest(digestKey(event.inputHash, event.outputHash ?? ""), source))
    if (text === undefined) continue
    const textTokens = side === "input" ? tokensOfLength(text.length) : estimateTokens(text)
    if (textTokens >= tokens) continue
    folds.push({
      id,
      partID: event.partID,
      messageID: event.messageID,
      hash: hashOf(event, side),
      side,
      text,
      what: cutMiddle(nameOf(event), 100),
      reason,
      because,
      call,
      tokens,
      textTokens,
    })
  }
  return folds
}

/** What tells whether a part still holds what was folded. */
export function hashOf(event: ToolEvent, side: Fold["side"]): string {
  return side === "input" ? event.inputHash : (event.outputHash ?? "")
}

/** Part ids alone may repeat in an array that others have a hand in. */
function placeOf(messageID: string, partID: string): string {
  return `${messageID} ${partID}`
}

/** Tool parts of these messages, by where they stand. */
function partsOf(messages: readonly HostMessage[], ids: ReadonlySet<string>): Map<string, HostPart> {
  const found = new Map<string, HostPart>()
  for (const { info, parts } of messages)
    if (info.id !== undefined && ids.has(info.id))
      for (const part of parts)
        if (part?.type === "tool" && part.id !== undefined) found.set(placeOf(info.id, part.id), part)
  return found
}
