// Individual checks that need no complete machine: file modes, times, foreign databases.

import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checkConflicts, checkOpencode } from "../../src/doctor/checks.ts"
import { checkGpu, checkWithoutSidecar } from "../../src/doctor/digests.ts"
import { checkLoaded, type LoadEvidence } from "../../src/doctor/listing.ts"
import { worstLevel } from "../../src/doctor/result.ts"
import { checkStore, readDatabases, type SessionFacts } from "../../src/doctor/store.ts"
import { type Options, readOptions } from "../../src/options.ts"
import { ago, byteSize, inShell } from "../../src/text/format.ts"
import { openAt, temporaryFolder, turnOf } from "../store/support.ts"

const signal = new AbortController().signal

describe("a check", () => {
  test("the worst level counts", () => {
    const levels = (["ok", "warn", "fail"] as const).map((level) => ({ name: "a", level, found: "" }))
    expect([1, 2, 3].map((count) => worstLevel(levels.slice(0, count)))).toEqual(["ok", "warn", "fail"])
    expect(worstLevel([])).toBe("ok")
  })

  test("states an age in one unit", () => {
    expect([-5, 999, 1000, 61_000, 7_200_000, 200_000_000].map(ago)).toEqual([
      "0 seconds ago",
      "0 seconds ago",
      "1 second ago",
      "1 minute ago",
      "2 hours ago",
      "2 days ago",
    ])
  })

  test("quotes a path if a shell needs it", () => {
    expect(["/a/b-c.db", "/a b/it's"].map(inShell)).toEqual(["/a/b-c.db", "'/a b/it'\\''s'"])
  })
})

describe("OpenCode's version", () => {
  const rows: { says: string; level: string; found: RegExp }[] = [
    { says: "1.18.0", level: "ok", found: /^version 1\.18\.0 / },
    { says: "1.19.2-beta.1", level: "ok", found: /^version 1\.19\.2-beta\.1 / },
    { says: "2.0.0", level: "ok", found: /^version 2\.0\.0 / },
    { says: "1.17.99", level: "fail", found: /needs >=1\.18\.0$/ },
    { says: "0.0.0-dev-202611", level: "ok", found: /a development build/ },
    { says: "hello", level: "fail", found: /prints "hello", which is not a version$/ },
  ]
  for (const { says, level, found } of rows) {
    test(`${says} is ${level}`, async () => {
      using bin = temporaryFolder()
      writeFileSync(join(bin.path, "opencode"), `#!/bin/sh\necho ${says}\n`, { mode: 0o755 })
      const check = await checkOpencode({ PATH: bin.path }, ">=1.18.0", signal)
      expect(check).toMatchObject({ level, found: expect.stringMatching(found) })
    })
  }

  test("a program that fails is reported", async () => {
    using bin = temporaryFolder()
    writeFileSync(join(bin.path, "opencode"), "#!/bin/sh\nexit 3\n", { mode: 0o755 })
    const check = await checkOpencode({ PATH: bin.path }, ">=1.18.0", signal)
    expect(check).toMatchObject({ level: "fail", found: expect.stringContaining("--version failed") })
  })

  test("a program that fails says why, as with a home folder that it cannot write to", async () => {
    using bin = temporaryFolder()
    const why = "EACCES: permission denied, mkdir '/home/me/.local'"
    const script = `#!/bin/sh\necho "${why}\n   errno: -13" >&2\nexit 1\n`
    writeFileSync(join(bin.path, "opencode"), script, { mode: 0o755 })
    const { found, fix } = await checkOpencode({ PATH: bin.path }, ">=1.18.0", signal)
    expect(found).toEndWith(`--version failed (${why})`)
    expect(fix).toBe("correct that, or reinstall OpenCode")
  })
})

