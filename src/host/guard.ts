// The guard around every hook. OpenCode awaits hooks without a catch and without a deadline, so a failure in one would
// break the user's turn. Here it becomes one log line, and the request goes out as if the plugin were absent.

import { LATE, within } from "../system/process.ts"

/** Reports a problem in a hook. Must not throw. */
export type Report = (hook: string, problem: string, cause?: unknown) => void

/** Makes all of a hook's changes. Small and synchronous, and run only when the hook was in time. */
export type Commit = () => void

/**
 * Returns a hook that never throws, never rejects and finishes by the deadline. The body may read its arguments but
 * changes them only through the commit it returns, so that a body that fails or is late has changed nothing. The result
 * of a slow synchronous body is used and reported, since the time is spent either way. An asynchronous one may take
 * `maxWaitMs`.
 */
export function guard<Args extends unknown[]>(
  hook: string,
  deadlineMs: number,
  report: Report,
  body: (...args: Args) => Commit | undefined | Promise<Commit | undefined>,
  maxWaitMs = deadlineMs,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const started = performance.now()
    try {
      const result = body(...args)
      const waits = result instanceof Promise
      const commit = waits ? await within(result, maxWaitMs) : result
      if (commit === LATE) return report(hook, `was not done after ${maxWaitMs} ms; OpenCode went on without it`)
      commit?.()
      if (waits) return
    } catch (cause) {
      return report(hook, "failed; OpenCode went on without it", cause)
    }
    const elapsedMs = performance.now() - started
    if (elapsedMs > deadlineMs) report(hook, `took longer than ${deadlineMs} ms`)
  }
}
