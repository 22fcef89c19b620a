// The seam every writer of digests stands behind: what it is given and what it gives back.
// It holds types only; `extract/` is the deterministic writer, the model-written ones live under `src/digest`.

import type { ToolKind } from "./tools.ts"

/** One finished tool call, with the whole of its output. Lives only as long as the call that digests it. */
export type DigestSource = {
  tool: string
  kind: ToolKind
  /** arguments as the agent gave them */
  input: Readonly<Record<string, unknown>>
  /** what the tool answered, or the message of the error it ended in; NULs and lone surrogates already replaced */
  output: string
  failed: boolean
  /** a command's exit code, where the tool reports one */
  exit?: number
}

export type FactType = "path" | "symbol" | "number" | "error" | "verdict"

/** One thing worth keeping. `text` is a verbatim span of the source's output, never a paraphrase. */
export type Fact = { type: FactType; text: string; line?: number }

/**
 * A short account of one tool output.
 * - `kind`: what sort of output it turned out to be ("code", "test-run", "matches", "listing", "log", "page", …)
 * - `gist`: one line, at most 160 characters, no line breaks
 * - `facts`: at most 12, in order of worth
 * - `verdict`: set when the output says whether a check (tests, build, lint, types) passed, whatever the exit code
 */
export type Digest = {
  kind: string
  gist: string
  facts: Fact[]
  verdict?: "pass" | "fail"
}