describe("the store", () => {
  async function examined(path: string, ownFolder?: string) {
    return checkStore(path, ownFolder, await readDatabases(path, { XDG_DATA_HOME: "/nowhere" }))
  }

  test("is intact, with the rows of each table", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using opened = await openAt(path)
      opened.store.saveTurn(turnOf())
    }
    expect(await examined(path)).toMatchObject({ level: "ok", found: expect.stringContaining("intact") })
    const { store } = await readDatabases(path, { XDG_DATA_HOME: "/nowhere" })
    expect(store).toMatchObject({ rows: { session: 1, turn: 1, fold: 0 } })
    expect(store.problem).toBeUndefined()
  })

  test("is intact while a session writes to it", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path)
    opened.store.saveTurn(turnOf())
    await opened.store.flush()
    const found = await examined(path)
    expect(found).toMatchObject({ level: "ok" })
    // with the log, in which all of it is still
    const bytes = statSync(path).size + statSync(`${path}-wal`).size
    expect(found.found).toContain(`, ${byteSize(bytes)}, intact`)
  })

  test("of a newer version is left alone, and the fix is to update", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using _ = await openAt(path)
    using db = new Database(path)
    db.exec("PRAGMA user_version = 99")
    expect(await examined(path)).toMatchObject({
      level: "fail",
      found: expect.stringContaining("(schema 99, this one knows"),
      fix: expect.stringMatching(/^update the plugin/),
    })
  })

  test("that is another program's database is reported", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    using db = new Database(path)
    db.exec("CREATE TABLE theirs (a)")
    expect(await examined(path)).toEqual({
      name: "store",
      level: "fail",
      found: `${path} is a database of another program`,
      fix: "correct store.path, or move it away",
    })
  })

  test("that the plugin does not use is named as the plugin names it", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    writeFileSync(path, "")
    const link = join(folder.path, "link.db")
    symlinkSync(path, link)
    const toNothing = join(folder.path, "nothing.db")
    symlinkSync(join(folder.path, "nothing"), toNothing)
    const notes = join(folder.path, "notes.db")
    writeFileSync(notes, "no database ".repeat(100))
    const replace = "replace it with the file, or set HUDFOLD_DATA to the file's folder"
    expect([await examined(link), await examined(toNothing), await examined(notes)]).toMatchObject([
      { level: "fail", found: `${link} is a symbolic link and is not followed`, fix: replace },
      { level: "fail", found: `${toNothing} is a symbolic link and is not followed`, fix: replace },
      { level: "fail", found: `${notes} is not a hudfold store and is left alone`, fix: "correct store.path" },
    ])
  })

  test("behind a file in place of its folder is reported, and moving that file away fixes it", async () => {
    using folder = temporaryFolder()
    const blocked = join(folder.path, "data")
    writeFileSync(blocked, "")
    const path = join(blocked, "opencode-hudfold", "hud.db")
    const check = await examined(path)
    expect(check).toEqual({
      name: "store",
      level: "fail",
      found: `${blocked} is a file, but the store needs a folder there`,
      fix: `mv ${blocked} ${blocked}.old`,
    })
    await Bun.$`sh -c ${check.fix}`.quiet()
    expect(await examined(path)).toMatchObject({ level: "ok", found: expect.stringContaining("none yet") })
  })

  test.skipIf(process.platform === "win32")("behind a link to nothing is reported (skipped on Windows)", async () => {
    using folder = temporaryFolder()
    const link = join(folder.path, "data")
    symlinkSync(join(folder.path, "drive"), link)
    const path = join(link, "hud.db")
    expect(await examined(path)).toMatchObject({ level: "fail", found: `${link} is a link to nothing` })
    mkdirSync(join(folder.path, "drive"))
    expect(await examined(path)).toMatchObject({ level: "ok", found: expect.stringContaining("none yet") })
  })

  // in a process of its own, which can be ended if it looks for a parent forever
  test("on a drive that does not exist, as on Windows, is looked for only as far as the drive", () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "drive.test.ts")
    const store = join(import.meta.dir, "../../src/doctor/store.ts")
    writeFileSync(
      file,
      `import { mock, test } from "bun:test"
      import * as fs from "node:fs"
      mock.module("node:fs", () => ({ ...fs, existsSync: () => false, statSync: () => undefined }))
      test("drive", async () => {
        const { checkStore } = await import(${JSON.stringify(store)})
        await checkStore("/no/such/hud.db", undefined, undefined)
      })`,
    )
    expect(spawnSync(process.execPath, ["test", file], { timeout: 10_000 }).status).toBe(0)
  }, 20_000)

  // root may write everywhere
  test.skipIf(process.getuid?.() === 0)("that cannot be created is reported (skipped as root)", async () => {
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o500)
    const path = join(folder.path, "opencode-hudfold", "hud.db")
    expect(await examined(path)).toMatchObject({
      level: "fail",
      found: `${path} cannot be created: ${folder.path} is not writable (EACCES)`,
      fix: expect.stringContaining("HUDFOLD_DATA"),
    })
    chmodSync(folder.path, 0o700)
    expect(await examined(path)).toMatchObject({ level: "ok" })
    await using _ = await openAt(path)
    chmodSync(path, 0o400)
    expect(await examined(path)).toMatchObject({ level: "fail", found: `${path} cannot be opened (EACCES)` })
  })

  test("that is a link to itself cannot be opened", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    symlinkSync(path, path)
    const fix = expect.stringContaining("make room if its disk is full")
    expect(await examined(path)).toMatchObject({ level: "fail", found: `${path} cannot be opened (ELOOP)`, fix })
  })

  test("in a folder that others can read is reported if the folder is the plugin's own", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using _ = await openAt(path)
    chmodSync(folder.path, 0o755)
    expect(await examined(path)).toMatchObject({ level: "ok" })
    expect(await examined(path, folder.path)).toMatchObject({ level: "warn", fix: `chmod 700 ${folder.path}` })
  })

  test("without a Bun to read it is only known to exist", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using _ = await openAt(path)
    expect(await checkStore(path, undefined, undefined)).toMatchObject({
      level: "warn",
      found: expect.stringContaining("not checked"),
    })
  })
})

