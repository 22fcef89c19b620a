// A session's status file, and the switches that pause the HUD and folding in it, tested through the hooks.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { readStatus, readSwitches, statusFolder, writeStatus, writeSwitches } from "../../src/status/files.ts"
import { FOREVER } from "../../src/tui/switch.ts"
import { foldsIn } from "../support/records.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"
import { statusOf } from "../support/status.ts"
import { load, reported, worked } from "./loaded.ts"

const data = mkdtempSync(join(tmpdir(), "status-"))
const sessions = statusFolder(data)
const before = process.env.HUDFOLD_DATA
beforeAll(() => useData(data))
afterAll(() => {
  useData(before)
  rmSync(data, { recursive: true })
})

function useData(folder: string | undefined): void {
  if (folder === undefined) delete process.env.HUDFOLD_DATA
  else process.env.HUDFOLD_DATA = folder
}

const hudsIn = (messages: readonly HostMessage[]) =>
  messages.flatMap(({ parts }) => parts).filter((part) => part.text?.includes("<hud>"))

describe("the status file", () => {
  test("names the session that a subagent works for", async () => {
    const hooks = await load()
    await hooks.event("session.created", { sessionID: "ses_sub", info: { id: "ses_sub", parentID: "ses_main" } })
    await hooks.model("ses_sub")
    await hooks.transform(worked("ses_sub").fresh())
    await hooks.dispose()
    expect(await readStatus(sessions, "ses_sub")).toMatchObject({ sessionID: "ses_sub", parentID: "ses_main" })
  })

  test("says that HUD and folding are off for an agent that is disabled", async () => {
    const hooks = await load({ disabledAgents: ["build"] })
    await hooks.transform(worked("ses_disabled").fresh())
    await hooks.dispose()
    const status = await readStatus(sessions, "ses_disabled")
    expect([status?.hud.activity, status?.folding.activity]).toEqual(["off", "off"])
  })

  test("describes the session, and only its owner can read it", async () => {
    const id = "ses_stands"
    const hooks = await load()
    await hooks.model(id)
    await hooks.transform(worked(id).fresh())
    await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
    await hooks.dispose()
    const status = await readStatus(sessions, id)
    expect(status).toMatchObject({
      sessionID: id,
      directory: "/home/dev/shop",
      calls: 3,
      model: "anthropic/claude-sonnet-4-5",
      context: { tokens: 5400, estimated: false, limit: 200_000, compactions: 0 },
      failures: [{ what: "npm test", since: 2, times: 1 }],
      hud: { activity: "on" },
      folding: { activity: "on", outputs: 0 },
      writer: { backend: "extract", state: "ready" },
    })
    expect(status?.context.cachedShare).toBeCloseTo(4400 / 5300)
    expect(status?.hud.text).toContain("same result again read src/login.ts 2x")
    // not yet: the newest messages show it
    expect(status?.hud.text).not.toContain("failing")
    expect(status?.hud.text).toContain("call 4")
    expect(status?.saved.calls).toBe(1)
    // a HUD was sent and nothing was folded, so the plugin cost something
    expect(status?.saved.share).toBeLessThan(0)
    expect(status?.saved.usd).toBeLessThan(0)
    const path = join(sessions, `${id}.status.json`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(sessions).mode & 0o777).toBe(0o700)
    expect(hooks.logged).toEqual([])
  })

  test("has the HUD without content that a request carries once there was one", async () => {
    const id = "ses_quiet"
    const hooks = await load()
    const session = new SessionBuilder(id)
      .user("look around")
      .assistant([read("a.ts")])
      .assistant([read("a.ts")])
    expect(hudsIn(await hooks.transform(session.fresh())).length).toBe(1)
    for (let n = 0; n < 10; n++) session.assistant([read(`quiet-${n}.ts`)])
    const [hud] = hudsIn(await hooks.transform(session.fresh()))
    await hooks.dispose()
    expect(hud?.text).toBe("<hud>\nhudfold status, call 13\n</hud>")
    expect((await readStatus(sessions, id))?.hud.text).toBe(hud?.text)
  })

  test("has the HUD of the request's size, which grows with the messages and not with system prompt and tools", async () => {
    const id = "ses_size"
    const hooks = await load({ fold: { enabled: false } })
    const session = new SessionBuilder(id).user("look around")
    for (let n = 0; n < 16; n++) session.assistant([read(`a-rather-long-name-of-file-${n}.ts`)], usage(60_000))
    const [hud] = hudsIn(await hooks.transform(session.fresh()))
    await hooks.dispose()
    expect(hud?.text).toContain("files read: a-rather-long-name-of-file-15.ts")
    expect((await readStatus(sessions, id))?.hud.text).toBe(hud?.text)
  })

  test("has the HUD with the newest report, as the next request will, and as the status' own row", async () => {
    const id = "ses_newest"
    const hooks = await load({ fold: { enabled: false }, hud: { sections: ["context"] } })
    await hooks.model(id)
    const session = new SessionBuilder(id).user("look around")
    for (let n = 0; n < 8; n++) session.assistant([read(`a-${n}.ts`)], usage(100_000, 20_000))
    await hooks.transform(session.fresh())
    await hooks.event("message.updated", reported(id, "msg_next", usage(1_000, 129_000)))
    await hooks.dispose()
    const status = await readStatus(sessions, id)
    expect(status?.context).toMatchObject({ tokens: 130_100, estimated: false })
    expect(status?.hud.text).toContain("context 130k of 200k (65%)\n")
  })

  test("counts a call once, however often OpenCode announces its message", async () => {
    const id = "ses_again"
    const hooks = await load()
    await hooks.model(id)
    await hooks.transform(worked(id).fresh())
    for (let i = 0; i < 3; i++) await hooks.event("message.updated", reported(id, "msg_next", usage(900, 4400)))
    await hooks.event("session.idle", { sessionID: id })
    await hooks.dispose()
    expect((await readStatus(sessions, id))?.saved.calls).toBe(1)
  })

  test("includes what earlier processes saved", async () => {
    const id = "ses_resumed"
    const store = { path: join(data, "resumed.db") }
    const turn = async (next: string) => {
      const hooks = await load({ store })
      await hooks.model(id)
      await hooks.transform(worked(id).fresh())
      await hooks.event("message.updated", reported(id, next, usage(900, 4400)))
      await hooks.event("session.idle", { sessionID: id })
      await hooks.dispose()
      return (await readStatus(sessions, id))?.saved
    }
    const first = await turn("msg_first")
    const second = await turn("msg_second")
    expect(second?.calls).toBe(2)
    expect(second?.tokens).toBe(2 * (first?.tokens ?? 0))
  })

  test("is deleted with its session", async () => {
    const id = "ses_deleted"
    const hooks = await load()
    await hooks.transform(worked(id).fresh())
    await writeSwitches(sessions, id, { hud: "paused", folding: "on" })
    await hooks.event("session.idle", { sessionID: id })
    await hooks.event("session.deleted", { sessionID: id })
    await hooks.dispose()
    expect(readdirSync(sessions).filter((name) => name.includes(id))).toEqual([])
  })

  test("is not written for a session that is deleted while its request waits for the store", async () => {
    const id = "ses_deleted_early"
    const hooks = await load({ store: { path: join(data, "early.db") } })
    const waiting = hooks.transform(worked(id).fresh())
    await hooks.event("session.deleted", { sessionID: id })
    await waiting
    await hooks.dispose()
    expect(readdirSync(sessions).filter((name) => name.includes(id))).toEqual([])
  })

  test("is not written when the store is disabled, and an earlier one is removed", async () => {
    const id = "ses_secret"
    writeStatus(sessions, statusOf({ sessionID: id }))
    const hooks = await load({ store: { enabled: false } })
    await hooks.transform(worked(id).fresh())
    await hooks.dispose()
    expect(existsSync(join(sessions, `${id}.status.json`))).toBe(false)
  })

  test("causes a single log line when the disk refuses writes", async () => {
    const id = "ses_refused"
    const folder = mkdtempSync(join(tmpdir(), "refused-"))
    writeFileSync(join(folder, "sessions"), "not a folder")
    useData(folder)
    const hooks = await load()
    const messages = await hooks.transform(worked(id).fresh())
    expect(hudsIn(messages).length).toBe(1)
    for (let i = 0; i < 3; i++) await hooks.event("message.updated", reported(id, `msg_${i}`, usage(900, 4400)))
    await hooks.dispose()
    useData(data)
    expect(hooks.logged.filter((line) => line.includes("the panel"))).toHaveLength(1)
    rmSync(folder, { recursive: true })
  })
})

