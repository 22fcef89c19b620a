// Sessions read from a database that the real OpenCode wrote, compared with what OpenCode itself exports.
import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StoreError } from "../../src/store/errors.ts"
import { findDatabase, openOpencode } from "../../src/store/opencode.ts"
import { visibleMessages } from "../../src/store/recording.ts"
import { opencodeFolder } from "../../src/system/data-folder.ts"
import { createHost, findOpencode, type Host } from "../opencode/host.ts"
import { type Provider, startProvider } from "../opencode/provider.ts"
import type { StoredMessage } from "../opencode/stored.ts"
import { root, temporaryFolder } from "./support.ts"

let provider: Provider
let host: Host
let path: string
let session: string
let exported: StoredMessage[]

beforeAll(async () => {
  provider = await startProvider()
  host = createHost({
    opencode: findOpencode(),
    url: provider.url,
    models: [{ provider: "scripted", id: "scripted-1", npm: "@ai-sdk/openai-compatible" }],
    files: { "alpha.txt": "first\nsecond\n" },
  })
  path = join(host.root, "data", "opencode", "opencode.db")
  provider.play([{ calls: [{ name: "read", arguments: { filePath: "alpha.txt" } }] }, { text: "It says first." }])
  const turn = await host.run("What does alpha.txt say?")
  session = turn.session
  exported = await host.exported(session)
}, 120_000)

afterAll(async () => {
  await host?.close()
  await provider?.close()
})

/** The error's code. Also checks that the message is a single useful line. */
function codeOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    expect(error.message).toMatch(/^[^\n]{20,}$/)
    return error.code
  }
  return "none"
}

async function codeOfOpening(options: Parameters<typeof openOpencode>[0]): Promise<string> {
  const outcome = await openOpencode(options).then(
    (database) => database[Symbol.dispose](),
    (error: unknown) => error,
  )
  return codeOf(() => {
    if (outcome) throw outcome
  })
}

