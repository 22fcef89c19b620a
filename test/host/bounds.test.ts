// Everything that outlives a call is bounded: each test fills it far past its limit.

import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import { type Folds, MAX_FOLDS } from "../../src/fold/fold.ts"
import { addFolds, newFolding, withRecalled } from "../../src/fold/folding.ts"
import { createLog } from "../../src/host/log.ts"
import { createModels } from "../../src/host/models.ts"
import { createPublisher } from "../../src/host/publisher.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { readOptions, requestOptionsOf } from "../../src/options.ts"
import { newSessionState } from "../../src/request/request.ts"
import { statusFolder } from "../../src/status/files.ts"
import type { Status } from "../../src/status/status.ts"
import { createMemory } from "../../src/store/memory.ts"
import { rowsOf } from "../../src/store/writes.ts"
import { foldOf, temporaryFolder } from "../store/support.ts"
import { prepare, take } from "../support/conversation.ts"
import { bash, ROOT, SessionBuilder } from "../support/session.ts"

const sessionOf = (calls: number) => {
  const session = new SessionBuilder().user("look at it")
  for (let call = 0; call < calls; call++) session.assistant([bash(`ls ${call}`), bash(`cat ${call}`)])
  return session.messages
}

test("with 101 sessions, the least recently used one is forgotten", () => {
  const sessions = createSessions(createEnv())
  for (let n = 0; n <= 100; n++) sessions.get(`ses_${n}`)
  expect(sessions.peek("ses_0")).toBeUndefined()
  expect(sessions.peek("ses_1")).toBeDefined()
})

test("fewer long sessions are kept, idle ones go first, and a busy one stays", () => {
  const sessions = createSessions(createEnv())
  const long = Array.from({ length: 30_000 }, (_, n) => ({ info: { id: `msg_${n}`, role: "assistant" }, parts: [] }))
  const ids = Array.from({ length: 5 }, (_, n) => `ses_${n}`)
  for (const id of ids) {
    const session = sessions.get(id)
    if (id === "ses_0") session.account.turn.startedMs = 1
    take(session.ledger, long)
  }
  sessions.get("ses_new")
  const kept = ids.filter((id) => sessions.peek(id))
  expect(kept).toEqual(["ses_0", "ses_3", "ses_4"])
})

test("a ledger counts what it keeps: messages, tool events, and what compactions carried", () => {
  const { ledger } = createSessions(createEnv()).get("ses_1")
  const messages = sessionOf(50)
  take(ledger, messages)
  expect(ledger.size).toBe(51 + 100)
  const compacted = new SessionBuilder().user("look at it")
  for (let n = 0; n < 51; n++) compacted.user("filler, to count the ids up")
  compacted.compaction()
  take(ledger, compacted.messages.slice(-2))
  expect(ledger.size).toBe(2 + 100)
})

test("a request with 20,000 folds gets no new one, and what is folded stays folded", () => {
  const env = createEnv(ROOT)
  const state = newSessionState(env)
  const { options } = readOptions({})
  const models = createModels(options)
  const session = new SessionBuilder().user("look at it")
  for (let call = 0; call < MAX_FOLDS + 60; call++)
    session.assistant([bash(`cat ${call}.ts`, "line of a file\n".repeat(20))])
  const [first, second] = [50, 60].map((calls) => {
    const messages = session.fresh().slice(0, 1 + MAX_FOLDS + calls)
    const request = prepare(messages, state, models.circumstances(undefined, calls), requestOptionsOf(options), env)
    request.commit()
    return request
  })
  expect([first?.newFolds.length, second?.newFolds.length]).toEqual([MAX_FOLDS, 0])
  expect(second?.change.folds).toEqual(first?.change.folds as Folds)
}, 60_000)

test("the newest folds of a session are kept, and the newest 500 places of what was recalled", () => {
  const folds = Array.from({ length: MAX_FOLDS + 1_000 }, (_, n) => foldOf(n + 1))
  let folding = newFolding()
  for (let n = 0; n < folds.length; n += 1_000) folding = addFolds(folding, folds.slice(n, n + 1_000))
  expect([folding.folds.size, folding.recallable.size]).toEqual([MAX_FOLDS, MAX_FOLDS])
  expect(folding.folds.has(folds.at(-1)?.partID ?? "")).toBeTrue()
  folding = withRecalled(folding, folds, 1)
  expect(folding.recalledUntil.size).toBe(500)
})

test("in memory the store keeps 40,000 folds in total and drops the least recently saved session first", () => {
  const memory = createMemory()
  const rows = rowsOf(Array.from({ length: 6_000 }, (_, n) => foldOf(n + 1)))
  for (let n = 0; n < 12; n++) memory.apply({ kind: "folds", sessionID: `ses_${n}`, rows, at: n })
  const kept = Array.from({ length: 12 }, (_, n) => memory.of("folds", `ses_${n}`)[0]?.rows.size ?? 0)
  expect(kept).toEqual([0, 0, 0, 0, 0, 0, 6_000, 6_000, 6_000, 6_000, 6_000, 6_000])
})

test("a status that cannot be written is reported once, however often", async () => {
  using data = temporaryFolder()
  const folder = statusFolder(data.path)
  // a folder in the file's place, onto which no file can be renamed
  mkdirSync(join(folder, "ses_1.status.json", "full"), { recursive: true })
  const reported: unknown[] = []
  const session = createSessions(createEnv()).get("ses_1")
  take(session.ledger, sessionOf(1))
  const source = { prepare: async () => {}, statusOf: () => ({ sessionID: session.id }) as Status }
  const publisher = createPublisher({ store: { enabled: true } }, source, (cause) => reported.push(cause), folder)
  for (let n = 0; n < 3; n++) {
    publisher.publish(session)
    await publisher.close()
  }
  expect(reported).toEqual([expect.objectContaining({ syscall: "rename" })])
})

test("500 lines are logged, and after them only what the user should act on, once", () => {
  const [lines, toasts]: string[][] = [[], []]
  const log = createLog({
    app: { log: async ({ body }) => lines?.push(body.message) },
    tui: { showToast: async ({ body }) => toasts?.push(body.message) },
  })
  log.showToasts()
  for (let n = 0; n < 600; n++) log.say("warn", `line ${n}`)
  for (const warning of ["one", "two", "one"]) log.warnUser(warning)
  log.say("warn", "line 0")
  expect([lines?.length, toasts]).toEqual([502, ["one", "two"]])
})