// setup does not read the options
test.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "setup is told which GPU the options name (skipped except on Linux x64)",
  async () => {
    const engine = { engine: "1.0.0", protocol: 2, variants: ["@node-llama-cpp/linux-x64"] }
    expect(await checkGpu({ gpu: "vulkan" } as Options["digest"], engine, {})).toMatchObject({
      level: "warn",
      found: expect.stringContaining("needs @node-llama-cpp/linux-x64-vulkan"),
      fix: expect.stringMatching(/^hudfold setup --gpu vulkan, which adds it/),
    })
  },
)

describe("whether the plugin was loaded", () => {
  const file = { path: "/home/dev/opencode.json", changedMs: 1_000 }
  const listed = {
    spec: "opencode-hudfold",
    options: undefined,
    file,
    name: "opencode-hudfold",
    place: "package" as const,
    ...{ path: undefined, folder: undefined, version: "0.1.0" },
  }
  const listing = (given: unknown) => ({
    entry: listed,
    options: readOptions(given).options,
    restart: "restart OpenCode",
  })
  const session = (id: string, over: Partial<SessionFacts> = {}): SessionFacts => ({
    id,
    directory: "/home/dev",
    lastCallMs: 10_000,
    agent: undefined,
    ...over,
  })
  const evidence = (over: Partial<LoadEvidence>): LoadEvidence => ({
    listing: listing({}),
    statuses: [],
    sessions: [],
    nowMs: 70_000,
    ...over,
  })

  test("the newest session decides, not the one that was changed last", () => {
    const sessions = [session("ses_new", { lastCallMs: 20_000 }), session("ses_old")]
    const old = { sessionID: "ses_old", writtenMs: 60_000 }
    expect(checkLoaded(evidence({ sessions, statuses: [old] }))).toMatchObject({
      level: "warn",
      found: "listed, but the last session (ses_new, 50 seconds ago) left no trace of it",
    })
  })

  test("sessions of other folders do not count for a plugin that one project lists", () => {
    const here = { ...listed, file: { ...file, project: "/home/dev/project" } }
    const over = {
      listing: { ...listing({}), entry: here },
      sessions: [session("ses_1"), session("ses_2", { directory: "/home/dev/project2" })],
    }
    expect(checkLoaded(evidence(over))).toMatchObject({ found: "listed, but no session has called a model since" })
    const inside = [...over.sessions, session("ses_3", { directory: "/home/dev/project/deep" })]
    expect(checkLoaded(evidence({ ...over, sessions: inside }))).toMatchObject({
      found: expect.stringContaining("ses_3"),
    })
  })

  test("sessions of disabled agents do not count", () => {
    const sessions = [session("ses_1", { agent: "plan" })]
    expect(checkLoaded(evidence({ listing: listing({ disabledAgents: ["plan"] }), sessions }))).toMatchObject({
      found: "listed, but no session has called a model since",
    })
  })

  test("is unknown if the plugin keeps nothing on disk", () => {
    const memory = listing({ store: { enabled: false } })
    expect(checkLoaded(evidence({ listing: memory, sessions: [session("ses_1")] }))).toMatchObject({ level: "ok" })
  })

  test("is decided by the newest status without OpenCode's database", () => {
    const statuses = [{ sessionID: "ses_1", writtenMs: 10_000 }]
    expect(checkLoaded({ ...evidence({ statuses }), sessions: undefined })).toEqual({
      name: "loaded",
      level: "ok",
      found: "its hooks ran in session ses_1 (1 minute ago)",
    })
  })
})

