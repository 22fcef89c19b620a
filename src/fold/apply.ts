// Puts folds into the message array.

import { stateOf, text } from "../fields.ts"
import { replacePart } from "../host/copies.ts"
import type { HostMessage, HostPart } from "../host/v1/message.ts"
import { isRemoved, markOf, withoutMark } from "../session/neighbours.ts"
import { type Fold, savedTokens } from "./fold.ts"

export type Applied = {
  /** outputs that go out folded with this request, and the tokens that leaves out */
  outputs: number
  savedTokens: number
  /** puts every fold into its part */
  commit(): void
}

/** Looks only, until `commit`. What OpenCode has pruned goes out as OpenCode wants it. */
export function planApply(messages: readonly HostMessage[], folds: ReadonlyMap<string, Fold>): Applied {
  const swaps: { parts: HostPart[]; at: number; copy: HostPart }[] = []
  let saved = 0
  if (folds.size > 0)
    for (const { info, parts } of messages)
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at]
        const fold = part?.type === "tool" && part.id !== undefined ? folds.get(part.id) : undefined
        // a part id that another message has too stands for another output
        if (!part || !fold || fold.messageID !== info.id) continue
        const copy = folded(part, fold)
        if (!copy) continue
        swaps.push({ parts, at, copy })
        saved += savedTokens(fold)
      }
  return {
    outputs: swaps.length,
    savedTokens: saved,
    commit() {
      for (const { parts, at, copy } of swaps) replacePart(parts, at, copy)
    },
  }
}

/** Two sets of folds of one array, none of them in both. */
export function both(one: Applied, other: Applied): Applied {
  return {
    outputs: one.outputs + other.outputs,
    savedTokens: one.savedTokens + other.savedTokens,
    commit() {
      one.commit()
      other.commit()
    },
  }
}

function folded(part: HostPart, fold: Fold): HostPart | undefined {
  const state = stateOf(part)
  if (!state || state.time?.compacted !== undefined) return
  const field = state.status === "error" ? "error" : "output"
  const output = text(state[field]) ?? ""
  if (fold.side === "output" && isRemoved(withoutMark(output))) return
  const changed =
    fold.side === "output"
      ? { ...state, [field]: fold.text + markOf(output) }
      : { ...state, input: JSON.parse(fold.text) as Record<string, unknown> }
  // before OpenCode 1.0 a part was its own state
  return part.state === undefined ? { ...part, ...changed } : { ...part, state: changed }
}
