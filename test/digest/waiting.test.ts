import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { DigestCandidate } from "../../src/digest/candidate.ts"
import { createWaitingJobs, isInScope } from "../../src/digest/waiting.ts"
import { candidateOf } from "./support.ts"

const jobOf = (key: string, over: Partial<DigestCandidate> = {}): DigestCandidate =>
  candidateOf(key, { key, worth: 1, ...over })

const keys = (jobs: readonly DigestCandidate[]) => jobs.map(({ key }) => key)

function takeAll(waiting: ReturnType<typeof createWaitingJobs>): string[] {
  const taken: string[] = []
  for (let job = waiting.take(); job; job = waiting.take()) taken.push(job.key)
  return taken
}

describe("the order", () => {
  test("is by worth, then the newest first", () => {
    const waiting = createWaitingJobs(10)
    for (const [key, worth] of [
      ["a", 1],
      ["b", 5],
      ["c", 3],
      ["d", 5],
    ] as const)
      waiting.add(jobOf(key, { worth }))
    expect(takeAll(waiting)).toEqual(["d", "b", "c", "a"])
  })

  test("has those last that are deferred, whatever comes after them", () => {
    const waiting = createWaitingJobs(10)
    for (const key of ["a", "b", "c"]) waiting.add(jobOf(key, { worth: 2 }))
    waiting.defer(["c", "elsewhere"])
    waiting.add(jobOf("d"))
    expect(takeAll(waiting)).toEqual(["b", "a", "d", "c"])
  })
})

describe("beyond the limit", () => {
  test("the least worthy job goes, which may be the new one", () => {
    const waiting = createWaitingJobs(2)
    waiting.add(jobOf("a", { worth: 3 }))
    waiting.add(jobOf("b", { worth: 1 }))
    waiting.add(jobOf("c", { worth: 2 }))
    expect(keys(waiting.jobs)).toEqual(["c", "a"])
    waiting.add(jobOf("d", { worth: 1 }))
    expect(keys(waiting.jobs)).toEqual(["c", "a"])
  })
})

describe("repeated offers", () => {
  test("of the same content are one job, in the newest place", () => {
    const waiting = createWaitingJobs(10)
    waiting.add(jobOf("a"))
    waiting.add(jobOf("a", { sessionID: "ses_2" }))
    expect(waiting.jobs.map(({ sessionID }) => sessionID)).toEqual(["ses_2"])
  })

  test("newer content about a subject replaces older, but only in its session", () => {
    const waiting = createWaitingJobs(10)
    waiting.add(jobOf("a1", { subject: "npm test" }))
    waiting.add(jobOf("b1", { subject: "npm test", sessionID: "ses_2" }))
    waiting.add(jobOf("a2", { subject: "npm test" }))
    expect(keys(waiting.jobs)).toEqual(["b1", "a2"])
  })
})

test("jobs of some messages are removed, and no others", () => {
  const waiting = createWaitingJobs(10)
  for (const key of ["a", "b", "c"]) waiting.add(jobOf(key))
  waiting.add(jobOf("d", { sessionID: "ses_2", messageID: "msg_a" }))
  waiting.remove(isInScope({ sessionID: "ses_1", messageIDs: ["msg_a", "msg_c"] }))
  expect(keys(waiting.jobs)).toEqual(["b", "d"])
})

describe("properties", () => {
  type Step =
    | { do: "add"; key: string; subject: string; sessionID: string; worth: number }
    | { do: "take" }
    | { do: "defer"; keys: string[] }
    | { do: "cancel"; sessionID: string; messageIDs: string[] }
  const name = (letters: string) => fc.constantFrom(...letters)
  const worth = fc.integer({ min: 0, max: 20 })
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("add" as const),
        key: name("abcdefghijkl"),
        subject: name("uvwxyz"),
        sessionID: name("12"),
        worth,
      }),
    },
    { weight: 1, arbitrary: fc.constant({ do: "take" as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("defer" as const), keys: fc.array(name("abcdefghijkl")) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("cancel" as const),
        sessionID: name("12"),
        messageIDs: fc.array(name("abcdefghijkl").map((key) => `msg_${key}`)),
      }),
    },
  )

  test("it never exceeds its limit, has each content once and one content per subject, and takes the worthiest", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
        const waiting = createWaitingJobs(most)
        for (const one of steps) {
          if (one.do === "add") waiting.add(jobOf(one.key, one))
          else if (one.do === "take") {
            const taken = waiting.take()
            for (const job of waiting.jobs) expect(job.worth).toBeLessThanOrEqual(taken?.worth ?? -1)
          } else if (one.do === "defer") waiting.defer(one.keys)
          else waiting.remove(isInScope(one))

          expect(waiting.jobs.length).toBeLessThanOrEqual(most)
          expect(new Set(keys(waiting.jobs)).size).toBe(waiting.jobs.length)
          const subjects = waiting.jobs.map(({ sessionID, subject }) => `${sessionID} ${subject}`)
          expect(new Set(subjects).size).toBe(subjects.length)
        }
      }),
      { numRuns: 300 },
    )
  })

  test("among outputs about different subjects it keeps the worthiest, whatever their order", () => {
    fc.assert(
      fc.property(fc.array(worth, { maxLength: 60 }), fc.integer({ min: 1, max: 8 }), (worths, most) => {
        const waiting = createWaitingJobs(most)
        const jobs = worths.map((worth, at) => jobOf(`k${at}`, { worth }))
        for (const job of jobs) waiting.add(job)
        const best = jobs.reverse().sort((a, b) => b.worth - a.worth)
        expect(takeAll(waiting)).toEqual(keys(best.slice(0, most)))
      }),
    )
  })
})
