// One worker that has a model write digests, worthiest first, off every hook's path. What it does not get to, or gets no
// answer to, keeps the digest that `extract` makes.
//
// When the backend fails: `UNAVAILABLE` keeps the job and leaves the backend alone for a while, longer each time;
// `TIMEOUT` does so too and drops the job, which may be what was too much; `BAD_ANSWER` drops the job; `OFF` ends the
// queue. A job dropped so is not taken again: at temperature 0 the answer would be the same.

import { renew } from "../bounded.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import { type Attempt, attempt } from "./attempt.ts"
import type { Backend, BackendErrorCode } from "./backends/backend.ts"
import type { Candidate } from "./candidate.ts"
import { noCounts, type QueueCounters } from "./counters.ts"
import { held, isBinary } from "./held.ts"
import {
  adopt,
  choose,
  createWaiting,
  disownJob,
  isIn,
  isSameSubject,
  type Job,
  type Owner,
  type Where,
} from "./order.ts"
import { budgetOf, type Pace, paced, retryAfterMs } from "./pace.ts"
import { PROMPT_VERSION } from "./prompt.ts"
import { createRunningTools } from "./running-tools.ts"
import { createLookup, type Shelf } from "./shelf.ts"

export type QueueOptions = {
  /** used by nobody else; who made it closes it */
  backend: Backend
  shelf?: Shelf | undefined
  /** the digest that needs no model */
  extract(source: DigestSource): Digest
  /** whether a model's digest is known already */
  isKnown(key: string): boolean
  /** told of every digest that a model wrote, now or, where `isStored`, long ago */
  onDigest(key: string, digest: Digest, isStored: boolean): void
  /** told of the first failure of each kind, in one sentence */
  onTrouble?: ((code: BackendErrorCode, message: string) => void) | undefined
  /** told when something about the queue has changed that people are shown: its length, its work, its backend's state */
  onChange?: (() => void) | undefined
  /** outputs that may wait at once; default 32 */
  most?: number
}

/** Nothing here throws, keeps a caller waiting or keeps the process alive. */
export type Queue = {
  readonly counters: Readonly<QueueCounters>
  readonly waiting: number
  /** whether a digest is being written */
  readonly working: boolean
  /** why nothing is taken any more */
  readonly off: string | undefined
  /** Takes what is worth it of the outputs just read, oldest first; and says that the agent works. */
  offer(candidates: readonly Candidate[]): void
  /** New worths of outputs that wait, by key: what will be folded soonest and saves most goes first. */
  rank(worths: ReadonlyMap<string, number>): void
  /** Forgets what belongs to a deleted session, or to messages that a revert took away, the one in work too. */
  cancel(where: Where): void
  /** A local tool runs; where the model shares its processor it rests meanwhile. */
  toolStarted(id: string): void
  toolEnded(id: string): void
  /** The agent rests: works through what waits, whatever it takes. */
  drain(): void
  /** Resolves when nothing is in work and nothing can be begun: what waits then does so for idle, a tool or a retry. */
  settled(): Promise<void>
  /** Gives up what waits and what is in work. Idempotent. */
  close(): Promise<void>
}

const MOST_WAITING = 32
/** Contents remembered as not to be taken again. */
const MOST_SPENT = 1000

