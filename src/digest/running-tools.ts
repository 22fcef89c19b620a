// Whether a local tool runs: a build or a test run should not have to share the processor with a model.

export type RunningTools = {
  readonly any: boolean
  started(id: string): void
  ended(id: string): void
  /** Forgets all of them, without a word. */
  clear(): void
}

/** A tool whose end was never heard of must not stop the model for good. */
const FORGOTTEN_MS = 30 * 60_000
const MOST = 100

/** `onChange` is told when the first one starts and when the last one ends. */
export function createRunningTools(onChange: (any: boolean) => void, forgottenMs = FORGOTTEN_MS): RunningTools {
  const timers = new Map<string, NodeJS.Timeout>()

  function ended(id: string): void {
    clearTimeout(timers.get(id))
    if (timers.delete(id) && timers.size === 0) onChange(false)
  }

  return {
    get any() {
      return timers.size > 0
    },
    started(id) {
      if (timers.has(id) || timers.size >= MOST) return
      const timer = setTimeout(() => ended(id), forgottenMs)
      timer.unref()
      timers.set(id, timer)
      if (timers.size === 1) onChange(true)
    },
    ended,
    clear() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
