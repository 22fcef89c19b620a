// Two OpenCode processes and one store: created at the same moment, written at the same time, and left by a killed process.

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { hudsOf } from "../opencode/request.ts"
import type { Client } from "../opencode/serve.ts"
import { countTurns, runFixture, temporaryFolder, until } from "../store/support.ts"
import { testLarge } from "../support/large.ts"
import { sized } from "../support/size.ts"
import {
  bash,
  eventually,
  FILES,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  say,
  todo,
  UNENDING,
  use,
  type World,
} from "../support/world.ts"

const TURNS = sized(1, 10)
const RACES = Array.from({ length: sized(1, 10) }, (_, n) => n + 1)

describe("processes that write one store", () => {
  test.each(RACES)("lose nothing when they create it at the same moment (race %d)", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "data", "hud.db")
    const children = Array.from({ length: 4 }, (_, n) => runFixture("write-turns.ts", path, `ses_${n}`, "25"))
    try {
      const ended = await Promise.all(children.map((child) => child.finish()))
      for (const { code, stdout, stderr } of ended) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
        expect(stdout).toEndWith("closed\n")
      }
      expect(countTurns(path)).toBe(100)
    } finally {
      for (const child of children) child[Symbol.dispose]()
    }
  })

  test.each(RACES)("leave it intact when one is killed while it writes (kill %d)", async (n) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    using killed = runFixture("write-turns.ts", path, "ses_killed", "100000")
    using other = runFixture("write-turns.ts", path, "ses_other", "60")
    await Promise.all([killed.printed("open"), other.printed("open")])
    void killed.finish().catch(() => {})
    const rest = other.finish()
    await until(() => turnsIn(path, "ses_killed").length > 20 * n)
    killed[Symbol.dispose]()
    expect((await rest).stdout).toEndWith("closed\n")
    const kept = turnsIn(path, "ses_killed")
    expect(kept).toEqual(kept.map((_, at) => at + 1))
    expect(turnsIn(path, "ses_other").length).toBe(60)
    using db = new Database(path)
    expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]])
  })
})

let world: World
let clients: Client[] = []
const store = () => join(world.host.root, "data/opencode-hudfold/hud.db")

beforeAll(async () => {
  // with folding off, the HUD names all files from the start
  world = await openWorld({ plugin: [PLUGIN, { deadlineMs: 5_000, fold: { enabled: false } }] })
  clients = await Promise.all([world.host.serve(), world.host.serve()])
}, 2 * PATIENCE_MS)
afterAll(() => world.close())

/** The numbers of a session's turns, in order; none while there is no file. */
function turnsIn(path: string, session: string): number[] {
  try {
    using db = new Database(path, { readonly: true })
    return db
      .query<{ turn: number }, [string]>("SELECT turn FROM turn WHERE session_id = ? ORDER BY turn")
      .all(session)
      .map(({ turn }) => turn)
  } catch {
    return []
  }
}

const STEPS = [use(read("alpha.txt"), todo(["look and report", "in_progress"])), use(bash("sh check")), say("Done.")]

async function ask(client: Client, session: string): Promise<void> {
  world.provider.play(STEPS, session)
  await client.prompt(session, "Look at alpha and run the check")
}

const kept = (session: string, turns: number) =>
  eventually(`${turns} turns of ${session} in the store`, () =>
    turnsIn(store(), session).length === turns ? true : undefined,
  )

function expectNoTrouble(): void {
  expect(
    world.host
      .log()
      .split("\n")
      .filter((line) => /database is locked|hudfold: the store|hudfold: .*failed;/.test(line)),
  ).toEqual([])
}

test(
  "two OpenCodes that work at the same time, in one project and in two, keep every turn",
  async () => {
    const other = world.host.addProject("other", FILES)
    const asked: string[] = []
    const work = async (client: Client, directory?: string) => {
      const session = await client.create(directory === undefined ? {} : { directory })
      asked.push(session)
      for (let turn = 0; turn < TURNS; turn++) await ask(client, session)
    }
    await Promise.all(clients.flatMap((client) => [work(client), work(client, other)]))
    for (const session of asked) {
      await kept(session, TURNS)
      const huds = world.provider.from("main", session).map((request) => hudsOf(request).length)
      expect(huds.slice(1)).toEqual(huds.slice(1).map(() => 1))
    }
    expectNoTrouble()
  },
  4 * PATIENCE_MS,
)

testLarge(
  "a session alternates between two OpenCodes, and each knows what happened in the other",
  async () => {
    const [one, other] = clients
    if (!one || !other) throw new Error("there are no two processes")
    const session = await one.create()
    for (const [at, client] of [one, other, one, other].entries()) {
      await ask(client, session)
      const hud = hudsOf(world.provider.from("main", session).at(-1) as never).join()
      expect(hud).toContain(`call ${3 * (at + 1)}\n`)
      // as a failure or, where that does not fit, as a repeat
      if (at > 0) expect(hud).toMatch(new RegExp(`sh check(?:\` since call 2, ${at + 1} times| ${at + 1}x)`))
    }
    await kept(session, 4)
    expectNoTrouble()
  },
  4 * PATIENCE_MS,
)

test(
  "a session that one OpenCode has compacted goes on with its facts in another that had the store open",
  async () => {
    const [one, other] = clients
    if (!one || !other) throw new Error("there are no two processes")
    const [session, beside] = [await one.create(), await other.create()]
    await ask(other, beside)
    await kept(beside, 1)
    await ask(one, session)
    await one.summarize(session, OPENAI)
    world.provider.play([], session)
    await other.prompt(session, "Go on")
    const hud = hudsOf(world.provider.from("main", session).at(-1) as never).join()
    expect(hud).toContain("compacted once")
    expect(hud).toContain("sh check")
    expect(hud).toContain("alpha.txt")
    expectNoTrouble()
  },
  4 * PATIENCE_MS,
)

test(
  "a session whose OpenCode is killed during a turn goes on in the other, and no earlier turn is lost",
  async () => {
    const [one, other] = clients
    if (!one || !other) throw new Error("there are no two processes")
    const [session, beside] = [await one.create(), await other.create()]
    await ask(one, session)
    world.provider.play([use(read("beta.txt")), UNENDING], session)
    await one.promptAsync(session, "Look at beta")
    await eventually("the second turn's last request", () => world.provider.from("main", session)[4])
    await Promise.all([ask(other, beside), one.kill()])
    await ask(other, session)
    const hud = hudsOf(world.provider.from("main", session).at(-1) as never).join()
    expect(hud).toContain("alpha.txt")
    expect(hud).toContain("beta.txt")
    await kept(session, 2)
    await kept(beside, 1)
    using db = new Database(store(), { readonly: true })
    expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]])
    expectNoTrouble()
  },
  4 * PATIENCE_MS,
)
