// Outputs that are never folded because the user said so, by tool and by file.

import picomatch from "picomatch"
import type { ToolEvent } from "../event.ts"

export type Protection = { protectedTools: readonly string[]; protectedFiles: readonly string[] }

/** A test for events. Patterns are globs; of a file the path within the project is held against them, then its name. */
export function protection({ protectedTools, protectedFiles }: Protection): (event: ToolEvent) => boolean {
  const isTool = matcher(protectedTools)
  const isFile = matcher(protectedFiles)
  return ({ tool, files }) => isTool(tool) || files.some(({ path }) => isFile(path))
}

function matcher(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.length === 0) return () => false
  return picomatch([...patterns], { dot: true, basename: true, nocase: true })
}
