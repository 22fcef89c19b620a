// `store.path` may come from a cloned project's opencode.json, since OpenCode merges all of them. Whatever it names, no file of
// another kind is changed, moved, or written through a link.

import { Database } from "bun:sqlite"
import { afterEach, beforeEach, expect, test } from "bun:test"
import { execFileSync } from "node:child_process"
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { optionsSchema } from "../../src/options.ts"
import { dataFolder, storePath } from "../../src/system/data-folder.ts"
import { modeOf, walk } from "../support/walk.ts"
import { openAt, seed, temporaryFolder, turnOf } from "./support.ts"

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())
const at = (name: string) => join(folder.path, name)

/** Opens a store there and writes to it; returns why it is in memory, if it is. */
async function use(path: string): Promise<string | undefined> {
  await using opened = await openAt(path)
  opened.store.saveTurn(turnOf())
  await opened.store.flush()
  const why = opened.warnings.find((warning) => warning.includes("kept in memory only"))
  if (why !== undefined) expect(opened.warnings).toHaveLength(1)
  return why
}

const files: Record<string, { name: string; content: string | Buffer }> = {
  "a private key": { name: "id_ed25519", content: "-----BEGIN NOTHING-----\n" },
  "a private key whose name ends in .db": { name: "key.db", content: "-----BEGIN NOTHING-----\n" },
  "a shell's start-up file": { name: ".bashrc", content: "alias ll='ls -l'\n" },
  "a text called like a database": { name: "notes.db", content: "notes\n".repeat(2000) },
  "an encrypted database": { name: "vault.db", content: Buffer.alloc(8192, 0x5a) },
  "a Berkeley database": { name: "old.db", content: Buffer.from([0, 5, 0x31, 0x62, ...Array(500).fill(7)]) },
  "a single byte": { name: "one.db", content: "x" },
}

test.each(Object.entries(files))("%s is unchanged, with its mode", async (_, { name, content }) => {
  writeFileSync(at(name), content, { mode: 0o640 })
  expect(await use(at(name))).toMatch(/store\.path/)
  expect(readFileSync(at(name)).equals(Buffer.from(content))).toBe(true)
  expect(modeOf(at(name))).toBe("640")
  expect(readdirSync(folder.path)).toEqual([name])
})

test("another program's SQLite database is unchanged, with its mode and tables", async () => {
  const path = at("theirs.db")
  const theirs = new Database(path)
  theirs.exec("CREATE TABLE account (id text); INSERT INTO account VALUES ('theirs')")
  theirs.close()
  const before = readFileSync(path)
  expect(await use(path)).toContain("a database of another program")
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(folder.path)).toEqual(["theirs.db"])
})

test.each([16, 100, 4096])(
  "another program's database that is broken from byte %d on is not moved away",
  async (from) => {
    const path = at("theirs.db")
    const theirs = new Database(path)
    theirs.exec("CREATE TABLE account (id text); INSERT INTO account VALUES ('theirs')")
    theirs.close()
    const broken = readFileSync(path).fill(0xa5, from)
    writeFileSync(path, broken)
    expect(await use(path)).toBeDefined()
    expect(readFileSync(path).equals(broken)).toBe(true)
    expect(readdirSync(folder.path)).toEqual(["theirs.db"])
  },
)

test("a broken store under another name is set aside, since its header identifies it", async () => {
  await seed(at("mine.db"))
  writeFileSync(at("mine.db"), readFileSync(at("mine.db")).fill(0xa5, 100))
  expect(await use(at("mine.db"))).toBeUndefined()
  expect(readdirSync(folder.path).filter((name) => name.startsWith("mine.db.corrupt-"))).toHaveLength(1)
})

