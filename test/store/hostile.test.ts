// A store, a status file or carried facts written by somebody else: what is read back is quoted like any other data.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { escapedLine as printed } from "../../src/cli/terminal.ts"
import { isFoldText } from "../../src/fold/record.ts"
import { compactionFacts } from "../../src/hud/compaction-facts.ts"
import { isHud, renderHud } from "../../src/hud/render.ts"
import { sectionsOf } from "../../src/hud/sections.ts"
import { readCarried } from "../../src/session/carry.ts"
import { noSignals } from "../../src/session/facts.ts"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { ALL_ON } from "../../src/status/status.ts"
import { PANEL_ROWS, statusRows } from "../../src/status/words.ts"
import { readFold } from "../../src/store/writes.ts"
import { hudDialog, panelLines, statusDialog } from "../../src/tui/view.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfHud, faultOfLine } from "../support/hostile/grammar.ts"
import { fold as foldStatus, statusOf } from "../support/status.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

const folder = mkdtempSync(join(tmpdir(), "hud-hostile-"))
const sessions = statusFolder(folder)
mkdirSync(sessions, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Characters that move the cursor, ring the bell or change the writing direction. */
const ACTS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

for (const { id, tries, text } of CORPUS) {
  const short = text.slice(0, 390)

  test(`${id}: what a compaction carried is quoted when it tries to ${tries}`, () => {
    const file = {
      path: short,
      readAt: 1,
      editedAt: 2,
      changedAt: 0,
      usedMs: 1,
      deleted: false,
    }
    const facts = readCarried(
      JSON.stringify({
        ...{ calls: 20, compactions: 1, requests: [{ text: short, call: 1 }], files: [file] },
        todos: [
          { content: short, status: short.slice(0, 40) },
          { content: short, status: "in_progress" },
        ],
        failures: [{ key: short, detail: short, kind: "check", since: 1, last: 20, times: 2 }],
      }),
    )
    if (!facts) throw new Error("it was not read")
    for (const section of sectionsOf(facts, noSignals(), {})) {
      const hud = renderHud([section], 100_000, 9)
      expect(hud && faultOfHud(hud.text)).toBeUndefined()
    }
    const [, ...lines] = (compactionFacts(facts, noSignals(), []) ?? "").split("\n")
    for (const line of lines) expect(faultOfLine(line)).toBeUndefined()
  })

  test(`${id}: a row of the store is valid or ignored when it tries to ${tries}`, () => {
    for (const one of [text, `<hud>\n${text}\n</hud>`, `<hud>\nhudfold status, call 1\n${text}\n</hud>`])
      if (isHud(one)) for (const line of one.split("\n").slice(2, -1)) expect(faultOfLine(line)).toBeUndefined()
    const fold = { id: "r4k2x9da", step: 1 } as const
    for (const one of [text, `folded ${fold.id} · ${text}`])
      if (isFoldText({ ...fold, kind: "output", text: one })) expect(faultOfLine(one)).toBeUndefined()
    expect(isFoldText({ ...fold, id: short, kind: "output", text: `folded ${short} · x · y` })).toBe(false)
    for (const json of [text, JSON.stringify({ kind: text, digest: text })]) {
      expect(readFold(json)).toBeUndefined()
      expect(readCarried(json)).toBeUndefined()
    }
  })

  test(`${id}: a status file controls no screen when it tries to ${tries}`, async () => {
    const name = text.slice(0, 10_000)
    const status = statusOf({
      ...{ sessionID: "ses_1", directory: name, plugin: name, model: name },
      hud: { activity: "on", text: name, tokens: 5 },
      failures: [{ what: name, detail: name, since: 1, times: 2 }],
      stale: [{ path: name, why: "edited since read" }],
      writer: { ...statusOf().writer, state: "degraded", why: name, model: name, device: name },
    })
    status.folding.newest = [foldStatus({ id: name, what: name, because: name })]
    status.folding.stopped = name
    writeFileSync(join(sessions, "ses_1.status.json"), JSON.stringify(status))
    const read = await readStatus(sessions, "ses_1")
    if (!read) throw new Error("it was not read")
    const seen = { status: read, switches: ALL_ON } as never
    const drawn = panelLines(seen, 38, PANEL_ROWS)
    for (const line of drawn) {
      const said = line.map((span) => span.text).join("")
      expect(said).not.toMatch(ACTS)
      expect(said).not.toContain("\n")
      expect(Bun.stringWidth(said)).toBeLessThanOrEqual(38)
    }
    for (const { text = "", note = "", title } of [hudDialog(seen), statusDialog(seen)]) {
      expect(text).not.toMatch(ACTS)
      expect(`${note}${title}`).not.toMatch(ACTS)
    }
    for (const row of statusRows(read))
      for (const one of [row.text, ...row.details]) expect(printed(one)).not.toMatch(/[\p{Cc}]/u)
    // as a session's name it leads to no file
    expect(await readStatus(sessions, /^[\w-]{1,100}$/.test(name) ? "x/y" : name)).toBeUndefined()
  })
}
