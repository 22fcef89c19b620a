// What the text of a folded output is made from: the call's arguments and the output, without secrets, and the names in both.
// Removing secrets takes most of a cut's time. So the names are those of the original, and only a chosen one is looked for
// among the names without secrets. Each part is made once, between requests if there is time (`ahead.ts`), and remembered
// until the step is folded.

import type { DigestSource } from "../output/digest.ts"
import { stringsIn } from "../session/arguments.ts"
import type { ToolPart } from "../session/conversation.ts"
import { endsOf, redactOutput, sourceOf, withoutSecrets } from "../session/source.ts"
import type { ToolEvent } from "../session/tool-event.ts"
import { lazy } from "../system/values.ts"
import { namesIn } from "../text/names.ts"
import { own } from "../text/sanitize.ts"
import type { NameSource } from "./names.ts"

export type FoldSource = NameSource & {
  isSafe(name: string): boolean
  /** the call, with an empty output */
  call(): DigestSource
  /** the call with its output */
  whole(): DigestSource
}

const knownSources = new WeakMap<ToolEvent, FoldSource>()

/** The source of a tool part; `event` is the ledger's, which is the same object as long as the part is the same. */
export function foldSource(part: ToolPart, event: ToolEvent | undefined): FoldSource {
  const found = event && knownSources.get(event)
  if (found) return found
  let original: DigestSource | undefined = endsOnly(sourceOf(part))
  /** of the original, once it is gone; one string, which takes less memory: a session keeps the names of 200 steps */
  let names = ""
  /** nothing was removed from the whole, so that every name in it is safe */
  let isClean = false
  const call = lazy(() => withoutSecrets({ ...(original as DigestSource), output: "" }))
  const whole = lazy(() => {
    const source = { ...call(), output: redactOutput(original as DigestSource, call().input) }
    const text = textOf(original as DigestSource)
    names = [...namesIn(text)].join("\n")
    isClean = textOf(source) === text
    // not needed any more, and as large as the output
    original = undefined
    return source
  })
  const safeNames = lazy(() => namesIn(textOf(whole())))
  const made = {
    call,
    whole,
    get names() {
      return original ? namesIn(textOf(original)) : names === "" ? [] : names.split("\n")
    },
    isSafe(name: string) {
      whole()
      return isClean || safeNames().has(name)
    },
  }
  if (event) knownSources.set(event, made)
  return made
}

/** The source with only the ends of a long output, copied, so that the rest can be collected. */
function endsOnly(source: DigestSource): DigestSource {
  const [first = "", last] = endsOf(source.output)
  return last === undefined ? source : { ...source, output: `${own(first)}\n${own(last)}` }
}

/** What the names are looked for in. */
function textOf({ input, output }: DigestSource): string {
  return [...stringsIn(input).flatMap(endsOf), output].join("\n")
}

/** Drops the sources of the outputs. Call when their step is folded, or too old to be looked at again before. */
export function forgetSources(events: readonly ToolEvent[]): void {
  for (const event of events) knownSources.delete(event)
}
