// The original of a fold, in the part as OpenCode keeps it.

import { stateOf, text } from "../fields.ts"
import type { HostPart } from "../host/v1/message.ts"
import { withoutMark } from "../session/neighbours.ts"
import type { Fold } from "./fold.ts"

/** What a fold of this part stands for, verbatim; undefined when the part holds no such thing. */
export function originalText(part: HostPart, side: Fold["side"]): string | undefined {
  const state = stateOf(part)
  if (side === "input") return state?.input && JSON.stringify(state.input, null, 2)
  const output = state?.status === "error" ? text(state.error) : text(state?.output)
  return output === undefined ? undefined : withoutMark(output)
}
