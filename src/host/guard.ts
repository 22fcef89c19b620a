// Every hook runs behind this. OpenCode awaits hooks without a catch and without a deadline, so whatever goes wrong in
// one is the user's broken turn; here it becomes one log line, and the request goes out as if the plugin were absent.

import { LATE, within } from "../system/process.ts"

/** Reports what went wrong in a hook. Must not throw. */
export type Report = (hook: string, problem: string, cause?: unknown) => void

/** The change a hook wants, all of it; small and synchronous, and run only when the hook was in time. */
export type Commit = () => void

/**
 * A hook that never throws, never rejects and is done by the deadline. The body may look at its arguments but changes
 * them only through the commit it returns: a body that fails or comes late has changed nothing. A synchronous body
 * that took longer is reported but used, since the time is spent either way. One that waits may do so for `patienceMs`.
 */
export function guard<Args extends unknown[]>(
  hook: string,
  deadlineMs: number,
  report: Report,
  body: (...args: Args) => Commit | undefined | Promise<Commit | undefined>,
  patienceMs = deadlineMs,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const started = performance.now()
    try {
      const result = body(...args)
      const waits = result instanceof Promise
      const commit = waits ? await within(result, patienceMs) : result
      if (commit === LATE) return report(hook, `was not done after ${patienceMs} ms; OpenCode went on without it`)
      commit?.()
      if (waits) return
    } catch (cause) {
      return report(hook, "failed; OpenCode went on without it", cause)
    }
    const elapsedMs = performance.now() - started
    if (elapsedMs > deadlineMs) report(hook, `took longer than ${deadlineMs} ms`)
  }
}