describe("a database of the real OpenCode", () => {
  test("a session reads as OpenCode exports it", async () => {
    using database = await openOpencode({ path })
    const recording = database.readSession(session)
    expect(exported.length).toBeGreaterThan(2)
    expect(JSON.parse(JSON.stringify(recording.messages))).toEqual(JSON.parse(JSON.stringify(exported)))
    expect(recording.info).toMatchObject({ id: session, directory: host.project, title: "A scripted session" })
    expect(recording.skipped).toBe(0)
  })

  test("a session is found by the beginning of its id and as the latest", async () => {
    using database = await openOpencode({ path })
    expect(database.readSession(session.slice(0, 12)).info.id).toBe(session)
    expect(database.readSession("latest").info.id).toBe(session)
    expect(database.listSessions({ limit: 5 }).map((one) => one.id)).toEqual([session])
  })

  test("the database is found where OpenCode keeps it", () => {
    const data = join(host.root, "data")
    expect(findDatabase({ XDG_DATA_HOME: data })).toBe(path)
    expect(findDatabase({ XDG_DATA_HOME: data, OPENCODE_DB: "opencode.db" })).toBe(path)
    expect(findDatabase({ OPENCODE_DB: path })).toBe(path)
  })

  test("reading leaves the database as it was", async () => {
    const before = readFileSync(path)
    {
      using database = await openOpencode({ path })
      database.readSession("latest")
    }
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("a session is read while another process holds the write lock", async () => {
    const writer = new Database(path)
    writer.exec("BEGIN IMMEDIATE")
    using database = await openOpencode({ path })
    expect(database.readSession(session).messages.length).toBe(exported.length)
    writer.exec("ROLLBACK")
    writer.close()
  })

  test("a session that does not exist is reported", async () => {
    using database = await openOpencode({ path })
    expect(codeOf(() => database.readSession("ses_nope"))).toBe("SESSION_NOT_FOUND")
    // `_` and `%` are literal here, not wildcards.
    expect(codeOf(() => database.readSession("ses%"))).toBe("SESSION_NOT_FOUND")
    expect(codeOf(() => database.readSession(""))).toBe("SESSION_NOT_FOUND")
  })
})

/** The same tables with made-up rows, for cases the real database does not contain. */
function madeUp(path: string): Database {
  const db = new Database(path)
  db.exec(`
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
      directory text NOT NULL, title text NOT NULL, version text NOT NULL, time_created integer NOT NULL,
      time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
      time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
      time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    INSERT INTO session VALUES
      ('ses_aa1', 'p', NULL, 's', '/w', 'one', '1', 1, 10),
      ('ses_aa2', 'p', NULL, 's', '/w', 'two', '1', 1, 30),
      ('ses_ab', 'p', 'ses_aa2', 's', '/w', 'sub', '1', 1, 40);
  `)
  return db
}

describe("odd databases", () => {
  test("an ambiguous prefix lists the candidates", async () => {
    using folder = temporaryFolder()
    madeUp(join(folder.path, "o.db")).close()
    using database = await openOpencode({ path: join(folder.path, "o.db") })
    expect(() => database.readSession("ses_aa")).toThrow(/\(ses_aa2, ses_aa1\); give more characters/)
    expect(codeOf(() => database.readSession("ses_aa"))).toBe("SESSION_AMBIGUOUS")
  })

  test("the latest session is the user's own, not a subagent's", async () => {
    using folder = temporaryFolder()
    madeUp(join(folder.path, "o.db")).close()
    using database = await openOpencode({ path: join(folder.path, "o.db") })
    expect(database.readSession("latest").info.id).toBe("ses_aa2")
    expect(database.sessionCosts(["ses_ab"]).get("ses_ab")?.parentID).toBe("ses_aa2")
  })

  test("messages are sorted by time and id, parts by id, ids are restored, broken rows skipped and counted", async () => {
    using folder = temporaryFolder()
    const db = madeUp(join(folder.path, "o.db"))
    db.exec(`
      INSERT INTO message VALUES
        ('msg_3', 'ses_aa1', 1, 1, '{"role":"user"}'), ('msg_1', 'ses_aa1', 2, 2, '{"role":"assistant"}'),
        ('msg_2', 'ses_aa1', 1, 1, '{"role":"user"}'), ('msg_4', 'ses_aa1', 3, 3, '{broken'),
        ('msg_5', 'ses_aa1', 4, 4, '[]');
      INSERT INTO part VALUES
        ('prt_2', 'msg_3', 'ses_aa1', 1, 1, '{"type":"text","text":"b"}'),
        ('prt_1', 'msg_3', 'ses_aa1', 9, 9, '{"type":"text","text":"a"}'),
        ('prt_3', 'msg_3', 'ses_aa1', 1, 1, 'null'),
        ('prt_4', 'msg_gone', 'ses_aa1', 1, 1, '{"type":"text"}');
    `)
    db.close()
    using database = await openOpencode({ path: join(folder.path, "o.db") })
    const { messages, skipped } = database.readSession("ses_aa1")
    expect(messages.map(({ info }) => info.id)).toEqual(["msg_2", "msg_3", "msg_1"])
    expect(messages[1]).toEqual({
      info: { id: "msg_3", sessionID: "ses_aa1", role: "user" },
      parts: [
        { id: "prt_1", messageID: "msg_3", sessionID: "ses_aa1", type: "text", text: "a" },
        { id: "prt_2", messageID: "msg_3", sessionID: "ses_aa1", type: "text", text: "b" },
      ],
    })
    expect(skipped).toBe(3)
  })

  test("a missing database, a file that is not one, and another program's differ from a missing session", async () => {
    using folder = temporaryFolder()
    const env = { XDG_DATA_HOME: folder.path }
    expect(await codeOfOpening({ env })).toBe("DATABASE_NOT_FOUND")
    expect(await codeOfOpening({ env: { ...env, OPENCODE_DB: ":memory:" } })).toBe("DATABASE_NOT_FOUND")
    expect(await codeOfOpening({ env: { ...env, OPENCODE_DB: "mine.db" } })).toBe("DATABASE_NOT_FOUND")
    for (const [name, bytes] of [
      ["text.db", "not a database, ".repeat(100)],
      ["empty.db", ""],
    ] as const) {
      writeFileSync(join(folder.path, name), bytes)
      using database = await openOpencode({ path: join(folder.path, name) })
      expect(codeOf(() => database.readSession("latest"))).toBe("DATABASE_UNREADABLE")
    }
  })

  test("without the usual database, the most recently used one of another channel is read", () => {
    using folder = temporaryFolder()
    const env = { XDG_DATA_HOME: folder.path }
    mkdirSync(opencodeFolder(env))
    for (const [name, time] of [
      ["opencode-dev.db", 200],
      ["opencode-local.db", 100],
      ["opencode-dev.db-wal", 300],
    ] as const) {
      writeFileSync(join(opencodeFolder(env), name), "")
      utimesSync(join(opencodeFolder(env), name), time, time)
    }
    expect(findDatabase(env)).toBe(join(opencodeFolder(env), "opencode-dev.db"))
    writeFileSync(join(opencodeFolder(env), "opencode.db"), "")
    expect(findDatabase(env)).toBe(join(opencodeFolder(env), "opencode.db"))
  })
})

test("no source file of the store names a table with credentials", async () => {
  for (const name of new Bun.Glob("src/store/**/*.ts").scanSync(root)) {
    const text = await Bun.file(join(root, name)).text()
    expect(text).not.toMatch(/sqliteTable\("(?!session|message|part|anchors|carried|turn")/)
    expect(text).not.toMatch(/from (account|control_account|credential)\b/i)
  }
})

test("a pending revert hides what OpenCode will delete at the next prompt", async () => {
  const client = await host.serve()
  try {
    provider.play([{ text: "Second." }], session)
    await client.prompt(session, "And its last line?")
    const asked = (await client.messages(session)).findLast((message) => message.info.role === "user")
    await client.revert(session, String(asked?.info.id))
  } finally {
    await client.close()
  }
  using database = await openOpencode({ path })
  const recording = database.readSession(session)
  expect(recording.messages).toHaveLength(exported.length + 2)
  expect(visibleMessages(recording).map((message) => message.info.id)).toEqual(
    exported.map((message) => message.info.id as string),
  )
}, 60_000)
