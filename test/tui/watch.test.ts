// How the panel sees the status files change: a real folder, real writes.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeStatus, writeSwitches } from "../../src/status/files.ts"
import { ALL_ON } from "../../src/status/status.ts"
import {
  readSessionSnapshot,
  type SessionSnapshot,
  type SessionWatch,
  watchSessions,
  withoutOutdated,
} from "../../src/tui/watch.ts"
import { statusOf } from "../support/status.ts"

let home: string
let folder: string
let watch: SessionWatch
let faults: unknown[]

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "panel-watch-"))
  folder = join(home, "sessions")
  faults = []
  watch = watchSessions(folder, (cause) => faults.push(cause))
})
afterEach(() => {
  watch.close()
  rmSync(home, { recursive: true, force: true })
})

/** All states a listener got, and the first one, past or future, that matches. */
function listen(sessionID = "ses_1") {
  const heard: SessionSnapshot[] = []
  const waiting = new Set<() => void>()
  const stop = watch.follow(sessionID, (seen) => {
    heard.push(seen)
    for (const look of waiting) look()
  })
  const first = (matches: (seen: SessionSnapshot) => boolean) =>
    new Promise<SessionSnapshot>((resolve) => {
      const look = () => {
        const found = heard.find(matches)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return { heard, first, stop }
}

const calls = (count: number) => (seen: SessionSnapshot) => seen.status?.calls === count

test("a listener gets the current state and every change", async () => {
  writeStatus(folder, statusOf({ calls: 1 }))
  const { heard, first } = listen()
  await first(calls(1))
  writeStatus(folder, statusOf({ calls: 2 }))
  await first(calls(2))
  await writeSwitches(folder, "ses_1", { hud: "paused", folding: "on" })
  await first(({ switches }) => switches.hud === "paused")
  expect(heard).toHaveLength(3)
})

test("a folder that does not exist yet is noticed when it does", async () => {
  const { first } = listen()
  expect(await first(() => true)).toEqual({ status: undefined, switches: ALL_ON })
  expect(existsSync(folder)).toBe(false)
  writeStatus(folder, statusOf({ calls: 1 }))
  await first(calls(1))
})

test("several writes between two looks are one change", async () => {
  writeStatus(folder, statusOf({ calls: 1 }))
  const { heard, first } = listen()
  await first(calls(1))
  for (let at = 1; at <= 5; at++) writeStatus(folder, statusOf({ calls: 1, writtenMs: at }))
  writeStatus(folder, statusOf({ calls: 2 }))
  await first(calls(2))
  expect(heard.map(({ status }) => status?.calls)).toEqual([1, 2])
})

test("no final state is lost when several sessions are written at the same moment", async () => {
  const sessions = Array.from({ length: 8 }, (_, at) => `ses_${at}`)
  const listeners = sessions.map((id) => listen(id))
  for (let round = 1; round <= 10; round++)
    for (const sessionID of sessions) writeStatus(folder, statusOf({ sessionID, calls: round }))
  await Promise.all(listeners.map(({ first }) => first(calls(10))))
})

test("a listener gets nothing after it has stopped following", async () => {
  const gone = listen()
  const stays = listen()
  await gone.first(() => true)
  gone.stop()
  writeStatus(folder, statusOf({ calls: 1 }))
  await stays.first(calls(1))
  expect(gone.heard).toHaveLength(1)
})

test("a listener that throws is reported, and the others are still called", async () => {
  const fault = new Error("cannot draw")
  const [once, twice] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let called = 0
  watch.follow("ses_1", () => {
    called++
    if (called === 1) once.resolve()
    else twice.resolve()
    throw fault
  })
  const { first } = listen()
  await first(() => true)
  // otherwise the change may be the first that it sees
  await once.promise
  writeStatus(folder, statusOf({ calls: 1 }))
  await first(calls(1))
  await twice.promise
  expect(faults).toEqual([fault, fault])
})

test("a file where the folder should be breaks nothing, and what takes its place is noticed", async () => {
  writeFileSync(folder, "a file where the folder should be")
  const { first } = listen()
  expect(await first(() => true)).toEqual({ status: undefined, switches: ALL_ON })
  rmSync(folder)
  writeStatus(folder, statusOf({ calls: 1 }))
  await first(calls(1))
})

test("the local model of a process that has ended is not shown as working", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"])
  writeStatus(folder, statusOf({ pid }))
  expect((await readSessionSnapshot(folder, "ses_1")).status?.writer).toMatchObject({
    state: "idle",
    waiting: 0,
    working: false,
  })
  writeStatus(folder, statusOf())
  expect((await readSessionSnapshot(folder, "ses_1")).status?.writer).toMatchObject({
    state: "ready",
    waiting: 2,
    working: true,
  })
})

test("what was paused since the status was written is shown as paused, and what is off stays off", async () => {
  const { hud, folding } = statusOf()
  writeStatus(folder, statusOf({ folding: { ...folding, activity: "off" } }))
  await writeSwitches(folder, "ses_1", { hud: "paused", folding: "paused" })
  const { status } = await readSessionSnapshot(folder, "ses_1")
  expect(status?.hud).toEqual({ ...hud, activity: "paused" })
  expect(status?.folding.activity).toBe("off")
})

test("a folder that is deleted and created again is watched again", async () => {
  writeStatus(folder, statusOf({ calls: 1 }))
  const { first } = listen()
  await first(calls(1))
  rmSync(folder, { recursive: true })
  await first(({ status }) => status === undefined)
  writeStatus(folder, statusOf({ calls: 2 }))
  await first(calls(2))
  writeStatus(folder, statusOf({ calls: 3 }))
  await first(calls(3))
})

test("a closed watch calls nobody", async () => {
  const { heard, first } = listen()
  await first(() => true)
  watch.close()
  watch.follow("ses_1", () => {})()
  watch.follow("ses_1", (seen) => heard.push(seen))
  writeStatus(folder, statusOf({ calls: 1 }))
  await Bun.sleep(500)
  expect(heard).toHaveLength(1)
})

test("a name that is no session id has no status, and nothing is thrown", async () => {
  const { first } = listen("../../etc")
  expect(await first(() => true)).toEqual({ status: undefined, switches: ALL_ON })
})

test("the status of a process that had ended before the last call says nothing any more", () => {
  const dead = spawnSync("true").pid
  const call = { role: "assistant", tokens: { output: 5 }, time: { completed: 100_000 } }
  const hasStatus = (pid: number, writtenMs: number, one: object = call) => {
    const api = { state: { session: { messages: () => [{ role: "user" }, one] } } } as never
    const state = { status: statusOf({ pid, writtenMs }), switches: ALL_ON }
    return withoutOutdated(state, "ses_1", api).status !== undefined
  }
  expect(hasStatus(dead, 80_000)).toBe(false)
  // a status may be written a moment before its call is complete
  expect(hasStatus(dead, 99_000)).toBe(true)
  expect(hasStatus(process.pid, 80_000)).toBe(true)
  // no calls of the model that the plugin prepares: a command of the user's, a compaction
  expect(hasStatus(dead, 80_000, { ...call, tokens: { output: 0 } })).toBe(true)
  expect(hasStatus(dead, 80_000, { ...call, summary: true })).toBe(true)
  expect(hasStatus(dead, 80_000, { ...call, time: {} })).toBe(true)
  // an error in here would reach OpenCode's screen
  expect(hasStatus(dead, 80_000, { role: "assistant" })).toBe(true)
})
