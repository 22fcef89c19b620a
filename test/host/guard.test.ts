import { expect, spyOn, test } from "bun:test"
import { guard } from "../../src/host/guard.ts"
import { createLog } from "../../src/host/log.ts"

const watch = () => {
  const reports: string[] = []
  return { reports, report: (hook: string, problem: string) => void reports.push(`${hook} ${problem}`) }
}

test("runs the commit of a body that finished", async () => {
  const { reports, report } = watch()
  const out = { text: "before" }
  await guard("h", 50, report, (o: typeof out) => () => {
    o.text = "after"
  })(out)
  expect(out.text).toBe("after")
  expect(reports).toEqual([])
})

test.each([
  [
    "throws",
    () => {
      throw new Error("no")
    },
  ],
  ["rejects", () => Promise.reject(new Error("no"))],
  [
    "has a commit that throws",
    () => () => {
      throw new Error("no")
    },
  ],
])("resolves when the body %s, and says so once", async (_, body) => {
  const { reports, report } = watch()
  await guard("h", 50, report, body as never)()
  expect(reports).toEqual(["h failed; OpenCode went on without it"])
})

test("gives up on a hanging body at the deadline, and never runs its late commit", async () => {
  const { reports, report } = watch()
  const late = Promise.withResolvers<() => void>()
  let committed = false
  await guard("h", 10, report, () => late.promise)()
  late.resolve(() => {
    committed = true
  })
  await late.promise
  expect(committed).toBe(false)
  expect(reports).toEqual(["h was not done after 10 ms; OpenCode went on without it"])
})

test("an asynchronous body may take its maximum wait, whatever the deadline", async () => {
  const { reports, report } = watch()
  let committed = 0
  const body = async () => () => void committed++
  await guard("h", -1, report, body, 10_000)()
  expect([committed, reports]).toEqual([1, []])
})

test("what a body computes between two waits does not use up its maximum wait", async () => {
  const { reports, report } = watch()
  let committed = 0
  const tick = () => new Promise((resolve) => setImmediate(resolve))
  const body = async () => {
    await tick()
    for (const end = performance.now() + 200; performance.now() < end; );
    await tick()
    return () => void committed++
  }
  await guard("h", 5, report, body, 100)()
  expect([committed, reports]).toEqual([1, []])
})

test("the result of a slow synchronous body is used, and how long it took is reported, again only for twice as long", async () => {
  const { reports, report } = watch()
  let committed = 0
  const slow = guard("h", 50, report, () => () => void committed++, 10_000)
  const clock = spyOn(performance, "now")
  try {
    for (const ms of [50, 79.5, 100, 400]) {
      clock.mockReturnValueOnce(1000).mockReturnValueOnce(1000 + ms)
      await slow()
    }
  } finally {
    clock.mockRestore()
  }
  const line = (ms: number) => `h took ${ms} ms, longer than 50 ms (option deadlineMs); its work was used`
  expect([committed, reports]).toEqual([4, [line(80), line(400)]])
})

test("a body that rejects after the deadline is not reported again", async () => {
  const { reports, report } = watch()
  const unhandled: unknown[] = []
  const note = (cause: unknown) => unhandled.push(cause)
  process.on("unhandledRejection", note)
  const late = Promise.withResolvers<undefined>()
  await guard("h", 5, report, () => late.promise)()
  late.reject(new Error("late"))
  // a rejection counts as unhandled at the end of a turn of the event loop
  await new Promise((resolve) => setImmediate(resolve))
  process.off("unhandledRejection", note)
  expect(unhandled).toEqual([])
  expect(reports).toEqual(["h was not done after 5 ms; OpenCode went on without it"])
})

test("never throws synchronously", () => {
  const hook = guard(
    "event",
    50,
    () => {},
    () => {
      throw new Error("no")
    },
  )
  expect(() => void hook()).not.toThrow()
})

const hasNoText = { toString: () => raise(new Error("no text")) }
const raise = (thrown: unknown) => {
  throw thrown
}

test.each([
  ["an object without a prototype", Object.create(null)],
  ["an object whose text throws", hasNoText],
  ["an error whose message has no text", Object.assign(new Error("x"), { message: hasNoText })],
  ["an error whose message is a symbol", Object.assign(new Error("x"), { message: Symbol("x") })],
  ["a proxy that throws", new Proxy({}, { get: () => raise(1), getPrototypeOf: () => raise(2) })],
  ["a symbol", Symbol("x")],
  ["null", null],
])("resolves and logs one line when a body throws %s", async (_, thrown) => {
  const lines: string[] = []
  const log = createLog({ app: { log: async ({ body }) => void lines.push(body.message) } })
  await guard("h", 50, log.report, () => raise(thrown))()
  expect(lines.length).toBe(1)
  expect(lines[0]).toStartWith("hudfold: h failed; OpenCode went on without it: ")
})
