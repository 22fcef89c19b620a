// The tool event: one small, bounded record per tool part, the same for all tools and OpenCode versions. It holds no
// reference to a part or an output, so that a session's outputs can be garbage-collected.

import type { Shows } from "../output/shows.ts"
import type { FileUse, ToolKind } from "../output/tools.ts"
import { cutMiddle } from "../text/sanitize.ts"
import type { ToolStatus } from "./conversation.ts"

export type ToolEvent = {
  callID: string
  partID: string
  messageID: string
  /** the tool's name as the model called it */
  tool: string
  kind: ToolKind
  status: ToolStatus
  /** a short summary of the arguments, one line, redacted */
  input: string
  /** what is attempted, reduced to its essentials: equal for retries of the same thing, at most 200 characters */
  attempt: string
  /** it checked the project: its failure stays open until a run passes. False if it was rejected, aborted or mistyped */
  isCheck: boolean
  /** what the output shows, finer than `kind` */
  shows: Shows
  /** hash of the tool and its canonical arguments: equal for equal calls */
  inputHash: string
  /** hash of the output or error text; absent while the call runs */
  outputHash?: string
  /** estimated size of the output or error text */
  outputTokens: number
  /** the error the tool ended in, one line, redacted, at most 160 characters; empty when it ended without a message */
  error?: string
  /** whether the call is known to have succeeded; unknown if the command hides the exit code */
  ok: boolean
  /** what went wrong, by the output of a command or else by the error; in the same form, never empty */
  failure?: string
  files: readonly FileUse[]
  /** epoch ms, by the host's clock */
  endedMs?: number
  /** the model gets a placeholder instead of the output, from OpenCode's pruning or another plugin */
  cleared: boolean
  /** the call (1-based, within the session) that made it */
  call: number
}

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
