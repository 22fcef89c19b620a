// What calls and steps are called, for people and for the agent.

import { cutMiddle } from "../text/sanitize.ts"
import type { ToolEvent } from "./normalize.ts"

/** A label for the call: a command itself, for other tools the name and the arguments. */
export function nameOf(event: Pick<ToolEvent, "kind" | "tool" | "input">): string {
  return event.kind === "command" && event.input !== "" ? event.input : `${event.tool} ${event.input}`.trim()
}

const MAX_LABEL_CHARS = 100

/** A label for a step: its first call, and how many more there are. */
export function stepLabel([first, ...more]: readonly ToolEvent[]): string {
  if (!first) return "a text"
  return more.length > 0 ? `${callLabel(first)} and ${more.length} more` : callLabel(first)
}

/** `nameOf`, short enough for a list. */
export function callLabel(event: ToolEvent): string {
  return cutMiddle(nameOf(event), MAX_LABEL_CHARS)
}
