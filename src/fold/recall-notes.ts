// Notes in a `hud_recall` answer: what was asked for and is not shown, and what to do instead.

import { groupBy, jsonOf } from "../system/values.ts"
import { cut, line } from "../text/sanitize.ts"
import type { Fold, Folds } from "./fold.ts"
import { isWithin, namedSteps, rangesOf } from "./ranges.ts"
import { foldWithID, hasTargets, type RecallSource } from "./select.ts"

/** Unknown ids that an answer names, and known ones it suggests. */
const MAX_NAMED = 3

/** `3 folded steps and outputs` */
export function countOfFolds(count: number): string {
  return count === 1 ? "1 folded step or output" : `${count} folded steps and outputs`
}

/** What to do when a text is not found that may be meant as a pattern or a sentence. */
export const tryOneWord = (search = "") =>
  /[^\p{L}\p{N}_-]/u.test(search) ? "; a search takes plain text, so try one word of it" : ""

/** What was asked for and is not among the folds that are shown, one sentence each. */
export function notesOn(source: RecallSource, shown: readonly Fold[]): string[] {
  const { request, folds, named, originals } = source
  const { ids, file, search } = request
  const unknown = ids.filter((id) => !foldWithID(folds, id))
  const notes = unknown.length > 0 ? [aboutUnknown(unknown, folds)] : []
  notes.push(...aboutSteps(source))
  if (shown.length === 0 && named.length > 0) {
    const holdsText = `has a line with ${quoted(search)}${tryOneWord(search)}`
    const among = `Nothing among the ${countOfFolds(named.length)}${hasTargets(request) ? " asked for" : ""}`
    if (file !== undefined)
      notes.push(
        `${among} names a file whose path ends with ${quoted(file)}${search === undefined ? "" : ` and ${holdsText}`}${IN_FULL}, and reading the file shows its present state`,
      )
    else if (search !== undefined && hasTargets(request)) notes.push(`${among} ${holdsText}`)
  }
  if (file === undefined && hasTargets(request)) return notes
  const lost = named.filter(({ id }) => originals.get(id)?.kind !== "found")
  if (lost.length > 0) {
    const isSilent = lost.some(({ id }) => originals.get(id)?.kind === "unanswered")
    const why = isSilent ? "that OpenCode did not return; ask again" : "whose content has changed or is gone"
    notes.push(`Not searched: ${countOfFolds(lost.length)} ${why}`)
  }
  return notes
}

const COMPACTED = ", from before a compaction; only its summary is left; look again to see the present state"
const UNSENT = "; the call failed or was empty, and OpenCode sends nothing of it"
export const IN_FULL = "; what is not folded, compacted or cleared stands in the conversation in full"

function aboutSteps({ request: { steps }, folds, originals, inConversation }: RecallSource): string[] {
  if (steps.length === 0) return []
  const intact = [...folds.values()].filter(({ id }) => originals.get(id)?.kind !== "changed")
  const folded = new Set(intact.map(({ step }) => step))
  const sent = inConversation && new Map(inConversation.map(({ call, blocks }) => [call, blocks > 0]))
  const newest = Math.max(0, ...folded, ...(sent?.keys() ?? []))
  const missing = Array.from({ length: newest }, (_, at) => at + 1).filter(
    (step) => isWithin(steps, step) && !folded.has(step),
  )
  const why = (step: number) => (!sent || sent.get(step) ? IN_FULL : sent.has(step) ? UNSENT : COMPACTED)
  const beyond = steps.flatMap(({ from, to }) => {
    // an open end is the newest step
    const range = { from: Math.max(from, newest + 1), to: to === Number.POSITIVE_INFINITY ? from : to }
    return range.from <= range.to ? [range] : []
  })
  const notes = [...groupBy(missing, why)].map(([why, numbers]) => `Not folded: ${namedSteps(rangesOf(numbers))}${why}`)
  return beyond.length > 0 ? [...notes, `No ${namedSteps(beyond)}: the newest is ${newest}`] : notes
}

/** `folds` has none of the ids, and is not empty. */
function aboutUnknown(ids: readonly string[], folds: Folds): string {
  const wanted = ids[0]?.toLowerCase() ?? ""
  const likeness = ({ id }: Fold) => [...id].filter((char, at) => char === wanted[at]).length
  // an id that was copied wrongly differs in few characters; otherwise the newest may be meant
  const nearest = [...folds.values()]
    .reverse()
    .sort((one, other) => Math.max(MIN_LIKE_CHARS, likeness(other)) - Math.max(MIN_LIKE_CHARS, likeness(one)))
    .slice(0, MAX_NAMED)
    .map(({ id, what }) => `${id} (${cut(line(what), 60)})`)
  const named = ids.slice(0, MAX_NAMED).map(line)
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ""
  const among = `${countOfFolds(folds.size)}${folds.size > MAX_NAMED ? ", among them" : ":"}`
  return `Not folded in this session: ${named.join(", ")}${more}. There ${folds.size === 1 ? "is" : "are"} ${among} ${nearest.join(", ")}. The id of a folded output stands in the line in its place; a step in a record has a number, for "steps"; a path goes into "file"`
}

/** Ids that share fewer characters in the same places are not alike. */
const MIN_LIKE_CHARS = 4

/** A given value as the answer repeats it. */
export function quoted(value: unknown): string {
  return value === undefined ? "undefined" : cut(line(jsonOf(value) ?? "something else"), 80)
}
