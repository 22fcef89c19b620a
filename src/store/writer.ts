// Write-behind: a bounded queue of writes, one per key, put on disk in batches off the caller's path. It knows no
// SQLite: `write` does the writing and `recover` decides what a failure means.
import { reasonOf } from "./errors.ts"
import { addRows } from "./fold.ts"
import type { Write } from "./record.ts"

/**
 * What to do after a failed batch: `retry` later with the queue kept (locked, full), `again` at once (a fresh file is in
 * place), `skip` what cannot be written (one by one), `stop` for good (memory from now on).
 */
export type Recovery = "retry" | "again" | "skip" | "stop"

export type WriterOptions = {
  /** Writes all or throws. Synchronous. */
  write(batch: readonly Write[], patienceMs: number): void
  /** Must not answer `again` without end. */
  recover(error: unknown): Recovery
  /** Told of every write given up. */
  onLost(count: number, why: string): void
  maxWrites?: number
  delayMs?: number
}

export type Writer = {
  readonly pending: number
  readonly lost: number
  add(write: Write): void
  /** Never rejects. */
  flush(): Promise<void>
  close(): Promise<void>
}

const batchSize = 200
const maxRetryMs = 30_000
// In the background another writer is waited for only briefly, since waiting stops the host's event loop; a retry is
// cheap. When closing there is no later.
const backgroundPatienceMs = 25
const closingPatienceMs = 200
const closingAttempts = 6
const closingPauseMs = 50

export function createWriter({ write, recover, onLost, maxWrites = 1000, delayMs = 1000 }: WriterOptions): Writer {
  const queue = new Map<string, Write>()
  let lost = 0
  let retries = 0
  let stopped = false
  /** why the last batch is to be tried again */
  let inTheWay = ""
  let timer: NodeJS.Timeout | undefined
  let tail: Promise<void> = Promise.resolve()
  let closing: Promise<void> | undefined

  function add(next: Write): void {
    if (stopped || closing) return
    if (next.kind === "delete") forget(next.sessionID)
    const key = keyOf(next)
    const waiting = queue.get(key)
    // Set anew rather than replaced: after a delete of its session a write must come later than the delete.
    queue.delete(key)
    queue.set(key, waiting ? merged(waiting, next) : next)
    const [oldest] = queue.keys()
    if (queue.size > maxWrites && oldest !== undefined) {
      queue.delete(oldest)
      lose(1, `more than ${maxWrites} writes wait`)
    }
    schedule(delayMs)
  }

  function forget(sessionID: string): void {
    for (const [key, waiting] of queue) if ("sessionID" in waiting && waiting.sessionID === sessionID) queue.delete(key)
  }

  function schedule(ms: number): void {
    if (timer || stopped || closing) return
    timer = setTimeout(() => void flush(), ms)
    timer.unref()
  }

  function flush(): Promise<void> {
    tail = tail.then(async () => {
      // The next tick at the earliest: whoever asked for the flush may stand in a hook.
      await nextTick()
      if (closing) return
      clearTimeout(timer)
      timer = undefined
      if (await drain(backgroundPatienceMs)) retries = 0
      else schedule(Math.min(delayMs * 2 ** retries++, maxRetryMs))
    })
    return tail
  }

  /** Answers whether the queue was emptied; when not, it is worth another try later. */
  async function drain(patienceMs: number): Promise<boolean> {
    while (queue.size > 0) {
      if (!writeBatch([...queue].slice(0, batchSize), patienceMs)) return false
      if (queue.size > 0) await nextTick()
    }
    return true
  }

  function writeBatch(batch: readonly (readonly [string, Write])[], patienceMs: number): boolean {
    try {
      write(
        batch.map(([, one]) => one),
        patienceMs,
      )
      remove(batch)
      return true
    } catch (error) {
      const recovery = recover(error)
      switch (recovery) {
        case "again":
          return true
        case "retry":
          inTheWay = reasonOf(error)
          return false
        case "stop":
          stopped = true
          queue.clear()
          return true
        case "skip": {
          const [only] = batch
          if (only && batch.length === 1) {
            remove(batch)
            lose(1, reasonOf(error))
            return true
          }
          return batch.every((one) => stopped || writeBatch([one], patienceMs))
        }
        default:
          return recovery satisfies never
      }
    }
  }

  function remove(batch: readonly (readonly [string, Write])[]): void {
    for (const [key, one] of batch) if (queue.get(key) === one) queue.delete(key)
  }

  function lose(count: number, why: string): void {
    lost += count
    onLost(count, why)
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      clearTimeout(timer)
      await tail
      // Counted, not timed: under a replay the clock stands still.
      for (let attempt = 0; attempt < closingAttempts; attempt++) {
        if (await drain(closingPatienceMs)) return
        await new Promise((resolve) => setTimeout(resolve, closingPauseMs))
      }
      if (queue.size > 0) lose(queue.size, inTheWay)
      queue.clear()
    })()
    return closing
  }

  return {
    get pending() {
      return queue.size
    },
    get lost() {
      return lost
    },
    add,
    flush,
    close,
  }
}

function keyOf(write: Write): string {
  switch (write.kind) {
    case "turn":
      return `turn ${write.turn.turn} ${write.sessionID}`
    case "digest":
      return `digest ${write.key} ${write.writer}`
    case "prune":
      return "prune"
    default:
      return `${write.kind} ${write.sessionID}`
  }
}

/** Of two writes with one key the later counts, save folds: they are other parts'. */
function merged(waiting: Write, next: Write): Write {
  if (waiting.kind !== "folds" || next.kind !== "folds") return next
  return { ...next, rows: addRows(new Map(waiting.rows), next.rows) }
}

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve))
