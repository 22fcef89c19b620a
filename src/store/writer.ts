// A write-behind queue: bounded, one write per key, written to disk in batches outside the caller's path. What must outlive the
// process is written at once. Independent of SQLite: `write` does the writing and `recover` decides what a failure means.
import { setTimeout as delay, setImmediate as nextTick } from "node:timers/promises"
import { innermostReason } from "./errors.ts"
import { addWrite, type Haste, keyOfWrite, type StoreWrite } from "./writes.ts"

/**
 * What to do after a failed batch: `retry` it later with the queue kept (locked, full), write `again` at once (to a new
 * file), `skip` the writes that fail one by one, or `stop` for good (memory only from now on).
 */
export type Recovery = "retry" | "again" | "skip" | "stop"

export type WriterOptions = {
  /** Writes all or throws. Synchronous. */
  write(batch: readonly StoreWrite[], haste: Haste): void
  /** Must not return `again` forever. */
  recover(error: unknown): Recovery
  /** Called when writes are lost. */
  onLost(why: string): void
  maxWrites?: number
  delayMs?: number
}

const BATCH_SIZE = 200
const MAX_RETRY_MS = 30_000
// A request waits for what is written at once. If another process is writing, the next attempt comes soon.
const URGENT_PATIENCE_MS = 5
const SOON_MS = 50
// In the background the wait for another writer is brief, since it blocks the host's event loop and a retry is cheap. While
// closing there is no later retry.
const BACKGROUND_PATIENCE_MS = 25
const CLOSING_PATIENCE_MS = 200
const CLOSING_ATTEMPTS = 6
const CLOSING_PAUSE_MS = 50

export function createWriter({ write, recover, onLost, maxWrites = 1000, delayMs = 1000 }: WriterOptions) {
  const queue = new Map<string, StoreWrite>()
  let retries = 0
  let stopped = false
  /** why the last batch failed and will be retried */
  let retryReason = ""
  let timer: NodeJS.Timeout | undefined
  let tail: Promise<void> = Promise.resolve()
  let closing: Promise<void> | undefined

  function add(next: StoreWrite): void {
    if (stopped || closing) return
    addWrite(queue, next)
    makeRoom()
    schedule(delayMs)
  }

  /** Adds the write and tries once to write it, in the caller's time. If that fails it waits like the others. Never throws. */
  function addNow(next: StoreWrite & { sessionID: string }): void {
    if (stopped || closing) return
    addWrite(queue, next)
    // Together with a waiting delete of the session, which would otherwise run later and delete what is written now.
    const deletion = keyOfWrite({ kind: "delete", sessionID: next.sessionID })
    const batch = [deletion, keyOfWrite(next)].flatMap((key) => queue.get(key) ?? [])
    try {
      writeAll(batch, { patienceMs: URGENT_PATIENCE_MS, urgent: true })
    } catch {
      // The background flush will get the same error and recover from it.
      makeRoom()
      clearTimeout(timer)
      timer = undefined
      schedule(Math.min(delayMs, SOON_MS))
    }
  }

  function makeRoom(): void {
    const [oldest] = queue.keys()
    if (queue.size > maxWrites && oldest !== undefined) {
      queue.delete(oldest)
      onLost(`more than ${maxWrites} writes are waiting`)
    }
  }

  function schedule(ms: number): void {
    timer ??= setTimeout(() => void flush(), ms)
    timer.unref()
  }

  /** Never rejects. */
  function flush(): Promise<void> {
    tail = tail.then(async () => {
      // Not in this tick, since the caller may be in a hook.
      await nextTick()
      if (closing) return
      clearTimeout(timer)
      timer = undefined
      if (await drain(BACKGROUND_PATIENCE_MS)) retries = 0
      else schedule(Math.min(delayMs * 2 ** retries++, MAX_RETRY_MS))
    })
    return tail
  }

  /** Whether the queue was emptied. If not, try again later. */
  async function drain(patienceMs: number): Promise<boolean> {
    while (queue.size > 0) {
      if (!writeBatch([...queue.values()].slice(0, BATCH_SIZE), patienceMs)) return false
      if (queue.size > 0) await nextTick()
    }
    return true
  }

  function writeBatch(batch: readonly StoreWrite[], patienceMs: number): boolean {
    try {
      writeAll(batch, { patienceMs, urgent: false })
      return true
    } catch (error) {
      const recovery = recover(error)
      if (recovery === "again") return true
      if (recovery === "retry") {
        retryReason = innermostReason(error)
        return false
      }
      if (recovery === "stop") {
        stopped = true
        queue.clear()
        return true
      }
      if (batch.length > 1) return batch.every((one) => stopped || writeBatch([one], patienceMs))
      remove(batch)
      onLost(innermostReason(error))
      return true
    }
  }

  /** Throws if nothing was written. */
  function writeAll(batch: readonly StoreWrite[], haste: Haste): void {
    write(batch, haste)
    remove(batch)
  }

  function remove(batch: readonly StoreWrite[]): void {
    for (const one of batch) if (queue.get(keyOfWrite(one)) === one) queue.delete(keyOfWrite(one))
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      clearTimeout(timer)
      // A flush that is waiting for its turn finds nothing left to write.
      // Attempts are counted, not timed: tests may freeze the clock.
      for (let attempt = 0; attempt < CLOSING_ATTEMPTS; attempt++) {
        if (await drain(CLOSING_PATIENCE_MS)) return
        await delay(CLOSING_PAUSE_MS)
      }
      if (queue.size > 0) onLost(retryReason)
      queue.clear()
    })()
    return closing
  }

  return { add, addNow, flush, close }
}
