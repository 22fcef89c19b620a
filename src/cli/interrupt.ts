// Ctrl-C and its kin for commands that take a while: they end what is going on in order, and say how to go on.
import { complain } from "./terminal.ts"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Runs `work`; a signal aborts it, a second one ends the process at once. Answers its exit code, or 130. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<number>, next: string): Promise<number> {
  const stop = new AbortController()
  const abort = () => stop.abort()
  for (const signal of SIGNALS) process.once(signal, abort)
  try {
    return await work(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    complain(`interrupted; ${next}`)
    return 130
  } finally {
    for (const signal of SIGNALS) process.off(signal, abort)
  }
}
