// The source of a folded output's text: its arguments and its output without secrets, and the names in both. Computing it
// takes most of a cut's time. So it is computed between requests (`ahead.ts`), and remembered until the step is folded.

import type { DigestSource } from "../output/digest.ts"
import type { ToolPart } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import { sourceOf, withoutSecrets } from "../session/normalize.ts"
import { stringsIn } from "../session/steps.ts"
import { namesIn } from "../text/names.ts"

/** `names`: those in the arguments and the output. */
type FoldSource = { readonly source: DigestSource; readonly names: ReadonlySet<string> }

const known = new WeakMap<ToolEvent, FoldSource>()

/** The source of a tool part; `event` is the ledger's, which is the same object as long as the part is the same. */
export function foldSource(part: ToolPart, event: ToolEvent | undefined): FoldSource {
  const found = event && known.get(event)
  if (found) return found
  const source = withoutSecrets(sourceOf(part))
  const made = { source, names: namesIn([...stringsIn(source.input), source.output].join("\n")) }
  if (event) known.set(event, made)
  return made
}

/** Whether the source of the output is known, or there is no output. */
export function hasSource(event: ToolEvent): boolean {
  return event.outputHash === undefined || known.has(event)
}

/** Drops the sources of the outputs. Call when their step is folded, or too old to be looked at again before. */
export function forgetSources(events: readonly ToolEvent[]): void {
  for (const event of events) known.delete(event)
}
