// What OpenCode 2 tells late of a session's messages, or what is forgotten of them for other sessions: the folds stay as they are.

import { expect, test } from "bun:test"
import { join } from "node:path"
import * as module from "../../../src/plugin.ts"
import { readStatus, statusFolder } from "../../../src/status/files.ts"
import { openAt } from "../../store/support.ts"
import { dataOfFile } from "../../support/data.ts"
import { fakeHostV2, heard, loadedModule, textsOf, toolV2, USAGE } from "../../support/host-v2.ts"

const folder = dataOfFile()

const listing = (n: number) => Array.from({ length: 100 }, (_, i) => `export const value${n}_${i} = ${i}`).join("\n")
const reading = (name: string | number, text = "x") => toolV2("call_1", "read", { path: `src/${name}.ts` }, text)

/** A session whose steps fill the context, so that most of them are folded. */
async function begin(options: object) {
  const host = fakeHostV2()
  const given = { deadlineMs: 5000, fold: { maxContextTokens: 12_000 }, ...options }
  const load = async (context: object) => (await loadedModule(module).setup(context)) as () => Promise<void>
  let cleanup = await load(host.context(given))
  /** One call of the model. `during` runs before its answer. Returns what it was sent, without the HUD. */
  const step = async (content: object, during = async () => {}) => {
    const sent = textsOf((await host.request()).messages)
    await during()
    const size = Math.round(sent.join("").length / 4)
    host.answer([content as never], { ...USAGE, cache: { read: size, write: 0 } })
    await heard()
    return sent.filter((text) => !text.startsWith("<hud>"))
  }
  host.user("make the login test pass on node 22, please")
  for (let n = 0; n < 25; n++) await step(reading(n, listing(n)))
  return {
    host,
    step,
    /** Another process, in which OpenCode needs this long to return the stored messages. */
    async resume(delayMs: number) {
      await cleanup()
      host.unload()
      const context = host.context(given) as { session: { context(): Promise<unknown> } }
      const { context: answer } = context.session
      context.session.context = () => Bun.sleep(delayMs).then(answer)
      cleanup = await load(context)
    },
    end: () => cleanup(),
  }
}

test("a resumed session keeps its folds, and where it was cut, although OpenCode returns its messages late", async () => {
  const path = join(folder, "late.db")
  const { host, step, resume, end } = await begin({ store: { path } })
  const last = await step(reading("last"))
  expect(last.join()).toContain("kept by hudfold as a record")
  host.end()
  await heard()
  const rowsOf = async () => {
    await using opened = await openAt(path)
    return (await opened.store.loadFolds("ses_v2")).map(({ id, call }) => `${id} ${call}`)
  }
  await resume(500)
  const stored = await rowsOf()
  host.user("and now go on")
  for (let n = 0; n < 3; n++) {
    expect((await step(reading(`more-${n}`))).slice(0, last.length)).toEqual(last)
    // longer than OpenCode needs
    await Bun.sleep(n === 0 ? 600 : 0)
  }
  await end()
  expect(await rowsOf()).toEqual(stored)
})

test("a session keeps its folds while so many subagents work for it that what is known of it makes room for them", async () => {
  const { host, step, end } = await begin({ store: { enabled: false } })
  const last = await step(toolV2("call_1", "subagent", { prompt: "look" }, "done"), async () => {
    for (let n = 0; n < 25; n++)
      await host.request((event) => {
        event.sessionID = `ses_child${n}`
        event.messages = (event.messages as unknown[]).slice(0, 1)
      })
  })
  expect(last.join()).toContain("kept by hudfold as a record")
  const { context } = host.calls
  for (let n = 0; n < 3; n++) expect((await step(reading(`more-${n}`))).slice(0, last.length)).toEqual(last)
  // it is asked for again, once
  expect(host.calls.context).toBe(context + 1)
  await end()
})

test("a session that is moved to another location is counted and shown there alone", async () => {
  const path = join(folder, "moved.db")
  const listeners = new Set<never>()
  const hosts = ["/home/dev/old", "/home/dev/new"].map((directory) => fakeHostV2({ listeners, directory }))
  const loaded = hosts.map((host) => loadedModule(module).setup(host.context({ store: { path }, deadlineMs: 5000 })))
  const cleanups = (await Promise.all(loaded)) as (() => Promise<void>)[]
  const [old, other] = hosts as [ReturnType<typeof fakeHostV2>, ReturnType<typeof fakeHostV2>]
  const turn = async (host: typeof old, words: string) => {
    host.user(words)
    await heard()
    for (let n = 0; n < 3; n++) {
      await host.request()
      host.answer([reading(`${words.length}-${n}`)])
      await heard()
    }
    host.end()
    await heard()
  }
  await turn(old, "make the login test pass on node 22, please")
  other.messages.push(...old.messages)
  await turn(other, "and the others")
  await turn(other, "and go on")
  for (const cleanup of cleanups) await cleanup()
  const status = await readStatus(statusFolder(folder), "ses_v2")
  expect(status).toMatchObject({ directory: "/home/dev/new", calls: 9, saved: { calls: 9 } })
  await using opened = await openAt(path)
  expect((await opened.store.turns("ses_v2")).map(({ calls }) => calls)).toEqual([3, 3, 3])
})
