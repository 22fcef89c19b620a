// One worker that has a model write digests, worthiest first, outside of any hook. An output that it does not get to,
// or gets no answer for, keeps the digest that `extract` makes.
//
// When the backend fails: `UNAVAILABLE` keeps the job and leaves the backend alone for a while, longer each time; `BUSY` does
// so for half a minute. `TIMEOUT` drops the job, which may be the reason, and waits too. `BAD_ANSWER` drops the job. A dropped
// job is not taken again: at temperature 0 the answer would be the same. `OFF` ends the queue.

import { setImmediate as nextTick } from "node:timers/promises"
import { errorMessage } from "../system/values.ts"
import { type Backend, BackendError, type BackendErrorCode } from "./backends/backend.ts"
import type { DigestCandidate } from "./candidate.ts"
import { extract } from "./extract/extract.ts"
import { ground } from "./ground/ground.ts"
import { BUSY_RETRY_MS, createRunningTools, documentBudget, retryAfterMs } from "./pace.ts"
import { promptFor } from "./prompt.ts"
import { createWaitingJobs, isInScope, isSameSubject, type Scope } from "./waiting.ts"

export type QueueOptions = {
  /** Nobody else may use it. The caller closes it. */
  backend: Backend
  /** whether the digest of this content is final */
  isFinal(key: string): boolean
  /** Called with every digest that a model wrote and its output supports, and with the extract where a model is of no use. */
  onFinal(key: string, digest: string): void
  /** Called on the first failure of each kind, with one sentence. */
  onTrouble?: ((code: BackendErrorCode, message: string) => void) | undefined
  /** Called when something that users see has changed: the queue's length, its work, the backend's state. */
  onChange?: (() => void) | undefined
}

/** How many outputs may wait. */
const MAX_WAITING = 32

/** The job in work, which is replaced when the same content is offered in another place. */
type Running = { job: DigestCandidate; abort: AbortController }

/** Nothing of the queue throws, blocks the caller or keeps the process alive. */
export function createQueue({ backend, isFinal, onFinal, onTrouble, onChange }: QueueOptions) {
  /** outputs since the queue was created, by what became of them */
  const counters = { written: 0, refused: 0, failed: 0 }
  const waiting = createWaitingJobs(MAX_WAITING)
  const reported = new Set<BackendErrorCode>()
  const tools = createRunningTools((any) => {
    backend.pause(any)
    if (!any) wake()
  })
  let idle = false
  let failures = 0
  let retry: NodeJS.Timeout | undefined
  /** no more outputs are taken */
  let isOff = false
  let running: Running | undefined
  let worked: Promise<void> = Promise.resolve()

  /** Takes the worthiest of the outputs just read, oldest first. Also marks the agent as working. */
  function offer(candidates: readonly DigestCandidate[]): void {
    if (isOff) return
    idle = false
    const news = candidates.filter(({ key }) => !isFinal(key))
    if (news.length === 0) return
    for (const candidate of news) take(candidate)
    onChange?.()
    wake()
  }

  function take(candidate: DigestCandidate): void {
    if (running?.job.key === candidate.key && !running.abort.signal.aborted) {
      // it is wanted in its newest place
      running.job = candidate
      return
    }
    abortRunning((job) => isSameSubject(job, candidate))
    waiting.add(candidate)
  }

  function abortRunning(matches: (job: DigestCandidate) => boolean): void {
    if (running && matches(running.job)) running.abort.abort()
  }

  /** Has the worker check again whether there is something it can do. */
  function wake(): void {
    // no error in here may reach the host
    worked = worked.then(work).catch((error) => turnOff(`digests are no longer written: ${errorMessage(error)}`))
  }

  async function work(): Promise<void> {
    // the caller of `wake` may be a hook, which must not wait for this
    await nextTick()
    while (!isOff) {
      await backend.prepare?.()
      // how large its document may be; 0 when no job may start
      const budgetTokens = retry || tools.any ? 0 : documentBudget(backend.speed, idle, backend.maxDocumentTokens)
      const job = budgetTokens > 0 ? waiting.take() : undefined
      if (!job) return
      running = { job, abort: new AbortController() }
      onChange?.()
      const digest = await write(running, budgetTokens)
      running = undefined
      if (digest) onFinal(job.key, digest)
      onChange?.()
    }
  }

  /**
   * What the backend writes about an output. The extract where the backend need not be asked, as the extract says as much, or not
   * again: its answer is untrue, or the document may be why it failed. Undefined if the job was aborted or is kept for later.
   */
  async function write(current: Running, budgetTokens: number): Promise<string | undefined> {
    const { signal } = current.abort
    let extracted: ReturnType<typeof extract> | undefined
    try {
      const source = current.job.source()
      extracted = extract(source)
      if (!extracted.isText) return extracted.digest
      const { structured } = await backend.write(promptFor(source, { budgetTokens }), signal)
      if (signal.aborted) return
      failures = 0
      const digest = ground(structured?.summary, source, extracted.digest)
      counters[digest ? "written" : "refused"]++
      return digest ?? extracted.digest
    } catch (error) {
      if (signal.aborted) return
      // anything but a BackendError is a bug in the backend; treat it as carefully as a hang
      const code = error instanceof BackendError ? error.code : "TIMEOUT"
      const isKept = code === "UNAVAILABLE" || code === "BUSY"
      if (isKept) waiting.add(current.job)
      else counters.failed++
      if (code === "OFF") turnOff(errorMessage(error))
      else rest(code, errorMessage(error))
      return isKept ? undefined : extracted?.digest
    }
  }

  /** Leaves the backend alone for a while, if that may help. */
  function rest(code: BackendErrorCode, message: string): void {
    if (!reported.has(code)) onTrouble?.(code, message)
    reported.add(code)
    if (code === "BAD_ANSWER") return
    const end = () => {
      retry = undefined
      wake()
    }
    retry = setTimeout(end, code === "BUSY" ? BUSY_RETRY_MS : retryAfterMs(++failures))
    retry.unref()
  }

  function turnOff(message: string): void {
    stop()
    onChange?.()
    onTrouble?.("OFF", message)
  }

  function stop(): void {
    isOff = true
    while (waiting.take());
    clearTimeout(retry)
    retry = undefined
  }

  return {
    counters: counters as Readonly<typeof counters>,
    get waiting(): number {
      return waiting.jobs.length
    },
    get working(): boolean {
      return running !== undefined
    },
    offer,
    /** Moves waiting outputs behind all others, by key: those whose line is written already. */
    defer: waiting.defer,
    /** Drops the outputs of a deleted session or of reverted messages, including the one in work. */
    cancel(scope: Scope): void {
      const matches = isInScope(scope)
      waiting.remove(matches)
      abortRunning(matches)
    },
    /** A local tool has started. A model on the same processor rests until it ends. */
    toolStarted(id: string): void {
      if (!isOff && backend.sharesProcessor) tools.started(id)
    },
    toolEnded: tools.ended,
    /** The agent is idle: works through everything that waits, however long it takes. */
    drain(): void {
      idle = true
      wake()
    },
    /** the work begun so far; another promise once more was begun */
    get worked(): Promise<void> {
      return worked
    },
    /** Drops what waits and aborts what is in work. Idempotent. */
    async close(): Promise<void> {
      stop()
      tools.clear()
      running?.abort.abort()
      // an idle worker is not waited for: OpenCode would end later
      if (running) await worked
    },
  }
}
