// What the agent saw again later: a read whose file was read again or written since shows nothing that a newer one does
// not show better, and of two equal outputs one is enough. Fed with a session's events from the newest back.

import type { FileUse } from "../output/tools.ts"
import type { ToolEvent } from "../session/event.ts"

export type Sight = {
  /** the file was seen anew, or the very same output came again */
  standing: "superseded" | "repeated"
  by: ToolEvent
}

export type Sights = {
  /** The newer event that makes this one needless, if there is one. */
  of(event: ToolEvent): Sight | undefined
  /** Takes in an event; `folded`: its output does not stand in the context any more. */
  add(event: ToolEvent, folded: boolean): void
}

/** Reads of parts of one file that are remembered; the oldest of more parts are few. */
const MOST_PARTS = 20

type Seen = { file: FileUse; event: ToolEvent }

export function newSights(): Sights {
  const files = new Map<string, Seen[]>()
  const outputs = new Map<string, ToolEvent>()
  return {
    of(event) {
      const same = outputs.get(event.inputHash)
      if (same && same.outputHash === event.outputHash) return { standing: "repeated", by: same }
      const [file] = event.files
      if (event.kind !== "read" || !file) return
      const newer = files.get(file.path)?.find((one) => covers(one.file, file))
      return newer && { standing: "superseded", by: newer.event }
    },
    add(event, folded) {
      if (event.status !== "completed") return
      if (!folded && event.outputHash !== undefined) outputs.set(event.inputHash, event)
      for (const file of event.files) {
        // who writes a whole file has it before him in the call's arguments; a search shows lines of it only
        const shown = file.use === "write" || file.use === "delete" || (event.kind === "read" && !folded)
        if (!shown) continue
        const seen = files.get(file.path)
        if (!seen) files.set(file.path, [{ file, event }])
        // nothing covers more than the whole
        else if (seen.length < MOST_PARTS && !seen.some((one) => !one.file.range)) seen.push({ file, event })
      }
    },
  }
}

function covers(newer: FileUse, older: FileUse): boolean {
  if (!newer.range) return true
  return older.range !== undefined && newer.range[0] <= older.range[0] && older.range[1] <= newer.range[1]
}
