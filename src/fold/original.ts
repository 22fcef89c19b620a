// The original of a fold, in the part as the host keeps it.

import type { ToolPart } from "../session/conversation.ts"
import type { Fold } from "./fold.ts"

/** What a fold of this call stands for, verbatim. */
export function originalText({ input, output }: ToolPart, side: Fold["side"]): string {
  return side === "input" ? JSON.stringify(input, null, 2) : output
}
