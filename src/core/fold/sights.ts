// What the agent saw again later: a read whose file was read again or written since shows nothing that a newer one does
// not show better, and of two equal outputs one is enough. Fed with a session's events from the newest back.

import type { FileUse, ToolEvent } from "../event.ts"

export type Sights = {
  /** Whether a newer event makes this one needless: by its file seen anew, or by the very same output. */
  of(event: ToolEvent): "superseded" | "repeated" | undefined
  /** Takes in an event; `folded`: its output does not stand in the context any more. */
  add(event: ToolEvent, folded: boolean): void
}

export function newSights(): Sights {
  const files = new Map<string, FileUse[]>()
  const outputs = new Map<string, string>()
  return {
    of(event) {
      if (event.outputHash !== undefined && outputs.get(event.inputHash) === event.outputHash) return "repeated"
      const [file] = event.files
      if (event.kind !== "read" || !file) return
      return files.get(file.path)?.some((newer) => covers(newer, file)) ? "superseded" : undefined
    },
    add(event, folded) {
      if (event.status !== "completed") return
      if (!folded && event.outputHash !== undefined) outputs.set(event.inputHash, event.outputHash)
      for (const file of event.files) {
        // who writes a whole file has it before him in the call's arguments; a search shows lines of it only
        const shown = file.use === "write" || file.use === "delete" || (event.kind === "read" && !folded)
        if (shown) files.set(file.path, [...(files.get(file.path) ?? []), file])
      }
    },
  }
}

function covers(newer: FileUse, older: FileUse): boolean {
  if (!newer.range) return true
  return older.range !== undefined && newer.range[0] <= older.range[0] && older.range[1] <= newer.range[1]
}