export function createQueue(options: QueueOptions): Queue {
  const { backend, shelf, extract, isKnown, onDigest, onTrouble, onChange, most = MOST_WAITING } = options
  const counters = noCounts()
  const waiting = createWaiting(most)
  const spent = new Map<string, true>()
  const told = new Set<BackendErrorCode>()
  const writer = () => `${backend.id} p${PROMPT_VERSION}`
  const lookup = createLookup(shelf, writer)
  const tools = createRunningTools((any) => {
    backend.pause(any)
    if (!any) wake()
  })
  let pace: Pace = {}
  let idle = false
  let order = 0
  let failures = 0
  let retry: NodeJS.Timeout | undefined
  let off: string | undefined
  let closed = false
  let running: { job: Job; abort: AbortController; ended: Promise<unknown> } | undefined
  let wanted = false
  let working: Promise<void> | undefined

  function offer(candidates: readonly Candidate[]): void {
    if (closed || off !== undefined) return
    idle = false
    counters.offered += candidates.length
    const news = candidates.filter(({ key }) => !isKnown(key) && !spent.has(key))
    if (news.length === 0) return
    pace = paced(pace, performance.now(), news.length)
    lookup.want(news.map(({ key }) => key))
    for (const candidate of choose(news, most)) take(candidate)
    onChange?.()
    wake()
  }

  function take({ key, worth, sessionID, messageID, subject, source }: Candidate): void {
    const owner: Owner = { sessionID, messageID, subject }
    const offered = { key, worth, order: ++order, owners: [owner] }
    if (running?.job.key === key && !running.abort.signal.aborted) {
      adopt(running.job, offered)
      return
    }
    disownRunning((one) => isSameSubject(one, owner))
    const whole = source()
    if (!isBinary(whole.output)) add({ ...offered, source: held(whole) })
  }

  function add(job: Job): void {
    const { replaced, crowded } = waiting.add(job)
    counters.cancelled += replaced.length
    if (crowded) counters.crowded++
  }

  function disownRunning(matches: (owner: Owner) => boolean): void {
    if (!running?.job.owners.some(matches) || !disownJob(running.job, matches)) return
    counters.cancelled++
    running.abort.abort()
  }

  /** Has the worker look again whether there is something it can do. */
  function wake(): void {
    wanted = true
    working ??= work()
      // no fault in here may reach the host
      .catch((error) => turnOff(`digests are no longer written: ${String(error)}`))
      .finally(() => {
        working = undefined
        if (wanted && !closed) wake()
      })
  }

  async function work(): Promise<void> {
    while (wanted && !closed) {
      wanted = false
      // who woke it may stand in a hook
      await new Promise((resolve) => setImmediate(resolve))
      while (await workOnce());
    }
  }

  /** Whether there may be more to do. */
  async function workOnce(): Promise<boolean> {
    await backend.prepare?.()
    await lookup.answer((key, digest) => {
      waiting.remove(key)
      counters.fromCache++
      onDigest(key, digest, true)
    })
    const budgetTokens = budget()
    const job = budgetTokens > 0 ? waiting.take() : undefined
    if (!job) return false
    const abort = new AbortController()
    const asked = writer()
    const ended = attempt(backend, job.source, budgetTokens, extract, abort.signal)
    running = { job, abort, ended }
    onChange?.()
    const outcome = await ended
    running = undefined
    finish(job, outcome)
    onChange?.()
    // a backend may learn its model only when it starts: what waits may have been written by that one
    if (asked !== writer()) lookup.want(waiting.jobs.map(({ key }) => key))
    return true
  }

  /** Tokens to give the next job; 0 when none may be begun. */
  function budget(): number {
    if (closed || off !== undefined || retry || tools.any) return 0
    return budgetOf(backend.speed, pace, idle, backend.mostTokens)
  }

  function finish(job: Job, outcome: Attempt): void {
    switch (outcome.kind) {
      case "aborted":
        return
      case "failed":
        counters.failed++
        fail(job, outcome.code, outcome.message)
        return
      case "known":
        counters.known++
        renew(spent, job.key, true, MOST_SPENT)
        return
      default: {
        failures = 0
        for (const [name, value] of Object.entries(outcome.cost)) counters[name as keyof typeof outcome.cost] += value
        counters[outcome.kind]++
        if (outcome.kind === "refused") renew(spent, job.key, true, MOST_SPENT)
        else {
          onDigest(job.key, outcome.digest, false)
          shelf?.saveDigest(writer(), job.key, outcome.digest)
        }
      }
    }
  }

  function fail(job: Job, code: BackendErrorCode, message: string): void {
    if (code === "OFF") {
      turnOff(message)
      return
    }
    if (!told.has(code)) onTrouble?.(code, message)
    told.add(code)
    if (code === "UNAVAILABLE") add(job)
    else renew(spent, job.key, true, MOST_SPENT)
    if (code !== "BAD_ANSWER") leaveAlone()
  }

  function leaveAlone(): void {
    retry = setTimeout(() => {
      retry = undefined
      wake()
    }, retryAfterMs(++failures))
    retry.unref()
  }

  function turnOff(message: string): void {
    off = message
    giveUp()
    onChange?.()
    onTrouble?.("OFF", message)
  }

  function giveUp(): void {
    while (waiting.take());
    lookup.forget()
    clearTimeout(retry)
    retry = undefined
  }

  return {
    counters,
    get waiting() {
      return waiting.size
    },
    get working() {
      return running !== undefined
    },
    get off() {
      return off
    },
    offer,
    rank: (worths) => waiting.rank(worths),
    cancel(where) {
      const matches = isIn(where)
      counters.cancelled += waiting.disown(matches).length
      disownRunning(matches)
    },
    toolStarted(id) {
      if (!closed && backend.sharesProcessor) tools.started(id)
    },
    toolEnded: (id) => tools.ended(id),
    drain() {
      idle = true
      wake()
    },
    async settled() {
      while (working) await working
    },
    async close() {
      closed = true
      giveUp()
      tools.clear()
      running?.abort.abort()
      await running?.ended
    },
  }
}
