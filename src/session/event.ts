// The normalized tool event: one small, bounded record per tool part, whatever OpenCode version or tool wrote it.
// It holds no reference to a part or an output, so that a session's outputs can be collected.

import type { Shows } from "../output/shows.ts"
import type { FileUse, ToolKind } from "../output/tools.ts"
import type { ToolStatus } from "./conversation.ts"

export type ToolEvent = {
  callID: string
  partID: string
  messageID: string
  /** the tool's name as the model called it */
  tool: string
  kind: ToolKind
  status: ToolStatus
  /** the arguments in a few words, one line, redacted */
  input: string
  /** what is attempted, without trimmings: equal for tries at the same thing, at most 200 characters */
  attempt: string
  /** what the output shows, finer than `kind` */
  shows: Shows
  /** hash of tool and canonical arguments: equal for calls that ask the same */
  inputHash: string
  /** hash of the output or error text; absent while the call runs */
  outputHash?: string
  /** estimated size of the arguments, and of the output or error text */
  inputTokens: number
  outputTokens: number
  /** first line of the error the tool ended in */
  error?: string
  /** exit code of a command; a command that fails is still "completed" for OpenCode */
  exit?: number
  /** whether the call is known to have done what was asked; a pipeline that hides an exit code is not known to */
  ok: boolean
  /** for commands and checks: what went wrong, in one line */
  failure?: string
  /** the gist of its digest, where it was wanted */
  gist?: string
  files: readonly FileUse[]
  durationMs?: number
  /** epoch ms, by the host's clock */
  endedAt?: number
  /** OpenCode has pruned the output: the model sees a placeholder */
  cleared: boolean
  /** the call (1-based, within the session) that made it */
  call: number
}

/** The call as a reader knows it again: a command as it is, of any other tool the name and the arguments. */
export function nameOf(event: Pick<ToolEvent, "kind" | "tool" | "input">): string {
  return event.kind === "command" && event.input !== "" ? event.input : `${event.tool} ${event.input}`.trim()
}
