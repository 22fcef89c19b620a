// Sessions given on a command line, one after the other: one that cannot be read is complained of and does not keep the
// others from being read.
import type { CallReplayed } from "../replay/replay.ts"
import { StoreError } from "../store/errors.ts"
import { lateProgress } from "./progress.ts"
import { complain, UsageError } from "./terminal.ts"

/** A session that could not be read, as it was given, and why. */
export type Failed = { session: string; error: string }

/** `work` is to pass on what it hears of every call that is done, for the progress. */
export async function eachSession<T>(
  sessions: readonly string[],
  work: (session: string, onCall: (done: CallReplayed) => void) => Promise<T>,
): Promise<{ done: T[]; failed: Failed[] }> {
  const started = Date.now()
  const done: T[] = []
  const failed: Failed[] = []
  for (const [i, session] of sessions.entries()) {
    const which = sessions.length > 1 ? `session ${i + 1} of ${sessions.length}` : "replaying"
    const progress = lateProgress(process.stderr, which, started)
    try {
      done.push(await work(session, ({ number, calls }) => progress.update(number, calls)))
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof StoreError)) throw error
      progress.end()
      complain(error.message)
      failed.push({ session, error: error.message })
    } finally {
      progress.end()
    }
  }
  return { done, failed }
}
