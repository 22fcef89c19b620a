// What a request of OpenCode 2 has to ask for.

import { expect, setSystemTime, test } from "bun:test"
import { createModels } from "../../../src/host/models.ts"
import { eventV1 } from "../../../src/host/v2/event.ts"
import { createKnown, createLearning } from "../../../src/host/v2/learning.ts"
import { readOptions } from "../../../src/options.ts"
import { USAGE } from "../../support/host-v2.ts"

test.each([
  ["before the request goes out, its usage is reported", true, ["msg_1"]],
  ["after it went out, its usage is known and not reported as the request's own", false, []],
])("of a step that is learned %s", async (_, isInTime, expected) => {
  const known = createKnown()
  const answer = Promise.withResolvers<unknown>()
  const reported: unknown[] = []
  const learning = createLearning(
    { session: { context: () => answer.promise } },
    createModels(readOptions({}).options),
    known,
    (_, { id }) => reported.push(id),
  )
  let isWaiting = true
  const learned = learning.newest(
    "ses_1",
    [{ id: "msg_1", role: "assistant", content: [{ type: "text", text: "Done." }] }],
    () => isWaiting,
  )
  isWaiting = isInTime
  // only its end was announced
  known.add("ses_1", "msg_1", { tokens: USAGE })
  answer.resolve([{ id: "msg_1", type: "assistant", tokens: USAGE, time: { created: 1 }, content: [] }])
  await learned
  expect(reported).toEqual(expected)
  expect(known.of("ses_1").get("msg_1")?.info).toMatchObject({ tokens: USAGE, time: { created: 1 } })
})

test.each([
  ["names a time, the last one", [{ started: 11 }, { started: 21 }], 21],
  ["names none, the first event's", [{}, {}], 10],
])("a step begins twice when its call is retried; where the event %s is stored", (_, begun, expected) => {
  const known = createKnown()
  for (const [at, time] of begun.entries()) {
    const data = { sessionID: "ses_1", assistantMessageID: "msg_1", ...time }
    eventV1({ type: "session.step.started", created: 10 + 10 * at, data }, known)
  }
  expect(known.of("ses_1").get("msg_1")?.info.time).toEqual({ created: expected })
})

test("what OpenCode never answers is asked again at a later call", async () => {
  const asked: string[] = []
  const never = (what: string) => () => {
    asked.push(what)
    return new Promise<unknown>(() => {})
  }
  const learning = createLearning(
    { model: { list: never("models") }, session: { context: never("messages") } },
    createModels(readOptions({}).options),
    createKnown(),
    () => {},
  )
  const call = async (step: string) => {
    void learning.models()
    void learning.newest("ses_1", [{ id: step, role: "assistant", content: [] }], () => true)
    await Bun.sleep(5)
  }
  await call("msg_1")
  await call("msg_1")
  expect(asked).toEqual(["models", "messages"])
  try {
    setSystemTime(Date.now() + 6000)
    await call("msg_2")
  } finally {
    setSystemTime()
  }
  expect(asked).toEqual(["models", "messages", "models", "messages"])
})

test("of a model's prices the one without a tier is its own, and the others are those of larger calls", async () => {
  const models = createModels(readOptions({}).options)
  const price = (input: number) => ({ input, output: 5 * input, cache: { read: input / 10, write: 0 } })
  const cost = [{ ...price(2), tier: { type: "context", size: 200_000 } }, price(1)]
  const list = async () => [{ id: "large", providerID: "anyone", cost }]
  await createLearning({ model: { list } }, models, createKnown(), () => {}).models()
  const { usdPerMillion, tiers = [] } = models.pricing({ providerID: "anyone", modelID: "large" })
  expect(usdPerMillion).toBe(1)
  expect(tiers.find(({ above = 0 }) => above < 1e9)).toMatchObject({ above: 200_000, usdPerMillion: 2, read: 0.1 })
})
