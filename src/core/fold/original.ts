// The original of a fold, in the part as OpenCode keeps it.

import type { HostPart } from "../host.ts"
import { stateOf, text } from "../normalize.ts"
import type { Fold } from "./fold.ts"

/** What a fold of this part stands for, verbatim; undefined when the part holds no such thing. */
export function originalText(part: HostPart, side: Fold["side"]): string | undefined {
  const state = stateOf(part)
  if (side === "input") return state?.input && JSON.stringify(state.input, null, 2)
  return state?.status === "error" ? text(state.error) : text(state?.output)
}
