// A session whose first act in a process is its compaction: what earlier processes folded is known, and a transcript that is too
// large for the model is folded.

import { beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { openStore } from "../../src/store/open.ts"
import { dataOfFile } from "../support/data.ts"
import { MODEL } from "../support/driver.ts"
import { host } from "../support/hosted.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"

const folder = dataOfFile()
beforeAll(async () => {
  // a request waits a second for the store, which a busy machine may need to load its code
  await (await openStore({ path: join(folder, "first.db"), onWarning() {} })).close()
})

const SMALL = { ...MODEL, limit: { context: 1500, output: 500 } }

const listing = (name: string) =>
  Array.from({ length: 300 }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/${name}/part-${i}.ts`).join("\n")

/** A session with large listings. `reported`: the size of its last call. */
function worked(reported: number) {
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (const name of ["auth", "cart", "mail"]) session.assistant([bash(`ls -l src/${name}`, listing(name))])
  for (let n = 0; n < 14; n++) session.assistant([read(`quiet-${n}.ts`)], n === 13 ? usage(reported) : {})
  return session.messages
}

const clientOf = (messages: readonly HostMessage[]) => ({
  app: { log: async () => {} },
  session: { messages: async () => ({ data: messages }) },
  tui: {},
})

type First = { file: string; messages: readonly HostMessage[]; options?: object }

/** Folds the session in a process of its own. */
async function folded({ file, messages, options = {} }: First) {
  const given = { store: { path: join(folder, file) }, deadlineMs: 5000, ...options }
  const first = await host({ options: given, client: clientOf(messages) })
  expect((await first.request(messages)).folds.size).toBeGreaterThan(2)
  await first.dispose()
  return given
}

/** Another session's request, by which the process learns how small the model's context is. */
const learned = (hooks: Awaited<ReturnType<typeof host>>) =>
  hooks.request(new SessionBuilder("ses_other").user("hello").messages)

test.each([true, false])("a resumed session's transcript is folded, with hud.enabled %p", async (enabled) => {
  const messages = worked(400)
  const options = await folded({ file: `hud-${enabled}.db`, messages, options: { hud: { enabled } } })
  const hooks = await host({ options, client: clientOf(messages), model: SMALL })
  await learned(hooks)
  expect((await hooks.compact(messages)).folds.size).toBeGreaterThan(2)
  await hooks.dispose()
  expect(hooks.wrong).toEqual([])
})

test.each([
  ["larger than the last call was is folded", 400, 3],
  ["no larger than the last call was stays whole", 60_000, 0],
])("where the model's limits are not known yet, a transcript that is %s", async (_, reported, least) => {
  const messages = worked(reported)
  const options = await folded({ file: `unknown-${reported}.db`, messages })
  const hooks = await host({ options, client: clientOf(messages) })
  const { size } = (await hooks.compact(messages)).folds
  if (least === 0) expect(size).toBe(0)
  else expect(size).toBeGreaterThanOrEqual(least)
  await hooks.dispose()
})

test("a fork's transcript is folded as its origin was", async () => {
  const messages = worked(400)
  const options = await folded({ file: "fork.db", messages })
  const fork: HostMessage[] = JSON.parse(JSON.stringify(messages).replaceAll("ses_test", "ses_fork"))
  const hooks = await host({ options, client: clientOf(fork), sessionID: "ses_fork", model: SMALL })
  await learned(hooks)
  await hooks.event("session.created", { info: { id: "ses_fork" } })
  expect((await hooks.compact(fork)).folds.size).toBeGreaterThan(2)
  await hooks.dispose()
  expect(hooks.wrong).toEqual([])
})
