import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  createWaitingJobs,
  isInScope,
  type Job,
  type Owner,
  removeOwnersOf,
  selectOffers,
} from "../../src/digest/waiting.ts"
import { sourceOf } from "./support.ts"

let order = 0

function jobOf(key: string, over: Partial<Omit<Job, "owners">> & Partial<Owner> = {}): Job {
  const { sessionID = "ses_1", messageID = `msg_${key}`, subject = key, ...job } = over
  return {
    key,
    worth: 1,
    order: ++order,
    owners: [{ sessionID, messageID, subject }],
    source: () => sourceOf(key),
    ...job,
  }
}

const keys = (jobs: readonly Job[]) => jobs.map(({ key }) => key)

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

  test("follows a new ranking, and jobs that it does not mention keep their worth", () => {
    const waiting = createWaitingJobs(10)
    for (const key of ["a", "b", "c"]) waiting.add(jobOf(key, { worth: 2 }))
    waiting.rank(
      new Map([
        ["a", 9],
        ["b", 1],
        ["elsewhere", 100],
      ]),
    )
    expect(takeAll(waiting)).toEqual(["a", "c", "b"])
  })
})

describe("beyond the limit", () => {
  test("the least worthy job is evicted", () => {
    const waiting = createWaitingJobs(2)
    waiting.add(jobOf("a", { worth: 3 }))
    waiting.add(jobOf("b", { worth: 1 }))
    expect(waiting.add(jobOf("c", { worth: 2 })).evicted?.key).toBe("b")
    expect(keys(waiting.jobs)).toEqual(["a", "c"])
  })

  test("the new job may be the one that is evicted", () => {
    const waiting = createWaitingJobs(1)
    waiting.add(jobOf("a", { worth: 3 }))
    expect(waiting.add(jobOf("b", { worth: 1 })).evicted?.key).toBe("b")
  })
})

describe("repeated offers", () => {
  test("of the same content become one job, with the higher worth and all owners", () => {
    const waiting = createWaitingJobs(10)
    waiting.add(jobOf("a", { worth: 5 }))
    waiting.add(jobOf("a", { worth: 2, sessionID: "ses_2", messageID: "msg_x" }))
    expect(waiting.jobs.map(({ key, worth, owners }) => [key, worth, owners.length])).toEqual([["a", 5, 2]])
    expect(waiting.removeOwners(isInScope({ sessionID: "ses_1" }))).toEqual([])
    expect(keys(waiting.removeOwners(isInScope({ sessionID: "ses_2" })))).toEqual(["a"])
  })

  test("newer content about a subject replaces older, but only in its session", () => {
    const waiting = createWaitingJobs(10)
    waiting.add(jobOf("a1", { subject: "npm test" }))
    waiting.add(jobOf("b1", { subject: "npm test", sessionID: "ses_2" }))
    expect(keys(waiting.add(jobOf("a2", { subject: "npm test" })).replaced)).toEqual(["a1"])
    expect(keys(waiting.jobs)).toEqual(["b1", "a2"])
  })

  test("content about two subjects is replaced once both have newer content", () => {
    const waiting = createWaitingJobs(10)
    waiting.add(jobOf("a", { subject: "one" }))
    waiting.add(jobOf("a", { subject: "two" }))
    expect(waiting.add(jobOf("b", { subject: "one" })).replaced).toEqual([])
    expect(keys(waiting.add(jobOf("c", { subject: "two" })).replaced)).toEqual(["a"])
  })

  test("content offered a thousand times remembers a bounded number of owners", () => {
    const waiting = createWaitingJobs(10)
    for (let n = 0; n < 1000; n++) waiting.add(jobOf("a", { messageID: `msg_${n}` }))
    expect(waiting.jobs[0]?.owners.length).toBe(16)
    expect(waiting.jobs[0]?.owners.at(-1)?.messageID).toBe("msg_999")
  })
})

describe("removing owners", () => {
  test("removes the jobs of these messages, and no others", () => {
    const waiting = createWaitingJobs(10)
    for (const key of ["a", "b", "c"]) waiting.add(jobOf(key))
    waiting.add(jobOf("d", { sessionID: "ses_2", messageID: "msg_a" }))
    expect(keys(waiting.removeOwners(isInScope({ sessionID: "ses_1", messageIDs: ["msg_a", "msg_c"] })))).toEqual([
      "a",
      "c",
    ])
    expect(keys(waiting.jobs)).toEqual(["b", "d"])
  })

  test("reports whether a job lost its last owner", () => {
    const job = jobOf("a")
    expect(removeOwnersOf(job, () => false)).toBe(false)
    expect(removeOwnersOf(job, () => true)).toBe(true)
  })
})

describe("of many offers at once", () => {
  const offer = (name: string, worth: number, subject = name) => ({
    name,
    sessionID: "s",
    messageID: "m",
    subject,
    worth,
  })

  test("the newest of each subject and the worthiest are selected, in their order", () => {
    const offered = [offer("a", 9, "x"), offer("b", 1), offer("c", 5), offer("d", 2, "x"), offer("e", 4)]
    expect(selectOffers(offered, 3).map(({ name }) => name)).toEqual(["c", "d", "e"])
    expect(selectOffers(offered, 10).map(({ name }) => name)).toEqual(["b", "c", "d", "e"])
  })
})

describe("properties", () => {
  type Step =
    | { do: "add"; key: string; subject: string; sessionID: string; worth: number }
    | { do: "take" }
    | { do: "rank"; key: string; worth: number }
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
    { weight: 1, arbitrary: fc.record({ do: fc.constant("rank" as const), key: name("abcdefghijkl"), worth }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("cancel" as const),
        sessionID: name("12"),
        messageIDs: fc.array(name("abcdefghijkl").map((key) => `msg_${key}`)),
      }),
    },
  )

  test("it never exceeds its limit, has one content per subject, and evicts only the least worthy", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
        const waiting = createWaitingJobs(most)
        for (const one of steps) {
          if (one.do === "add") {
            const { evicted } = waiting.add(jobOf(one.key, one))
            if (evicted) for (const job of waiting.jobs) expect(job.worth).toBeGreaterThanOrEqual(evicted.worth)
          } else if (one.do === "take") {
            const taken = waiting.take()
            for (const job of waiting.jobs) expect(job.worth).toBeLessThanOrEqual(taken?.worth ?? -1)
          } else if (one.do === "rank") waiting.rank(new Map([[one.key, one.worth]]))
          else waiting.removeOwners(isInScope(one))

          expect(waiting.size).toBeLessThanOrEqual(most)
          const subjects = waiting.jobs.flatMap((job) => [
            ...new Set(job.owners.map((owner) => `${owner.sessionID} ${owner.subject}`)),
          ])
          expect(new Set(subjects).size).toBe(subjects.length)
          for (const job of waiting.jobs) expect(job.owners.length).toBeGreaterThan(0)
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
        const best = jobs.sort((a, b) => b.worth - a.worth || b.order - a.order).slice(0, most)
        expect(takeAll(waiting)).toEqual(keys(best))
      }),
    )
  })
})
