// Whether another process still runs, and deadlines and aborts for promises.

/** True for a process of another user as well. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** What `within` resolves to when the deadline came first. */
export const LATE = Symbol("late")

/** The promise's value, or LATE at the deadline. A rejection after the deadline is swallowed: nobody waits for it. */
export async function within<T>(promise: Promise<T>, deadlineMs: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), deadlineMs)
  })
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The same where a rejection is as good as no answer. */
export function answeredWithin<T>(promise: Promise<T>, deadlineMs: number): Promise<T | typeof LATE> {
  return within(promise, deadlineMs).catch((): typeof LATE => LATE)
}

/** Settles as the promise does, or on abort rejects at once with the signal's reason. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}
