// Fifty sessions at once in one process, in several directories with an instance of the plugin each: no session knows the facts
// of another.

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { DrivenSession, openDirectory, type Watcher } from "../support/driver.ts"
import { FOLDED, isRecordPart } from "../support/records.ts"
import { sized } from "../support/size.ts"

const DIRECTORIES = 5
const SESSIONS = 50
const TURNS = 5
const CALLS = sized(2, 20, 4)

type Seen = { huds: number; folds: number; foreign: string[]; calls: number }

const seen = new Map<string, Seen>()
const folder = mkdtempSync(join(tmpdir(), "hud-load-"))
const path = join(folder, "hud.db")
let logged: string[] = []

beforeAll(async () => {
  const options = { digest: { backend: "extract" }, store: { path }, fold: { price: { read: 1, write: 1 } } }
  const directories = await Promise.all(
    Array.from({ length: DIRECTORIES }, (_, at) => openDirectory(options, `/home/dev/p${at}`)),
  )
  const sessions = Array.from({ length: SESSIONS }, (_, at) => {
    const directory = directories[at % DIRECTORIES]
    if (!directory) throw new Error("there is no directory")
    return new DrivenSession(directory, `ses_many_${at}`, `word${at}z`, watch)
  })
  await Promise.all(
    sessions.map(async (session) => {
      await session.create()
      for (let turn = 0; turn < TURNS; turn++) await session.turn(CALLS)
    }),
  )
  logged = directories.flatMap((directory) => directory.logged)
  await Promise.all(directories.map((directory) => directory.dispose()))
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Of what goes out, the plugin's own words are looked at: the HUD, and what stands in place of outputs and steps. */
const watch: Watcher = ({ id, word }, sent) => {
  const known = seen.get(id) ?? { huds: 0, folds: 0, foreign: [], calls: 0 }
  seen.set(id, known)
  known.calls++
  for (const { info, parts } of sent)
    for (const part of parts) {
      const text = textOf(info.id, part)
      if (text === undefined) continue
      if (part.type === "tool" || isRecordPart(part)) known.folds++
      else known.huds++
      for (const [other] of text.matchAll(/word\d+z/g)) if (other !== word) known.foreign.push(other)
    }
}

function textOf(messageID: string | undefined, part: HostMessage["parts"][number]): string | undefined {
  if (messageID?.startsWith("msg_hudfold") || isRecordPart(part)) return String(part.text)
  const output = part.state?.output
  return typeof output === "string" && FOLDED.test(output) ? output : undefined
}

test.each(Array.from({ length: SESSIONS }, (_, at) => `ses_many_${at}`))(
  "%s, beside 49 others, gets only its own facts on every call",
  (id) => {
    const { huds = 0, foreign, calls } = seen.get(id) ?? {}
    expect(calls).toBe(TURNS * CALLS)
    expect(foreign).toEqual([])
    expect(huds).toBeGreaterThan(TURNS * CALLS - 10)
  },
)

test("outputs are folded in sessions side by side", () => {
  expect([...seen.values()].filter(({ folds }) => folds > 0).length).toBeGreaterThan(SESSIONS / 2)
})

test("the store has every turn of every session, and nothing was dropped", () => {
  using db = new Database(path, { readonly: true })
  const rows = db.query<{ turns: number; calls: number }, []>(
    "SELECT count(*) AS turns, sum(calls) AS calls FROM turn GROUP BY session_id",
  )
  expect(rows.all()).toEqual(Array.from({ length: SESSIONS }, () => ({ turns: TURNS, calls: TURNS * CALLS })))
  expect(logged.filter((line) => /store|failed|not done/.test(line))).toEqual([])
})
