// The modes of everything that is written, under every common umask: folders 0700, files 0600. In the engine's packages an
// executable file stays executable for its owner.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openStore } from "../../src/store/open.ts"
import { temporaryFolder } from "../store/support.ts"
import { type Found, walk } from "../support/walk.ts"
import { type Life, live } from "./written.ts"

const WRITTEN = [
  ...["data", "data/sessions", "data/sidecar", "data/sidecar/node_modules", "data/models", "data/models/owner/repo"],
  ...["data/hud.db", "data/hud.db-wal", "data/hud.db-shm", "data/sidecar.lease", "data/model.json"],
  ...["data/sessions/ses_1.status.json", "data/sessions/ses_1.switches.json", "report.html", "bundle.json"],
  ...["data/sidecar/main.js", "data/sidecar/installed.json", "data/sidecar/package.json"],
  ...["data/sidecar/package-lock.json", "data/sidecar/bunfig.toml", "data/sidecar/node_modules/.lock-sha256"],
  ...["data/models/owner/repo/a-Q8_0.gguf", /^data\/models\/owner\/repo\/b-Q8_0\.gguf\.\w+\.part$/],
] as const

describe.skipIf(process.platform === "win32").each(["000", "002", "022", "077"])("under umask %s", (digits) => {
  const umask = Number.parseInt(digits, 8)
  const folder = temporaryFolder()
  let life: Life
  let found: Found[] = []
  beforeAll(async () => {
    const before = process.umask(umask)
    try {
      life = await live(join(folder.path, "data"), folder.path)
    } finally {
      process.umask(before)
    }
    found = walk(folder.path)
  })
  afterAll(async () => {
    await life?.close()
    folder[Symbol.dispose]()
  })

  test.each(WRITTEN.map((path) => [String(path), path] as const))("%s is its owner's alone", (_, wanted) => {
    const one = found.find(({ path }) => (typeof wanted === "string" ? path === wanted : wanted.test(path)))
    expect(one).toMatchObject({ mode: one?.kind === "folder" ? 0o700 : 0o600 })
  })

  test("nothing in the data folder is open to others, and only executable files stay executable", () => {
    const own = found.filter(({ path }) => path.startsWith("data"))
    expect(own.filter(({ mode }) => (mode & 0o077) !== 0)).toEqual([])
    const executable = own.filter(({ kind, mode }) => kind === "file" && mode & 0o100).map(({ path }) => path)
    expect(executable.length).toBeGreaterThan(0)
    expect(executable.filter((path) => !/node_modules\/.*\/bin\/tool$/.test(path))).toEqual([])
    expect(own.filter(({ kind }) => kind === "other")).toEqual([])
  })

  test("no partial file is left", () => {
    expect(found.filter(({ path }) => /\.tmp$|\.new|\.old$/.test(path))).toEqual([])
  })

  test("a broken store that is set aside is private to its owner, and so is the new one", async () => {
    using other = temporaryFolder()
    const before = process.umask(umask)
    try {
      const path = join(other.path, "hud.db")
      writeFileSync(path, "no database ".repeat(400), { mode: 0o644 })
      await (await openStore({ path, onWarning: () => {} })).close()
      const files = walk(other.path).filter(({ kind }) => kind === "file")
      expect(files.map(({ mode }) => mode)).toEqual(files.map(() => 0o600))
      const aside = files.find((file) => file.path.includes("corrupt"))?.path ?? ""
      expect(readFileSync(join(other.path, aside), "utf8")).toStartWith("no database")
    } finally {
      process.umask(before)
    }
  })
})
