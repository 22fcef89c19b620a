// The guard around every hook. OpenCode awaits hooks without a catch and without a deadline, so a failure in one would
// break the user's turn. Here it becomes one log line, and the request goes out as if the plugin were absent.

import { LATE, within } from "../system/process.ts"
import type { Log } from "./log.ts"

/** Makes all of a hook's changes. Small and synchronous, and run only when the hook was in time. */
export type Commit = () => void

/**
 * Returns a hook that never throws, never rejects and finishes by the deadline. The body may read its arguments but changes
 * them only through the commit it returns, so that a body that fails or is late has changed nothing. The result of a slow
 * synchronous body is used and reported, since the time is spent either way. An asynchronous one may wait `maxWaitMs`.
 */
export function guard<Args extends unknown[]>(
  hook: string,
  deadlineMs: number,
  report: Log["report"],
  body: (...args: Args) => Commit | undefined | Promise<Commit | undefined>,
  maxWaitMs = deadlineMs,
): (...args: Args) => Promise<void> {
  let reportedFromMs = deadlineMs
  return async (...args) => {
    const started = performance.now()
    try {
      const result = body(...args)
      const waits = result instanceof Promise
      const commit = waits ? await waitFor(result, maxWaitMs) : result
      if (commit === LATE) return report(hook, `was not done after ${maxWaitMs} ms; OpenCode went on without it`)
      commit?.()
      if (waits) return
    } catch (cause) {
      return report(hook, "failed; OpenCode went on without it", cause)
    }
    const elapsedMs = performance.now() - started
    if (elapsedMs <= reportedFromMs) return
    // so that few lines say what is slow
    reportedFromMs = 2 * elapsedMs
    report(hook, `took ${Math.ceil(elapsedMs)} ms, longer than ${deadlineMs} ms (option deadlineMs); its work was used`)
  }
}

/** Length of one step of a wait. */
const STEP_MS = 50

/**
 * The promise's value, or LATE after `maxWaitMs`. Synchronous work of this process during the wait counts as one step,
 * however long it takes: a large session that takes a second to read must not go out without its folds because of that.
 */
async function waitFor<T>(promise: Promise<T>, maxWaitMs: number): Promise<T | typeof LATE> {
  for (let leftMs = maxWaitMs; leftMs > 0; leftMs -= STEP_MS) {
    const value = await within(promise, Math.min(STEP_MS, leftMs))
    if (value !== LATE) return value
  }
  return LATE
}
