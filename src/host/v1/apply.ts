// Writes a request's change into OpenCode's array: folds in the place of outputs, and the HUD. The only file that does.

import type { Fold } from "../../fold/fold.ts"
import type { Change } from "../../request/request.ts"
import { asString } from "../../system/values.ts"
import { originalOf, putBack, replacePart } from "../copies.ts"
import { type HostMessage, type HostPart, stateOf } from "./message.ts"
import { isRemoved, markOf, withoutMark } from "./neighbours.ts"
import { placeHud } from "./place.ts"

export function applyChange(messages: HostMessage[], { folds, hud }: Change): void {
  const swap = foldSwaps(messages, folds)
  putBack(messages)
  swap()
  placeHud(messages, hud)
}

/** The folds alone. */
export function applyFolds(messages: HostMessage[], folds: ReadonlyMap<string, Fold>): void {
  foldSwaps(messages, folds)()
}

/** Makes every copy before anything is written. What OpenCode has cleared goes out as OpenCode wants it. */
function foldSwaps(messages: readonly HostMessage[], folds: ReadonlyMap<string, Fold>): () => void {
  const swaps: { parts: HostPart[]; at: number; copy: HostPart }[] = []
  if (folds.size > 0)
    for (const { info, parts } of messages)
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at]
        const fold = part?.type === "tool" && part.id !== undefined ? folds.get(part.id) : undefined
        // two messages may have parts of one id: forks, and other plugins
        if (!part || !fold || fold.messageID !== info.id) continue
        const copy = foldedCopy(originalOf(part), fold)
        if (copy) swaps.push({ parts, at, copy })
      }
  return () => {
    for (const { parts, at, copy } of swaps) replacePart(parts, at, copy)
  }
}

function foldedCopy(part: HostPart, fold: Fold): HostPart | undefined {
  const state = stateOf(part)
  if (!state || state.time?.compacted !== undefined) return
  const field = state.status === "error" ? "error" : "output"
  const output = asString(state[field]) ?? ""
  if (fold.side === "output" && isRemoved(withoutMark(output))) return
  const changed =
    fold.side === "output"
      ? { ...state, [field]: fold.text + markOf(output) }
      : { ...state, input: JSON.parse(fold.text) as Record<string, unknown> }
  // before OpenCode 1.0 a part was its own state
  return part.state === undefined ? { ...part, ...changed } : { ...part, state: changed }
}