describe("a session in which the user has paused", () => {
  test("the HUD, gets none from the next request on, and one again after it is resumed", async () => {
    const id = "ses_paused"
    const hooks = await load()
    await hooks.model(id)
    expect(hudsIn(await hooks.transform(worked(id).fresh())).length).toBe(1)
    await writeSwitches(sessions, id, { hud: "paused", folding: "on" })
    expect(hudsIn(await hooks.transform(worked(id).fresh()))).toEqual([])
    await hooks.dispose()
    // what it would be is known, so that the panel can show it as soon as it is resumed
    const paused = (await readStatus(sessions, id))?.hud
    expect(paused).toMatchObject({ activity: "paused", text: expect.stringContaining("hudfold status") })
    const again = await load()
    expect(hudsIn(await again.transform(worked(id).fresh()))).toEqual([])
    await writeSwitches(sessions, id, { hud: "on", folding: "on" })
    expect(hudsIn(await again.transform(worked(id).fresh())).length).toBe(1)
    await again.dispose()
  })

  test("a sticky HUD, keeps the texts that were sent, so that the prefix is the same", async () => {
    const id = "ses_sticky"
    const hooks = await load({ hud: { slot: "sticky" } })
    const session = worked(id)
    const before = await hooks.transform(session.fresh())
    await writeSwitches(sessions, id, { hud: "paused", folding: "on" })
    session.assistant([bash("npm run build", "2 errors", 2)], usage(300, 4400))
    const after = await hooks.transform(session.fresh())
    expect(JSON.stringify(after.slice(0, before.length))).toBe(JSON.stringify(before))
    expect(hudsIn(after).length).toBe(1)
    await hooks.dispose()
  })

  test("folding, gets no new folds and keeps those it has", async () => {
    const id = "ses_unfolding"
    const listing = (name: string) =>
      Array.from({ length: 300 }, (_, i) => `-rw-r--r-- ${name}/part-${i}.ts`).join("\n")
    const hooks = await load()
    const session = new SessionBuilder(id).user("make the login test pass on node 22, please")
    const look = (name: string) => {
      session.assistant([bash(`ls -l src/${name}`, listing(name))])
      for (const file of ["a", "b", "c"]) session.assistant([read(`${name}-${file}.ts`)])
    }
    const folded = (messages: readonly HostMessage[]) =>
      messages.flatMap(({ parts }) => parts).filter((part) => part.state?.output?.startsWith("folded r")).length
    look("auth")
    const before = folded(await hooks.transform(session.fresh()))
    expect(before).toBeGreaterThan(0)
    await writeSwitches(sessions, id, { hud: "on", folding: "paused" })
    look("mail")
    expect(folded(await hooks.transform(session.fresh()))).toBe(before)
    await hooks.dispose()
    expect((await readStatus(sessions, id))?.folding).toMatchObject({ activity: "paused", outputs: before })
  })
})

