// What the user's options keep from being folded.

import picomatch from "picomatch"
import type { ToolKind } from "../output/tools.ts"
import type { ToolEvent } from "../session/event.ts"

export type Protection = { protectedTools: readonly string[]; protectedFiles: readonly string[] }

/** Kinds of tools whose summarized input is a file name. */
const FILE_KINDS: ReadonlySet<ToolKind> = new Set(["read", "edit", "write"])

/** A test for protected events. Patterns are globs; one without a slash matches a file's name in any folder. */
export function protection({ protectedTools, protectedFiles }: Protection): (event: ToolEvent) => boolean {
  const isTool = matcher(protectedTools)
  const isFile = matcher(protectedFiles)
  return ({ tool, kind, input, files }) => {
    if (isTool(tool) || files.some(({ path }) => isFile(path))) return true
    // a failed call has used no file; the one it named is its summary
    return files.length === 0 && FILE_KINDS.has(kind) && isFile(input)
  }
}

function matcher(patterns: readonly string[]): (text: string) => boolean {
  // picomatch throws on an empty pattern; with `basename`, one with a slash would never match
  const tests = patterns
    .filter((pattern) => pattern !== "")
    .map((pattern) => picomatch(pattern, { dot: true, nocase: true, basename: !pattern.includes("/") }))
  return (text) => tests.some((test) => test(text))
}
