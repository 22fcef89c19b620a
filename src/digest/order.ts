// The outputs that wait for a model's digest: a few, the worthiest, each content once and each subject once. Pure; the
// queue runs them.

import type { DigestSource } from "../output/digest.ts"

/** A place a digest would be of use in. `subject` is what the output there is about: a path, a command. */
export type Owner = { sessionID: string; messageID: string; subject: string }

export type Job = {
  /** equal for equal arguments and content */
  key: string
  /** tokens a digest is expected to save; the highest is written first */
  worth: number
  /** rises with every offer: of two of one worth the newer is written first */
  order: number
  /** where the content stands; a job without owners is of no use */
  owners: Owner[]
  source: DigestSource
}

/** Which owners: all of a session, or those of some of its messages. */
export type Where = { sessionID: string; messageIDs?: readonly string[] }

export type Waiting = {
  readonly size: number
  readonly jobs: readonly Job[]
  has(key: string): boolean
  /**
   * Adds a job, or its owners where its content already waits. Older content of its subjects goes (`replaced`), and
   * where the bound is passed the least worthy (`crowded`), which may be the one just added.
   */
  add(job: Job): { replaced: Job[]; crowded: Job | undefined }
  /** Takes the worthiest out. */
  take(): Job | undefined
  remove(key: string): boolean
  /** Gives new worths to those of the keys that wait. */
  rank(worths: ReadonlyMap<string, number>): void
  /** Takes these owners away; the jobs that have none left go. */
  disown(matches: (owner: Owner) => boolean): Job[]
}

/** A command run a thousand times with one result is in a thousand messages; the newest of them are remembered. */
const MOST_OWNERS = 16

export function createWaiting(most: number): Waiting {
  const jobs = new Map<string, Job>()

  function disown(matches: (owner: Owner) => boolean, spared?: string): Job[] {
    const gone = [...jobs.values()].filter((job) => job.key !== spared && disownJob(job, matches))
    for (const { key } of gone) jobs.delete(key)
    return gone
  }

  return {
    get size() {
      return jobs.size
    },
    get jobs() {
      return [...jobs.values()]
    },
    has: (key) => jobs.has(key),
    add(job) {
      const replaced = disown((one) => job.owners.some((owner) => isSameSubject(one, owner)), job.key)
      const known = jobs.get(job.key)
      if (known) {
        adopt(known, job)
        return { replaced, crowded: undefined }
      }
      jobs.set(job.key, job)
      const crowded = jobs.size > most ? [...jobs.values()].sort(byWorth).at(-1) : undefined
      if (crowded) jobs.delete(crowded.key)
      return { replaced, crowded }
    },
    take() {
      const [first] = [...jobs.values()].sort(byWorth)
      if (first) jobs.delete(first.key)
      return first
    },
    remove: (key) => jobs.delete(key),
    rank(worths) {
      for (const job of jobs.values()) job.worth = worths.get(job.key) ?? job.worth
    },
    disown: (matches) => disown(matches),
  }
}

/** Adds what another offer of the same content knows. */
export function adopt(job: Job, { worth, order, owners }: Pick<Job, "worth" | "order" | "owners">): void {
  job.worth = Math.max(job.worth, worth)
  job.order = Math.max(job.order, order)
  const older = job.owners.filter((one) => !owners.some((owner) => isSame(one, owner)))
  job.owners = [...older, ...owners].slice(-MOST_OWNERS)
}

/** Takes the owners that match away; whether that left the job without any. */
export function disownJob(job: Job, matches: (owner: Owner) => boolean): boolean {
  job.owners = job.owners.filter((owner) => !matches(owner))
  return job.owners.length === 0
}

export function isIn({ sessionID, messageIDs }: Where): (owner: Owner) => boolean {
  const messages = messageIDs && new Set(messageIDs)
  return (owner) => owner.sessionID === sessionID && (messages === undefined || messages.has(owner.messageID))
}

export function isSameSubject(one: Owner, other: Owner): boolean {
  return one.sessionID === other.sessionID && one.subject === other.subject
}

/**
 * Of many offered at once, oldest first, those that could be let in: the newest of each subject, the `most` worthiest, in
 * their order. A session taken up again offers thousands, and each let in has its text copied.
 */
export function choose<T extends Owner & { worth: number }>(offered: readonly T[], most: number): T[] {
  const newest = new Map(offered.map((one) => [`${one.sessionID}\n${one.subject}`, one]))
  const kept = new Set([...newest.values()].sort((a, b) => b.worth - a.worth).slice(0, most))
  return offered.filter((one) => kept.has(one))
}

const byWorth = (a: Job, b: Job) => b.worth - a.worth || b.order - a.order

const isSame = (one: Owner, other: Owner) => one.messageID === other.messageID && isSameSubject(one, other)
