// What every digest writer takes and returns: the deterministic one in `digest/extract` and the model-backed ones in
// `digest/backends`.

import { redactLine } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import type { ToolKind } from "./tools.ts"

/** A finished tool call with its complete output. Kept only while it is digested. */
export type DigestSource = {
  tool: string
  kind: ToolKind
  /** the arguments of the call */
  input: Readonly<Record<string, unknown>>
  /** the tool's output, or its error message; NULs and lone surrogates already replaced */
  output: string
  failed: boolean
  /** a command's exit code, if the tool reports one */
  exit?: number | undefined
}

/** A summary of one tool output: one line of at most 160 characters. */
export type Digest = { gist: string }

export const MAX_GIST_CHARS = 160

/** One line without secrets, at most 160 characters. */
export function cleanGist(gist: string): string {
  return cut(redactLine(gist), MAX_GIST_CHARS) || "no output"
}
