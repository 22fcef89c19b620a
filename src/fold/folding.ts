// A session's folds from call to call, and turning one call's decisions into folds.

import type { Message, ToolPart } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { nameOf, type ToolEvent } from "../session/event.ts"
import { digestKey, type Env, sourceOf, withoutSecrets } from "../session/normalize.ts"
import { renew } from "../system/values.ts"
import { cutMiddle } from "../text/sanitize.ts"
import { estimateTokens, tokensOfLength } from "../text/tokens.ts"
import { type Account, newAccount } from "./account.ts"
import type { Fold } from "./fold.ts"
import type { Decision } from "./plan.ts"
import { inputWords, outputWords } from "./words.ts"

/** Immutable: functions that change it return another. */
export type Folding = {
  /** by part id; folds of messages removed by a compaction or a revert stay, for recall */
  readonly folds: ReadonlyMap<string, Fold>
  /** the same by recall id */
  readonly byID: ReadonlyMap<string, Fold>
  /** number of the newest recall id */
  readonly lastNumber: number
  /** the call in which an output was last quoted, by part id */
  readonly quotedAt: ReadonlyMap<string, number>
  /** ids of parts that a fold would not make shorter; a plan that counted on them would fold too little */
  readonly refused: ReadonlySet<string>
  /** what the provider reported, compared with what was expected */
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

/** Folds kept per session, as many as the store keeps; an output whose fold is dropped is sent in full again. */
const MAX_FOLDS = 5000

/**
 * Adds new folds, or those an earlier process left. Two processes in one session may assign the same id twice. Then the
 * first fold stays and the other output is sent in full, because an id must never recall another output's original.
 */
export function addFolds(folding: Folding, added: readonly Fold[]): Folding {
  const folds = new Map(folding.folds)
  const byID = new Map(folding.byID)
  let { lastNumber } = folding
  for (const fold of added) {
    const known = byID.get(fold.id)
    if (known && known.partID !== fold.partID) continue
    renew(folds, fold.partID, fold, MAX_FOLDS)
    renew(byID, fold.id, fold, MAX_FOLDS)
    lastNumber = Math.max(lastNumber, Number(fold.id.slice(1)) || 0)
  }
  return { ...folding, folds, byID, lastNumber }
}

/** Refused parts remembered; an older one is planned and refused once more. */
const MAX_REFUSED = 2000

export function refuse(folding: Folding, partIDs: readonly string[]): Folding {
  if (partIDs.length === 0) return folding
  return { ...folding, refused: new Set([...folding.refused, ...partIDs].slice(-MAX_REFUSED)) }
}

/** Drops the folds of parts whose content has changed, and returns their part ids. `fresh`: entries just read. */
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

/** Turns decisions into folds, oldest first. A part that is missing or would not get shorter yields none. */
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

/** The hash that shows whether a part still has the content that was folded. */
export function hashOf(event: ToolEvent, side: Fold["side"]): string {
  return side === "input" ? event.inputHash : (event.outputHash ?? "")
}

/** A part id alone may be ambiguous, because other plugins edit the messages too. */
function placeOf(messageID: string, partID: string): string {
  return `${messageID} ${partID}`
}

/** Tool parts of these messages, by message and part id. */
function partsOf(messages: readonly Message[], ids: ReadonlySet<string>): Map<string, ToolPart> {
  const found = new Map<string, ToolPart>()
  for (const { id, parts } of messages)
    if (ids.has(id)) for (const part of parts) if (part.type === "tool") found.set(placeOf(id, part.id), part)
  return found
}
