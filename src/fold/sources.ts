// The source of a folded output's text: its arguments and its output without secrets, and the names in both. Computing it
// takes most of a cut's time. So it is computed between requests, and remembered until the step is folded.

import type { DigestSource } from "../output/digest.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import { type Entry, fingerprint } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import { digestKey, type Env, sourceOf, withoutSecrets } from "../session/normalize.ts"
import { stringsIn } from "../session/steps.ts"
import { namesIn } from "../text/names.ts"
import { type Folds, leadingOf, stepFold } from "./fold.ts"

type Names = ReadonlyMap<string, number>

/** `names` and `outputNames`: how often each name occurs in the arguments and the output together, and in the output. */
export type FoldSource = { readonly source: DigestSource; readonly names: Names; readonly outputNames: Names }

const known = new WeakMap<ToolEvent, FoldSource>()

/** The source of a tool part; `event` is the ledger's, which is the same object as long as the part is the same. */
export function foldSource(part: ToolPart, event: ToolEvent | undefined): FoldSource {
  const found = event && known.get(event)
  if (found) return found
  const source = withoutSecrets(sourceOf(part))
  const outputNames = namesIn(source.output)
  const made = { source, names: sumOf(namesIn(stringsIn(source.input).join("\n")), outputNames), outputNames }
  if (event) known.set(event, made)
  return made
}

function sumOf(one: Names, other: Names): Names {
  if (one.size === 0) return other
  const sum = new Map(one)
  for (const [name, count] of other) sum.set(name, (sum.get(name) ?? 0) + count)
  return sum
}

/** Whether nothing has to be found for the output any more. */
export function hasSource(event: ToolEvent): boolean {
  return event.outputHash === undefined || known.has(event)
}

/** Call when the step is folded, or too old to be looked at again before: its outputs' sources are given up. */
export function forgetSources(events: readonly ToolEvent[]): void {
  for (const event of events) known.delete(event)
}

/** The newest entries whose sources are computed ahead. Where folding pays, fewer than these are not folded yet. */
export const MAX_AHEAD = 200

/**
 * Computes the sources of what may be folded next, and yields after each output. `messages` are those of the entries;
 * `awaited` are the indexes of entries that come first, since folds wait for them.
 */
export function* sourcesAhead(
  entries: readonly Entry[],
  messages: readonly Message[],
  folds: Folds,
  env: Env,
  awaited: readonly number[] = [],
): Generator<void, void> {
  const first = Math.max(leadingOf(entries, folds).entries.length, entries.length - MAX_AHEAD)
  // where little is folded, only the sources of the newest entries are kept
  if (awaited.length === 0)
    for (const { events } of entries.slice(Math.max(0, first - MAX_AHEAD), first)) forgetSources(events)
  const newest = Array.from({ length: entries.length - first }, (_, at) => first + at)
  for (const at of [...awaited, ...newest]) {
    const { id, events, fingerprint: print } = entries[at] as Entry
    const message = messages[at]
    // another plugin may have changed the message since it was read
    if (message?.id !== id || fingerprint(message) !== print || stepFold(folds, id)) continue
    for (const event of events) {
      if (event.outputHash === undefined || hasSource(event)) continue
      const part = message.parts.find((one) => one.type === "tool" && one.id === event.partID)
      if (part?.type !== "tool") continue
      env.digest(digestKey(event.inputHash, event.outputHash), foldSource(part, event).source)
      yield
    }
  }
}
