// The outputs that wait for a model's digest: a few, the worthiest, each content once and the newest of each subject.
// Pure; the queue runs them.

import type { DigestCandidate } from "./candidate.ts"

/** All outputs of a session, or only those of some of its messages. */
export type Scope = { sessionID: string; messageIDs?: readonly string[] }

export function createWaitingJobs(maxJobs: number) {
  /** by key, the newest last */
  const jobs = new Map<string, DigestCandidate>()

  /** Removes the jobs that match, and returns how many. */
  function remove(matches: (job: DigestCandidate) => boolean): number {
    const removed = [...jobs.values()].filter(matches)
    for (const { key } of removed) jobs.delete(key)
    return removed.length
  }

  return {
    get size(): number {
      return jobs.size
    },
    /** oldest first */
    get jobs(): readonly DigestCandidate[] {
      return [...jobs.values()]
    },
    /**
     * Adds a job. It takes the place of the same content and of older content about its subject; if there are then too many
     * jobs, the least worthy one goes, which may be the new one. Returns how many had other content about its subject.
     */
    add(job: DigestCandidate): number {
      const replaced = remove((one) => one.key !== job.key && isSameSubject(one, job))
      jobs.delete(job.key)
      jobs.set(job.key, job)
      if (jobs.size > maxJobs) {
        const least = [...jobs.values()].reduce((one, other) => (other.worth < one.worth ? other : one))
        jobs.delete(least.key)
      }
      return replaced
    },
    /** Removes and returns the worthiest job, of equal ones the newest. */
    take(): DigestCandidate | undefined {
      if (jobs.size === 0) return
      const first = [...jobs.values()].reduce((one, other) => (other.worth >= one.worth ? other : one))
      jobs.delete(first.key)
      return first
    },
    remove,
    /** Sets the worth of the waiting jobs among these keys. */
    rank(worths: ReadonlyMap<string, number>): void {
      for (const job of jobs.values()) jobs.set(job.key, { ...job, worth: worths.get(job.key) ?? job.worth })
    },
  }
}

export function isInScope({ sessionID, messageIDs }: Scope): (job: DigestCandidate) => boolean {
  const messages = messageIDs && new Set(messageIDs)
  return (job) => job.sessionID === sessionID && (messages === undefined || messages.has(job.messageID))
}

export function isSameSubject(one: DigestCandidate, other: DigestCandidate): boolean {
  return one.sessionID === other.sessionID && one.subject === other.subject
}
