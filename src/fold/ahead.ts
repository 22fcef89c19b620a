// What a cut needs of the steps, found between requests, so that a request does not wait for it. A cut finds the same itself
// where there was no time, so its bytes do not depend on timing.

import type { Message } from "../session/conversation.ts"
import { type Entry, fingerprint } from "../session/entry.ts"
import { digestKey } from "../session/source.ts"
import type { Env, ToolEvent } from "../session/tool-event.ts"
import { type Folds, foldedStart, stepFold } from "./fold.ts"
import { namesWritten } from "./names.ts"
import { beginningOf, forgetLines, stepLines } from "./record.ts"
import { foldSource, forgetSources } from "./sources.ts"

/** The newest entries for which this is done. Where folding pays, fewer than these are not folded yet. */
export const MAX_AHEAD = 200

type AheadSource = { entries: readonly Entry[]; messages: readonly Message[]; folds: Folds }

/** The events of entries for which everything was found, so that later requests do not look for it again. */
const found = new WeakSet<readonly ToolEvent[]>()

/** Finds what the next cut may need: the sources of outputs, the lines of steps, and the names in them. Yields after each output. */
export function* sourcesAhead({ entries, messages, folds }: AheadSource, env: Env): Generator<void, void> {
  const first = Math.max(foldedStart(entries, folds).length, entries.length - MAX_AHEAD)
  // where little is folded, only what was found for the newest entries is kept
  for (const entry of entries.slice(Math.max(0, first - MAX_AHEAD), first)) forgetFound(entry)
  for (let at = first; at < entries.length; at++) {
    const { id, events, kind, call, fingerprint: print } = entries[at] as Entry
    if (found.has(events)) continue
    const message = messages[at]
    // another plugin may have changed the message since it was read
    if (message?.id !== id || fingerprint(message) !== print || stepFold(folds, id)) continue
    for (const event of events) {
      if (event.outputHash === undefined) continue
      const part = message.parts.find((one) => one.type === "tool" && one.id === event.partID)
      if (part?.type !== "tool") continue
      beginningOf(env.digest(digestKey(event), foldSource(part, event).whole()))
      yield
    }
    // a call that has not finished will have another output
    if (events.some(({ outputHash }) => outputHash === undefined)) continue
    found.add(events)
    if (kind !== "step") continue
    stepLines(call, message, events)
    namesWritten(message)
  }
}

/** Gives up what was found for a step. Call when the step is folded, or too old to be looked at again. */
export function forgetFound({ events }: Entry): void {
  found.delete(events)
  forgetSources(events)
  forgetLines(events)
}