test.each(["hud.db", "other.db"])("a symbolic link named %s is never followed", async (name) => {
  await seed(at("target.db"))
  writeFileSync(at("target.txt"), "text")
  for (const target of ["target.db", "target.txt", "nothing.db"]) {
    const link = at(`${target}-links/${name}`)
    mkdirSync(at(`${target}-links`))
    symlinkSync(at(target), link)
    const before = existsSync(at(target)) ? readFileSync(at(target)) : undefined
    expect(await use(link)).toContain("is a symbolic link")
    expect(existsSync(at(target)) ? readFileSync(at(target)) : undefined).toEqual(before)
    expect(walk(at(`${target}-links`)).map(({ path }) => path)).toEqual([".", name])
  }
})

test.each(["-wal", "-shm", "-journal"])(
  "a link in place of the store's %s is not followed, not even to change a mode",
  async (end) => {
    writeFileSync(at("target"), "theirs", { mode: 0o644 })
    mkdirSync(at("data"))
    symlinkSync(at("target"), at(`data/hud.db${end}`))
    await use(at("data/hud.db"))
    expect([readFileSync(at("target"), "utf8"), modeOf(at("target"))]).toEqual(["theirs", "644"])
  },
)

test.each(["-wal", "-shm"])("setting a broken store aside moves its %s, not the target of a link", async (end) => {
  writeFileSync(at("target"), "theirs", { mode: 0o644 })
  mkdirSync(at("data"))
  writeFileSync(at("data/hud.db"), "broken ".repeat(1000))
  symlinkSync(at("target"), at(`data/hud.db${end}`))
  await use(at("data/hud.db"))
  expect([readFileSync(at("target"), "utf8"), modeOf(at("target"))]).toEqual(["theirs", "644"])
})

test("a file with a second hard link is used only if it is a store", async () => {
  writeFileSync(at("theirs"), "theirs", { mode: 0o644 })
  linkSync(at("theirs"), at("linked.db"))
  expect(await use(at("linked.db"))).toContain("is not a hudfold store")
  expect([readFileSync(at("theirs"), "utf8"), modeOf(at("theirs"))]).toEqual(["theirs", "644"])
})

test.skipIf(process.platform === "win32").each(["hud.db", "other.db"])(
  "a pipe named %s does not block",
  async (name) => {
    execFileSync("mkfifo", [at(name)])
    expect(await use(at(name))).toContain("is not a file")
  },
)

test("a folder in place of the file is unchanged", async () => {
  mkdirSync(at("hud.db"))
  expect(await use(at("hud.db"))).toBeDefined()
  expect(readdirSync(folder.path)).toEqual(["hud.db"])
})

const env = { HUDFOLD_DATA: "/data/hud" }
test.each([
  ["a name", "mine.db", "/data/hud/mine.db"],
  ["nothing", undefined, "/data/hud/hud.db"],
  ["an absolute path", "/elsewhere/mine.db", "/elsewhere/mine.db"],
])("%s is taken", (_, named, path) => {
  expect(storePath(named, env, "/home/u")).toBe(path)
})

test.each([
  ...["../hud.db", "a/../../hud.db", "./hud.db", "sub/hud.db", "..", ".", "..\\hud.db", "~/hud.db", "a/b.db/"],
  ...["//evil.example/share/hud.db", "\\\\evil.example\\share\\hud.db", "\\\\?\\C:\\hud.db"],
  ...["hud", "hud.db.sh", "/home/u/.bashrc", "/home/u/.config/fish/conf.d/x.fish", "/etc/cron.d/x", ":memory:"],
  ...["file:hud", "hud.db?mode=memory", "/x.db\n", "hud.db\u0000.txt", ".git/hooks/post-checkout", "C:\\hud"],
])("%j is refused in a sentence", (named) => {
  expect(() => storePath(named, env, "/home/u")).toThrow(/^option store\.path: expected an absolute path/)
  expect(dataFolder(env)).toBe("/data/hud")
})

test.each([
  ["with a NUL", "/x\u0000y.db"],
  ["that is too long", `/${"x".repeat(5000)}.db`],
  ["below a device", "/dev/null/x.db"],
  ["where no files are made", "/proc/self/x.db"],
])("a path %s cannot be opened, and memory does instead", async (_, named) => {
  expect(optionsSchema.safeParse({ store: { path: named } }).success).toBe(true)
  expect(await use(named)).toBeDefined()
})
