// The outputs that wait for a model's digest: a few, the worthiest, each content once and the newest of each subject.
// Pure; the queue runs them.

import type { DigestSource } from "../output/digest.ts"

/**
 * One place where the content occurs. `subject` is what the output is about, such as a path or a command; newer output about
 * the same subject replaces older.
 */
export type Owner = { sessionID: string; messageID: string; subject: string }

export type Job = {
  /** equal for equal arguments and content */
  key: string
  /** tokens a digest is expected to save; the highest is written first */
  worth: number
  /** rises with every offer: of two jobs of equal worth the newer is written first */
  order: number
  /** where the content occurs; a job without owners is useless */
  owners: Owner[]
  /** Reads the output without its secrets, which takes time: only that of a job in work is read. */
  source(): DigestSource
}

/** All owners in a session, or only those in some of its messages. */
export type OwnerScope = { sessionID: string; messageIDs?: readonly string[] }

/** A command run a thousand times with one result is in a thousand messages; only the newest are remembered. */
const MAX_OWNERS = 16

export function createWaitingJobs(maxJobs: number) {
  const jobs = new Map<string, Job>()

  /** Removes the owners that match, and returns the jobs that were removed because they had no other. */
  function removeOwners(matches: (owner: Owner) => boolean, exceptKey?: string): Job[] {
    const removed = [...jobs.values()].filter((job) => job.key !== exceptKey && removeOwnersOf(job, matches))
    for (const { key } of removed) jobs.delete(key)
    return removed
  }

  return {
    get size(): number {
      return jobs.size
    },
    get jobs(): readonly Job[] {
      return [...jobs.values()]
    },
    /**
     * Adds a job, or only its owners if the same content already waits. This removes older content of its subjects
     * (`replaced`) and, if there are then too many jobs, the least worthy one (`evicted`), which may be the new one.
     */
    add(job: Job): { replaced: Job[]; evicted: Job | undefined } {
      const replaced = removeOwners((one) => job.owners.some((owner) => isSameSubject(one, owner)), job.key)
      const known = jobs.get(job.key)
      if (known) {
        mergeOffer(known, job)
        return { replaced, evicted: undefined }
      }
      jobs.set(job.key, job)
      const evicted = jobs.size > maxJobs ? [...jobs.values()].sort(byWorth).at(-1) : undefined
      if (evicted) jobs.delete(evicted.key)
      return { replaced, evicted }
    },
    /** Removes and returns the worthiest job. */
    take(): Job | undefined {
      const [first] = [...jobs.values()].sort(byWorth)
      if (first) jobs.delete(first.key)
      return first
    },
    remove: (key: string) => void jobs.delete(key),
    /** Sets the worth of the waiting jobs among these keys. */
    rank(worths: ReadonlyMap<string, number>): void {
      for (const job of jobs.values()) job.worth = worths.get(job.key) ?? job.worth
    },
    removeOwners: (matches: (owner: Owner) => boolean) => removeOwners(matches),
  }
}

/** Merges another offer of the same content into the job. */
export function mergeOffer(job: Job, { worth, order, owners }: Pick<Job, "worth" | "order" | "owners">): void {
  job.worth = Math.max(job.worth, worth)
  job.order = Math.max(job.order, order)
  const older = job.owners.filter((one) => !owners.some((owner) => isSameOwner(one, owner)))
  job.owners = [...older, ...owners].slice(-MAX_OWNERS)
}

/** Removes the owners that match; returns whether the job has none left. */
export function removeOwnersOf(job: Job, matches: (owner: Owner) => boolean): boolean {
  job.owners = job.owners.filter((owner) => !matches(owner))
  return job.owners.length === 0
}

export function isInScope({ sessionID, messageIDs }: OwnerScope): (owner: Owner) => boolean {
  const messages = messageIDs && new Set(messageIDs)
  return (owner) => owner.sessionID === sessionID && (messages === undefined || messages.has(owner.messageID))
}

export function isSameSubject(one: Owner, other: Owner): boolean {
  return one.sessionID === other.sessionID && one.subject === other.subject
}

/**
 * The outputs that can get into the queue among many offered at once, oldest first: the newest of each subject, and of
 * those the `max` worthiest, in their original order. A resumed session offers thousands of outputs.
 */
export function selectOffers<T extends Owner & { worth: number }>(offered: readonly T[], max: number): T[] {
  const newest = new Map(offered.map((one) => [`${one.sessionID}\n${one.subject}`, one]))
  const selected = new Set([...newest.values()].sort((a, b) => b.worth - a.worth).slice(0, max))
  return offered.filter((one) => selected.has(one))
}

const byWorth = (a: Job, b: Job) => b.worth - a.worth || b.order - a.order

const isSameOwner = (one: Owner, other: Owner) => one.messageID === other.messageID && isSameSubject(one, other)
