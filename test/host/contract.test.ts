// The messages hook's body only looks. Until its commit runs, the host's array, the ledger, the store and the queue are as
// they were; the commit changes all of them.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { HookContext } from "../../src/host/context.ts"
import { createModels } from "../../src/host/models.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { onMessages } from "../../src/host/v1/messages.ts"
import { readOptions, requestOptionsOf } from "../../src/options.ts"
import { ALL_ON } from "../../src/status/status.ts"
import { bash, edit, ROOT, read, SessionBuilder } from "../support/session.ts"

test("a messages hook whose commit never runs has changed nothing; its commit changes everything at once", () => {
  const touched: string[] = []
  const { options } = readOptions({ fold: { price: { read: 1, write: 1 } } })
  const env = createEnv(ROOT)
  const sessions = createSessions(env)
  const note = (name: string) => () => void touched.push(name)
  const writes = new Proxy({}, { get: () => note("store") })
  const use = (action: (opened: object) => void) => action(writes)
  const context = {
    ...{ options, env, sessions, models: createModels(options), directory: ROOT },
    requestOptions: requestOptionsOf(options),
    log: { say: note("log") },
    digests: { queue: { offer: note("queue"), defer: note("queue"), cancel: note("queue") } },
    store: { open() {}, isReady: () => true, opening: () => undefined, use },
    publisher: { publish: note("publisher"), switches: () => ALL_ON },
    background: { start: note("background") },
    withoutRecall: new Set(),
  } as unknown as HookContext
  const built = new SessionBuilder().user("make the login test pass on node 22, please")
  built.assistant([bash("ls -l src", "-rw-r--r-- 1 dev src/some/file.ts\n".repeat(400))])
  for (let n = 0; n < 12; n++) built.assistant([read(`${n}.ts`), edit(`${n}.ts`)])
  const messages = built.fresh()
  const before = JSON.stringify(messages)

  const commit = onMessages(context, { messages })
  const session = sessions.get("ses_test")
  expect(JSON.stringify(messages)).toBe(before)
  expect(touched).toEqual([])
  expect([session.ledger.entries.length, session.folding.folds.size, session.hud.shown]).toEqual([0, 0, false])

  if (typeof commit !== "function") throw new Error("the body answered no commit")
  commit()
  expect(JSON.stringify(messages)).toContain("kept by hudfold as a record")
  expect(messages.at(-1)?.parts[0]?.text).toStartWith("<hud>")
  expect(new Set(touched)).toEqual(new Set(["queue", "store", "publisher", "background"]))
  expect(session.ledger.entries).toHaveLength(built.messages.length)
  expect([session.folding.folds.size > 0, session.hud.shown]).toEqual([true, true])
})
