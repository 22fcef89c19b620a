// Modification times of the files a session uses, asked off the request's path: whoever changed one since, the HUD
// can say so at the next call.

import { stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import type { Session } from "./sessions.ts"

/** Files asked for at once, the newest: more than the HUD names. */
const MOST = 40
/** File systems round, and are up to so much ahead. */
const SLACK_MS = 2000

/** Starts the look and returns; the answers land in the session's signals. */
export function checkDisk(directory: string, { ledger, signals }: Session): void {
  const recent = [...ledger.facts.files.values()].slice(-MOST)
  const wanted = new Set(recent.map((file) => file.path))
  for (const path of signals.modified.keys()) if (!wanted.has(path)) signals.modified.delete(path)
  for (const path of wanted)
    stat(isAbsolute(path) ? path : join(directory, path)).then(
      ({ mtimeMs }) => {
        // a time that is still to come is another clock's, or this one was put back: it says nothing of before and after
        if (mtimeMs <= Date.now() + SLACK_MS) signals.modified.set(path, mtimeMs)
        else signals.modified.delete(path)
      },
      // gone or never there: nothing to say of it
      () => void signals.modified.delete(path),
    )
}
