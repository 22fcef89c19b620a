// What every digest writer takes and returns: the deterministic one in `digest/extract` and the model-backed ones in
// `digest/backends`.

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
  exit?: number
}

/**
 * A summary of one tool output.
 * - `kind`: what the output turned out to be ("text", "list", "test-run", "check", "failure", "empty")
 * - `gist`: one line, at most 160 characters, no line breaks
 * - `verdict`: whether a check (tests, build, lint, types) passed by what it printed, whatever its exit code
 */
export type Digest = {
  kind: string
  gist: string
  verdict?: "pass" | "fail"
}
