// The outputs that wait for a model's digest: a few, the worthiest, each content once and the newest of each subject.
// Pure; the queue runs them.

import type { DigestCandidate } from "./candidate.ts"

/** All outputs of a session, or only those of some of its messages. */
export type Scope = { sessionID: string; messageIDs?: readonly string[] }

export function createWaitingJobs(maxJobs: number) {
  /** the worthiest last, of equal ones the newest */
  let jobs: readonly DigestCandidate[] = []

  function keep(wanted: readonly DigestCandidate[]): void {
    jobs = wanted.toSorted((a, b) => a.worth - b.worth).slice(-maxJobs)
  }

  function remove(matches: (job: DigestCandidate) => boolean): void {
    jobs = jobs.filter((job) => !matches(job))
  }

  return {
    get jobs(): readonly DigestCandidate[] {
      return jobs
    },
    /**
     * Adds a job. It takes the place of the same content and of older content about its subject; if there are then too many
     * jobs, the least worthy one goes, which may be the new one.
     */
    add(job: DigestCandidate): void {
      remove((one) => one.key === job.key || isSameSubject(one, job))
      keep([...jobs, job])
    },
    /** Removes and returns the worthiest job, of equal ones the newest. */
    take(): DigestCandidate | undefined {
      const first = jobs.at(-1)
      jobs = jobs.slice(0, -1)
      return first
    },
    remove,
    /** Moves the jobs with these keys behind all others. */
    defer(keys: readonly string[]): void {
      keep(jobs.map((job) => (keys.includes(job.key) ? { ...job, worth: 0 } : job)))
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
