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

export const MAX_DIGEST_CHARS = 160

/** A digest in its final form: one line without secrets, at most 160 characters. */
export function cleanDigest(digest: string): string {
  return cut(redactLine(digest), MAX_DIGEST_CHARS) || "no output"
}
