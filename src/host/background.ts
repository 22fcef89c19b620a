// Work that is done between requests, a few milliseconds at a time, so that it delays neither a request nor what OpenCode
// does meanwhile.

export type Background = ReturnType<typeof createBackground>

/** How long the work may hold up the thread at a time. */
const SLICE_MS = 4

/** Work that throws is dropped, and `report` is called with the error. */
export function createBackground(report: (cause: unknown) => void) {
  const waiting = new Map<string, Iterator<void>>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function run(): void {
    timer = undefined
    const until = performance.now() + SLICE_MS
    for (const [sessionID, work] of waiting) {
      let isDone = false
      try {
        while (!isDone && performance.now() < until) isDone = work.next().done === true
      } catch (cause) {
        isDone = true
        report(cause)
      }
      if (isDone) waiting.delete(sessionID)
    }
    if (waiting.size > 0) schedule()
  }

  function schedule(): void {
    timer ??= setTimeout(run)
    // it must not keep a process alive that has nothing else to do
    timer.unref?.()
  }

  return {
    /** Starts work on a session. It replaces what is left of the session's earlier work. */
    start(sessionID: string, work: Iterator<void>): void {
      waiting.set(sessionID, work)
      schedule()
    },
    close(): void {
      clearTimeout(timer)
      waiting.clear()
    },
  }
}
