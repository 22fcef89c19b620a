import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Digest } from "../../src/output/digest.ts"
import { openAt, temporaryFolder, turnOf } from "./support.ts"

const writer = "llama/tiny p1"
const day = 24 * 60 * 60 * 1000

const digestOf = (gist: string): Digest => ({ gist })

function digestRows(path: string): unknown[][] {
  const db = new Database(path, { readonly: true })
  try {
    return db.query("SELECT key, writer FROM digest ORDER BY key, writer").values()
  } finally {
    db.close()
  }
}

/** Changes a store file that is not open. */
function edit(path: string, change: (db: Database) => void): void {
  const db = new Database(path)
  change(db)
  db.close()
}

async function seed(path: string, keys: readonly string[]): Promise<void> {
  await using opened = await openAt(path)
  for (const key of keys) opened.store.saveDigest(writer, key, digestOf(key))
}

test("a digest is found in a later process, and only for its writer", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  await seed(path, ["k1", "k2"])
  await using second = await openAt(path)
  expect(await second.store.loadDigests(writer, ["k2", "k3", "k1"])).toEqual(
    new Map([
      ["k1", digestOf("k1")],
      ["k2", digestOf("k2")],
    ]),
  )
  expect((await second.store.loadDigests("llama/tiny p2", ["k1"])).size).toBe(0)
  expect((await second.store.loadDigests(writer, [])).size).toBe(0)
})

test("a digest saved a moment ago is found before any flush", async () => {
  using folder = temporaryFolder()
  await using opened = await openAt(join(folder.path, "hud.db"))
  opened.store.saveDigest(writer, "k1", digestOf("first"))
  opened.store.saveDigest(writer, "k1", digestOf("second"))
  expect(await opened.store.loadDigests(writer, ["k1"])).toEqual(new Map([["k1", digestOf("second")]]))
})

test("without a file digests are kept in memory, the newest 500", async () => {
  await using opened = await openAt("/dev/null/hud.db")
  expect(opened.store.state.kind).toBe("memory")
  const keys = Array.from({ length: 600 }, (_, n) => `k${n}`)
  for (const key of keys) opened.store.saveDigest(writer, key, digestOf(key))
  const found = await opened.store.loadDigests(writer, keys)
  expect([...found.keys()]).toEqual(keys.slice(100))
})

test("many keys are read at once", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  const keys = Array.from({ length: 900 }, (_, n) => `k${n}`)
  await seed(path, keys)
  await using second = await openAt(path)
  const asked = Array.from({ length: 3000 }, (_, n) => `k${n}`)
  expect([...(await second.store.loadDigests(writer, asked)).keys()].sort()).toEqual(keys.sort())
})

test("the text of a digest survives byte for byte", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  const digest: Digest = { gist: "a\0b\ud800c\u2028d\u{1f600}" }
  {
    await using first = await openAt(path)
    first.store.saveDigest("openai/m\ud800", "k1", digest)
  }
  await using second = await openAt(path)
  expect((await second.store.loadDigests("openai/m\ud800", ["k1"])).get("k1")).toEqual(digest)
})

test("an invalid row is skipped, and can be overwritten", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  await seed(path, ["k1", "k2", "k3", "k4"])
  edit(path, (db) => {
    db.run("UPDATE digest SET digest = 'no json' WHERE key = 'k1'")
    db.run("UPDATE digest SET digest = ? WHERE key = 'k2'", [JSON.stringify({ kind: "no gist" })])
    db.run("UPDATE digest SET digest = ? WHERE key = 'k3'", [JSON.stringify({ gist: 7 })])
  })
  await using opened = await openAt(path)
  expect([...(await opened.store.loadDigests(writer, ["k1", "k2", "k3", "k4"])).keys()]).toEqual(["k4"])
  opened.store.saveDigest(writer, "k1", digestOf("again"))
  await opened.store.flush()
  await using other = await openAt(path)
  expect((await other.store.loadDigests(writer, ["k1"])).get("k1")).toEqual(digestOf("again"))
})

test("deleting a session deletes no digest", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  {
    await using opened = await openAt(path)
    opened.store.saveTurn(turnOf({ sessionID: "ses_1" }))
    opened.store.saveDigest(writer, "k1", digestOf("k1"))
    opened.store.deleteSession("ses_1")
  }
  expect(digestRows(path)).toEqual([["k1", writer]])
})

test("opening drops digests unused for 90 days before the last day of use; reading one keeps it", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  await seed(path, ["old", "used", "young"])
  edit(path, (db) => {
    db.run("UPDATE digest SET used_at = ?", [Date.now() - 91 * day])
  })
  {
    await using opened = await openAt(path)
    expect((await opened.store.loadDigests(writer, ["used"])).size).toBe(1)
  }
  edit(path, (db) => {
    db.run("UPDATE digest SET used_at = used_at - ?", [2 * day])
    db.run("UPDATE digest SET used_at = ? WHERE key = 'young'", [Date.now()])
  })
  {
    await using _ = await openAt(path)
  }
  expect(digestRows(path).map(([key]) => key)).toEqual(["used", "young"])
})

test("opening keeps the 20,000 most recently used digests", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  await seed(path, [])
  const start = Date.now() - day
  edit(path, (db) => {
    const insert = db.prepare("INSERT INTO digest VALUES (?, ?, '{}', ?)")
    db.transaction(() => {
      for (let n = 0; n < 20_010; n++) insert.run(`k${String(n).padStart(5, "0")}`, writer, start + n)
    })()
  })
  {
    await using _ = await openAt(path)
  }
  const keys = digestRows(path).map(([key]) => key)
  expect([keys.length, keys[0], keys.at(-1)]).toEqual([20_000, "k00010", "k20009"])
})