describe("plugins that do the same work", () => {
  const rows: { entry: string; name: string | undefined }[] = [
    { entry: "@tarquinen/opencode-dcp@latest", name: "DCP" },
    { entry: "/home/me/opencode-dcp/dist/index.js", name: "DCP" },
    { entry: "C:\\src\\opencode-dcp\\index.ts", name: "DCP" },
    { entry: "./opencode-acp/index.ts", name: "ACP" },
    { entry: "@cortexkit/opencode-magic-context", name: "magic-context" },
    { entry: "/home/dcp/theme/index.ts", name: undefined },
    { entry: "opencode-dcpanel", name: undefined },
  ]
  const file = { path: "/home/dev/opencode.json", changedMs: 0 }
  const config = { folder: "/config", server: [], tui: [], switched: undefined, pluginFiles: [] }
  const { options } = readOptions({})
  for (const { entry, name } of rows) {
    test(`${entry} is ${name ?? "none of them"}`, () => {
      const unknown = { path: undefined, folder: undefined, version: undefined }
      const other = { spec: entry, options: undefined, file, name: entry, place: "package" as const, ...unknown }
      const [check] = checkConflicts(config, { server: [other], options })
      expect(check?.fix?.split(", or ")[0]).toBe(name && `keep one: remove ${name} from /home/dev/opencode.json`)
    })
  }

  test("that are loaded from a folder are moved away", () => {
    const pluginFiles = ["/home/dev/.opencode/plugin/dcp.ts"]
    const [check] = checkConflicts({ ...config, pluginFiles }, { server: [], options })
    expect(check?.fix).toStartWith("keep one: move /home/dev/.opencode/plugin/dcp.ts away, or ")
  })
})

describe("a local server for digests", () => {
  const optionsFor = (openai: object) => readOptions({ digest: { backend: "openai", openai } }).options.digest

  test("that responds is ok, and the model that it is asked for is named", async () => {
    const list = { data: [{ id: "qwen3:0.6b" }] }
    await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(list) })
    const origin = `http://127.0.0.1:${server.port}`
    const found = `${origin} responds; it is asked for the model`
    for (const [model, named] of [[{}, "qwen3:0.6b"] as const, [{ model: "mine" }, "mine"] as const]) {
      const check = await checkWithoutSidecar(optionsFor({ url: `${origin}/v1`, ...model }), signal)
      expect(check).toEqual({ name: "digests", level: "ok", found: `${found} ${named}` })
    }
  })

  test("that has no models, or is no such server, is reported as the plugin finds it", async () => {
    for (const [answer, found, fix] of [
      ['{"data":[]}', "has no models", "load one there"],
      [
        "<!doctype html><title>My shop</title>",
        "does not list its models",
        "correct digest.openai.url, or name one in digest.openai.model",
      ],
    ] as const) {
      await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(answer) })
      const url = `http://127.0.0.1:${server.port}/v1`
      const check = await checkWithoutSidecar(optionsFor({ url }), signal)
      expect(check).toEqual({ name: "digests", level: "fail", found: `http://127.0.0.1:${server.port} ${found}`, fix })
      expect((await checkWithoutSidecar(optionsFor({ url, model: "mine" }), signal)).level).toBe("ok")
    }
  })

  test("that accepts a connection and does not answer is named", async () => {
    await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) })
    const check = await checkWithoutSidecar(optionsFor({ url: `http://127.0.0.1:${server.port}` }), signal)
    expect(check.found).toBe(`http://127.0.0.1:${server.port} did not answer within 5 s`)
  })

  test("that rejects the key is reported, without the key", async () => {
    const apiKey = "a-key-of-no-known-form"
    await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 401 }) })
    const check = await checkWithoutSidecar(optionsFor({ url: `http://127.0.0.1:${server.port}`, apiKey }), signal)
    expect(check).toMatchObject({ level: "fail", fix: "set digest.openai.apiKey to the server's key" })
    expect(JSON.stringify(check)).not.toContain(apiKey)
  })

  test("that is missing or remote is reported, with a fix", async () => {
    const nowhere = await checkWithoutSidecar(optionsFor({ url: "http://127.0.0.1:9" }), signal)
    expect(nowhere).toMatchObject({ level: "fail", fix: "start the server, or correct digest.openai.url" })
    const elsewhere = await checkWithoutSidecar(optionsFor({ url: "http://digests.example" }), signal)
    expect(elsewhere).toMatchObject({ level: "fail", found: expect.stringContaining("not this machine's own address") })
    expect(elsewhere.fix).toBe("set digest.openai.allowRemote if this is intended")
  })
})
