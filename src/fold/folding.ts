// What is remembered of a session's folds from call to call, and one call's decisions made into folds.

import type { Message, ToolPart } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { nameOf, type ToolEvent } from "../session/event.ts"
import { digestKey, type Env, sourceOf } from "../session/normalize.ts"
import { withoutSecrets } from "../session/withheld.ts"
import { renew } from "../system/values.ts"
import { cutMiddle } from "../text/sanitize.ts"
import { estimateTokens, tokensOfLength } from "../text/tokens.ts"
import { type Account, newAccount } from "./account.ts"
import type { Fold } from "./fold.ts"
import type { Decision } from "./plan.ts"
import { inputWords, outputWords } from "./words.ts"

/** A value: what changes it answers another. */
export type Folding = {
  /** by part id; those of messages that a compaction or a revert took away stay, for recall */
  readonly folds: ReadonlyMap<string, Fold>
  /** the same by recall id */
  readonly byID: ReadonlyMap<string, Fold>
  /** number of the newest recall id */
  readonly lastNumber: number
  /** the call in which an output was last quoted, by part id */
  readonly quotedAt: ReadonlyMap<string, number>
  /** ids of parts that a fold would not make shorter: a plan that counted on them would fold too little */
  readonly refused: ReadonlySet<string>
  /** what the provider reported against what was expected */
  readonly account: Account
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
export function addFolds(folding: Folding, added: readonly Fold[]): Folding {
  const folds = new Map(folding.folds)
  const byID = new Map(folding.byID)
  let { lastNumber } = folding
  for (const fold of added) {
    const known = byID.get(fold.id)
    if (known && known.partID !== fold.partID) continue
    renew(folds, fold.partID, fold, MOST_KEPT)
    renew(byID, fold.id, fold, MOST_KEPT)
    lastNumber = Math.max(lastNumber, Number(fold.id.slice(1)) || 0)
  }
  return { ...folding, folds, byID, lastNumber }
}

/** Parts remembered as refused; of an older one the plan is made once more, and refused once more. */
const MOST_REFUSED = 2000

export function refuse(folding: Folding, partIDs: readonly string[]): Folding {
  if (partIDs.length === 0) return folding
  return { ...folding, refused: new Set([...folding.refused, ...partIDs].slice(-MOST_REFUSED)) }
}

/** Gives up folds of parts that hold another content by now, and answers their part ids. `fresh` are entries just read. */
export function dropChanged(folding: Folding, fresh: readonly Entry[]): { folding: Folding; dropped: string[] } {
  const events = fresh.flatMap((entry) => entry.events)
  const dropped = events
    .filter((event) => {
      const fold = folding.folds.get(event.partID)
      return fold?.messageID === event.messageID && !event.cleared && fold.hash !== hashOf(event, fold.side)
    })
    .map(({ partID }) => partID)
  const retried = events.some(({ partID }) => folding.refused.has(partID))
  if (dropped.length === 0 && !retried) return { folding, dropped }
  const folds = new Map(folding.folds)
  const refused = new Set(folding.refused)
  for (const partID of dropped) folds.delete(partID)
  for (const { partID } of events) refused.delete(partID)
  return { folding: { ...folding, folds, refused }, dropped }
}

/** The folds that decisions come to, oldest first; a part that cannot be found or gets no shorter gives none. */
export function foldsOf(
  decisions: readonly Decision[],
  messages: readonly Message[],
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
function partsOf(messages: readonly Message[], ids: ReadonlySet<string>): Map<string, ToolPart> {
  const found = new Map<string, ToolPart>()
  for (const { id, parts } of messages)
    if (ids.has(id)) for (const part of parts) if (part.type === "tool") found.set(placeOf(id, part.id), part)
  return found
}