describe("what the user asks for in a session", () => {
  const long = (id: string) => {
    const session = new SessionBuilder(id).user("make the login test pass on node 22, please")
    for (let i = 0; i < 20; i++) session.assistant([bash(`ls -l src/${i}`, `part ${i} of the listing\n`.repeat(200))])
    return session
  }
  const store = { path: join(data, "wishes.db") }

  test("all that is settled is folded once, even while folding is paused", async () => {
    const id = "ses_compact"
    await writeSwitches(sessions, id, { hud: "on", folding: "paused" })
    const hooks = await load({ store })
    const session = long(id)
    expect(foldsIn(session.messages, await hooks.transform(session.fresh())).size).toBe(0)
    await hooks.dispose()
    const { kept } = (await readStatus(sessions, id))!.folding
    const again = await load({ store })
    await writeSwitches(sessions, id, { hud: "on", folding: "paused", foldNow: { askedMs: 1, what: "all" } })
    const folded = foldsIn(session.messages, await again.transform(session.fresh()))
    expect(folded.size).toBe(kept.settled + (kept.outputs ?? 0))
    expect(folded.size).toBeGreaterThan(10)
    for (let i = 20; i < 40; i++) session.assistant([bash(`ls -l src/${i}`, `part ${i}\n`.repeat(400))])
    expect(foldsIn(session.messages, await again.transform(session.fresh())).size).toBe(folded.size)
    await again.dispose()
    expect(readSwitches(sessions, id)).toEqual({ hud: "on", folding: "paused" })
    const { folding } = (await readStatus(sessions, id))!
    expect(folding.episodes[0]?.steps.every(({ reason }) => reason === "asked")).toBe(true)
    // as announced, to the estimate of a line's length
    expect(folding.savedTokens / (kept.tokens ?? 0)).toBeWithin(0.8, 1.2)
  })

  test("what a forced cut took is no longer waited for, the newest step is", async () => {
    const id = "ses_forced"
    const session = long(id)
    const [old, newest] = [session.messages[5]?.info.id ?? "", session.messages.at(-1)?.info.id ?? ""]
    for (const [askedMs, what, waits] of [
      [4, "all", false],
      [5, [old], false],
      [6, [newest], true],
    ] as const) {
      await writeSwitches(sessions, id, { hud: "on", folding: "on", foldNow: { askedMs, what: what as never } })
      // each request nears its maximum
      session.assistant([bash(`ls -l ${askedMs}`, `part ${askedMs} of the listing\n`.repeat(1200))])
      const hooks = await load({ store, fold: { maxContextTokens: 8000 } })
      await hooks.transform(session.fresh())
      await hooks.dispose()
      expect([what, readSwitches(sessions, id).foldNow !== undefined]).toEqual([what, waits])
    }
    const { episodes } = (await readStatus(sessions, id))!.folding
    expect(episodes[0]?.steps.every(({ reason }) => reason === "must")).toBe(true)
  })

  test("steps around one that failed are one episode, as in the request", async () => {
    const id = "ses_failed"
    const session = long(id)
    Object.assign(session.messages[4]?.info ?? {}, { error: { name: "APIError", data: {} } })
    await writeSwitches(sessions, id, { hud: "on", folding: "on", foldNow: { askedMs: 7, what: "all" } })
    const hooks = await load({ store })
    const sent = JSON.stringify(await hooks.transform(session.fresh()))
    await hooks.dispose()
    const { episodes } = (await readStatus(sessions, id))!.folding
    expect(episodes.map(({ from, to }) => `${from}-${to}`)).toEqual(
      Array.from(sent.matchAll(/Steps ([\d-]+) of this session/g), ([, steps]) => steps ?? ""),
    )
  })

  test("one step is folded although nothing else is", async () => {
    const id = "ses_one"
    const session = long(id)
    const messageID = session.messages[5]?.info.id ?? ""
    await writeSwitches(sessions, id, { hud: "on", folding: "paused", foldNow: { askedMs: 2, what: [messageID] } })
    const hooks = await load({ store })
    expect([...foldsIn(session.messages, await hooks.transform(session.fresh())).keys()]).toEqual([messageID])
    await hooks.dispose()
  })

  test("what is pinned is sent whole again, stays so in another process, and is folded once released", async () => {
    const id = "ses_pinned"
    const session = long(id)
    const hooks = await load({ store })
    const before = foldsIn(session.messages, await hooks.transform(session.fresh()))
    const messageID = session.messages[5]?.info.id ?? ""
    expect([...before.keys()]).toContain(messageID)
    await writeSwitches(sessions, id, { hud: "on", folding: "on", whole: { [messageID]: FOREVER } })
    const without = [...before.keys()].filter((one) => one !== messageID)
    expect([...foldsIn(session.messages, await hooks.transform(session.fresh())).keys()]).toEqual(without)
    await hooks.dispose()
    expect((await readStatus(sessions, id))?.folding.kept.newest).toContainEqual(
      expect.objectContaining({ messageID, why: "you keep it whole" }),
    )
    const again = await load({ store })
    const sent = await again.transform(session.fresh())
    expect([...foldsIn(session.messages, sent).keys()]).toEqual(without)
    expect(JSON.stringify(sent)).toContain("part 4 of the listing\\npart 4 of the listing")
    await writeSwitches(sessions, id, { hud: "on", folding: "on", foldNow: { askedMs: 3, what: [messageID] } })
    expect([...foldsIn(session.messages, await again.transform(session.fresh())).keys()]).toContain(messageID)
    await again.dispose()
  })

  test("what is unfolded stays whole until the call that was said", async () => {
    const id = "ses_unfolded"
    const session = long(id)
    const messageID = session.messages[5]?.info.id ?? ""
    const hooks = await load({ store })
    await hooks.transform(session.fresh())
    await writeSwitches(sessions, id, { hud: "on", folding: "on", whole: { [messageID]: 20 + 3 } })
    const isFolded = async () => foldsIn(session.messages, await hooks.transform(session.fresh())).has(messageID)
    expect(await isFolded()).toBe(false)
    for (let i = 0; i < 2; i++) session.assistant([read(`quiet-${i}.ts`)])
    expect(await isFolded()).toBe(false)
    for (let i = 2; i < 30; i++) session.assistant([bash(`ls -l late/${i}`, `late ${i}\n`.repeat(400))])
    expect(await isFolded()).toBe(true)
    await hooks.dispose()
  })
})
