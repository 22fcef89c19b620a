// A session of 20,000 tool parts, resumed in a new process: the first request waits until all of it is read and is right; no
// later request waits.

import { Database } from "bun:sqlite"
import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { syntheticSession } from "../../bench/sessions.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { openDirectory } from "../support/driver.ts"
import { heapBelow, heapBytes } from "../support/heap.ts"
import { foldsIn, outputFoldsIn, stepsGone } from "../support/records.ts"
import { sized } from "../support/size.ts"

const PARTS = sized(1_500, 20_000, 3_000)
const PATIENCE_MS = 60_000
const LATER = 6

const folder = mkdtempSync(join(tmpdir(), "hud-load-"))
const path = join(folder, "hud.db")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** As text, so that every array is made of new objects; the last messages are of calls still to come. */
const stored = syntheticSession(PARTS).map((message) => JSON.stringify(message))
const arrayOf = (later: number) =>
  stored.slice(0, stored.length - LATER + later).map((text) => JSON.parse(text) as HostMessage)

const open = () => openDirectory({ digest: { backend: "extract" }, store: { path }, deadlineMs: 5 })

function hudOf(messages: readonly HostMessage[]): string {
  const hud = messages.at(-1)
  return hud?.info.id === "msg_hudfold" ? String(hud.parts[0]?.text) : ""
}

/** Counted over the session without the ledger: the calls, the files edited, the runs of the tests, which all fail. */
function counted(messages: readonly HostMessage[]) {
  const edited = new Set<string>()
  let calls = 0
  let runs = 0
  let firstRun = 0
  for (const { info, parts } of messages) {
    if (info.role === "assistant") calls++
    for (const { tool, state } of parts) {
      const file = String(state?.input?.filePath).replace("/home/dev/shop/", "")
      if (tool === "edit") edited.add(file)
      if (state?.input?.command !== "npm test") continue
      runs++
      firstRun ||= calls
    }
  }
  return { calls, edited, runs, firstRun }
}

test(
  "is read completely at its first call despite a short deadline, and every HUD is right",
  async () => {
    const directory = await open()
    try {
      let named = 0
      for (let later = 0; later < LATER; later++) {
        const messages = arrayOf(later)
        const { calls, edited, runs, firstRun } = counted(messages)
        await directory.transform({}, { messages })
        const hud = hudOf(messages)
        expect(hud).toContain(`, call ${calls + 1}\n`)
        expect(hud).toContain(`failing \`npm test\` since call ${firstRun}, ${runs} times: Tests: 2 failed`)
        const told = /edited: ([^;\n]+)/.exec(hud)?.[1]?.split(", ") ?? []
        named += told.length
        for (const name of told) expect([...edited].filter((file) => `/${file}`.endsWith(`/${name}`))).toHaveLength(1)
        const outputs = outputFoldsIn(messages).size
        if (outputs > 1 && hud.includes("\nfolded ")) expect(hud).toContain(`, ${outputs} outputs, `)
        expect(stepsGone(arrayOf(later), messages).size).toBeGreaterThan(50)
      }
      expect(named).toBeGreaterThan(0)
      expect(directory.logged.filter((line) => /failed|not done/.test(line))).toEqual([])
    } finally {
      await directory.dispose()
    }
  },
  PATIENCE_MS,
)

test(
  "met late, it is folded with its first request, and the next one sends the same",
  async () => {
    const directory = await openDirectory({ digest: { backend: "extract" }, store: { enabled: false } })
    try {
      const first = arrayOf(0)
      await directory.transform({}, { messages: first })
      expect(stepsGone(arrayOf(0), first).size).toBeGreaterThan(0.9 * counted(arrayOf(0)).calls)
      const second = arrayOf(0)
      await directory.transform({}, { messages: second })
      expect(JSON.stringify(second.slice(0, -1))).toBe(JSON.stringify(first.slice(0, -1)))
    } finally {
      await directory.dispose()
    }
  },
  PATIENCE_MS,
)

test(
  "resumed by another process, it goes out with the same folds, byte for byte",
  async () => {
    const [first, second] = [await open(), await open()]
    try {
      const before = arrayOf(0)
      await first.transform({}, { messages: before })
      await first.dispose()
      const after = arrayOf(0)
      await second.transform({}, { messages: after })
      const folds = foldsIn(arrayOf(0), after)
      expect(foldsIn(arrayOf(0), before).size).toBeGreaterThan(50)
      for (const [part, text] of foldsIn(arrayOf(0), before))
        expect(`${part} ${folds.get(part)}`).toBe(`${part} ${text}`)
    } finally {
      await second.dispose()
    }
  },
  PATIENCE_MS,
)

test(
  "whose store is locked longer than a request waits goes out unchanged once, and with all folds later",
  async () => {
    const before = await open()
    const known = arrayOf(0)
    await before.transform({}, { messages: known })
    await before.dispose()
    const lock = new Database(path)
    lock.exec("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE")
    const directory = await open()
    try {
      const first = arrayOf(0)
      await directory.transform({}, { messages: first })
      expect(first).toEqual(arrayOf(0))
      expect(directory.logged.join("\n")).toContain("was not done after 1000 ms")
      lock.close()
      const second = arrayOf(1)
      await directory.transform({}, { messages: second })
      expect(hudOf(second)).toContain(`, call ${counted(arrayOf(1)).calls + 1}\n`)
      const gone = stepsGone(arrayOf(0), known)
      // an output that was folded may be in a folded step by now
      const [part = "", text] = [...foldsIn(arrayOf(0), known)].find(([id]) => gone.has(id)) ?? []
      let folds = foldsIn(arrayOf(1), second)
      for (let left = 200; left > 0 && !folds.has(part); left--) {
        const messages = arrayOf(2)
        await directory.transform({}, { messages })
        folds = foldsIn(arrayOf(2), messages)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect(folds.get(part)).toBe(text ?? "")
    } finally {
      lock.close()
      await directory.dispose()
    }
  },
  PATIENCE_MS,
)

test(
  "takes less than two kilobytes of memory for each tool part, and none once the session is deleted",
  async () => {
    const directory = await open()
    try {
      const start = heapBytes()
      await directory.transform({}, { messages: arrayOf(0) })
      await heapBelow(start + PARTS * 2000 + 10_000_000)
      await directory.event("session.deleted", { sessionID: "ses_test" })
      await heapBelow(start + 10_000_000)
    } finally {
      await directory.dispose()
    }
  },
  PATIENCE_MS,
)
