// What is folded and recalled in a session counts for its model, and later sessions of the model know it.

import { expect, test } from "bun:test"
import { join } from "node:path"
import { type HookContext, loadMisses } from "../../src/host/context.ts"
import type { Session } from "../../src/host/sessions.ts"
import { openStore } from "../../src/store/open.ts"
import { openAt, temporaryFolder } from "../store/support.ts"
import { host } from "../support/hosted.ts"
import { bash, SessionBuilder } from "../support/session.ts"

const listing = (of: number) =>
  Array.from({ length: 100 }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/dir${of}/part-${i}.ts`).join("\n")

test("folds and first recalls are counted for the model, and a session of the model is given the counts", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (let n = 0; n < 20; n++) session.assistant([bash(`ls -l src/dir${n}`, listing(n))])
  {
    // a request waits a second for the store, which a busy machine may need to create it
    await (await openStore({ path, onWarning() {} })).close()
    const options = { store: { path }, deadlineMs: 5000, fold: { price: { read: 1, write: 1 } } }
    const hooks = await host({ options, client: { app: {}, session: {}, tui: {} } })
    await hooks.request(session.messages)
    await using other = await openAt(path)
    const folds = await other.store.loadFolds("ses_test")
    expect(folds.length).toBeGreaterThan(2)
    for (const { id } of [...folds.slice(0, 2), ...folds.slice(0, 1)]) await hooks.recall({ ids: id }, session.messages)
    await hooks.dispose()
  }
  await using opened = await openAt(path)
  const { store } = opened
  const folded = (await store.loadFolds("ses_test")).length
  const later = { modelMisses: new Map() } as unknown as Session
  const context = { store: { use: (action: (open: typeof store) => void) => action(store) } } as unknown as HookContext
  loadMisses(context, later, { providerID: "anthropic", modelID: "claude-sonnet-4-5" })
  expect([...later.modelMisses.values()]).toEqual([{ shows: "listing", recalls: 2, folded }])
  loadMisses(context, later, { providerID: "anthropic", modelID: "another" })
  expect(later.modelMisses.size).toBe(0)
})
