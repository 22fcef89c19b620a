// Outputs that are never folded because the user said so, by tool and by file.

import picomatch from "picomatch"
import type { ToolKind } from "../output/tools.ts"
import type { ToolEvent } from "../session/event.ts"

export type Protection = { protectedTools: readonly string[]; protectedFiles: readonly string[] }

const NAMING: ReadonlySet<ToolKind> = new Set(["read", "edit", "write"])

/** A test for events. Patterns are globs; one without a slash is held against a file's name in any folder. */
export function protection({ protectedTools, protectedFiles }: Protection): (event: ToolEvent) => boolean {
  const isTool = matcher(protectedTools)
  const isFile = matcher(protectedFiles)
  return ({ tool, kind, input, files }) => {
    if (isTool(tool) || files.some(({ path }) => isFile(path))) return true
    // a call that failed has used no file; the one it named is its summary
    return files.length === 0 && NAMING.has(kind) && isFile(input)
  }
}

function matcher(patterns: readonly string[]): (text: string) => boolean {
  // an empty pattern makes picomatch throw; one with a slash held against a name alone never matches
  const tests = patterns
    .filter((pattern) => pattern !== "")
    .map((pattern) => picomatch(pattern, { dot: true, nocase: true, basename: !pattern.includes("/") }))
  return (text) => tests.some((test) => test(text))
}
