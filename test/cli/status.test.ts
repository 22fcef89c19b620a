// `hudfold status`: which session it shows, what it prints, and that it follows changes.

import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { forget, statusFolder, writeStatus, writeSwitches } from "../../src/status/files.ts"
import type { Status } from "../../src/status/status.ts"
import { statusRows } from "../../src/status/words.ts"
import { temporaryFolder, until } from "../store/support.ts"
import { opencodeDatabase, V1_TABLES } from "../support/opencode-database.ts"
import { statusOf } from "../support/status.ts"
import { hasTmux, openTerminal } from "../support/tmux.ts"
import { cli, source } from "./support.ts"

let folder: ReturnType<typeof temporaryFolder>
let data: string
let here: string
beforeEach(() => {
  folder = temporaryFolder()
  data = join(folder.path, "data")
  here = join(folder.path, "here")
  mkdirSync(here)
})
afterEach(() => folder[Symbol.dispose]())

async function put(sessionID: string, changes: Partial<Status> = {}): Promise<Status> {
  const status = statusOf({ sessionID, directory: here, writtenMs: Date.now(), ...changes })
  writeStatus(statusFolder(data), status)
  return status
}

const env = () => ({ HUDFOLD_DATA: data })
const status = (...args: string[]) => cli(["status", "--dir", here, ...args], env())

/** The id of a process that has just ended. */
async function endedPid(): Promise<number> {
  const child = Bun.spawn(["true"])
  await child.exited
  return child.pid
}

describe("a session", () => {
  test("prints which session, how old the status is, and everything the panel shows", async () => {
    const written = await put("ses_1", { writtenMs: Date.now() - 65_000 })
    const { code, stdout, stderr } = await status()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const rows = statusRows(written).flatMap(({ name, text, details }) => [
      `${name.padEnd(8)}  ${text.replace(/^(?:HUD|digests|saved|context) | cached$/g, "")}`,
      ...details.map((detail) => `          ${detail}`),
    ])
    expect(stdout.trimEnd().split("\n")).toEqual([
      "session ses_1, 42 calls, scripted/scripted-1",
      `written 1 minute ago by opencode-hudfold 0.1.0, process ${process.pid}`,
      "",
      ...rows,
      "",
      "<hud>",
      "hudfold status, call 42",
      "</hud>",
    ])
    expect(stdout).toContain("\ncontext   87k of 200k (44%)\n")
    expect(stdout).toContain(
      "\nfailing   1 open failure\n          npm test 2x: login.test.ts:42 expected 200, got 401\n",
    )
  })

  test("says when the process has ended, so that no digests are written", async () => {
    const pid = await endedPid()
    await put("ses_1", { pid })
    const { stdout } = await status()
    expect(stdout).toContain(`process ${pid}, which has ended\n`)
    expect(stdout).toContain("digests   qwen3-0.6b idle\n")
  })

  test("says when the session has gone on without the plugin", async () => {
    const { writtenMs } = await put("ses_1", { pid: await endedPid(), writtenMs: Date.now() - 60_000 })
    const { path, v1, close } = opencodeDatabase(join(folder.path, "opencode.db"), V1_TABLES)
    const printed = async () => (await cli(["status", "--dir", here], { ...env(), OPENCODE_DB: path })).stdout
    const call = (id: string, created: number) => ({
      info: { id, role: "assistant", cost: 0, time: { created } },
      parts: [],
    })
    const said = "\nthe session has gone on without hudfold since, so what follows is how it was then\n"
    v1("ses_1", 1, [call("msg_1", writtenMs - 1000), { info: { id: "msg_2", role: "user" }, parts: [] }])
    expect(await printed()).not.toContain(said)
    v1("ses_2", 1, [call("msg_3", writtenMs + 30_000)])
    expect(await printed()).not.toContain(said)
    close()
    const later = new Database(path)
    later.exec("UPDATE message SET session_id = 'ses_1'")
    later.close()
    expect(await printed()).toContain(said)
    await put("ses_1", { writtenMs })
    expect(await printed()).not.toContain(said)
  })

  test("as JSON, prints the status file", async () => {
    const written = await put("ses_1")
    expect(JSON.parse((await status("--json")).stdout)).toEqual(written)
  })

  test("that was paused since is paused, as in the panel", async () => {
    await put("ses_1")
    await writeSwitches(statusFolder(data), "ses_1", { hud: "paused", folding: "paused" })
    const { stdout } = await status()
    expect(stdout).toContain("\nhud       paused\n")
    expect(stdout).toContain("\nfolds     folding paused: 39 steps, 12 outputs\n")
    expect(stdout).not.toContain("<hud>")
    const { hud, folding } = JSON.parse((await status("--json")).stdout) as Status
    expect([hud.activity, folding.activity]).toEqual(["paused", "paused"])
  })

  test("removes escapes from quoted text", async () => {
    await put("ses_1", {
      stale: [{ path: "a\u001b[31mb", why: "edited since read" }],
      hud: { activity: "on", text: "<hud>\u001b]0;x\u0007</hud>", tokens: 3 },
    })
    const { stdout } = await status()
    expect(stdout).not.toContain("\u001b")
    expect(stdout).toContain("a[31mb\n")
  })
})

describe("which session", () => {
  test("prefers the newest of this folder to newer ones of others", async () => {
    await put("ses_old")
    await put("ses_mine", { directory: join(folder.path) })
    await put("ses_other", { directory: "/elsewhere" })
    expect((await status()).stdout).toStartWith("session ses_mine, 42 calls")
    expect((await status("ses_old")).stdout).toStartWith("session ses_old, 42 calls")
  })

  test("without one of this folder, takes the newest of all and says where it is", async () => {
    await put("ses_other", { directory: "/elsewhere" })
    const said = "session ses_other in /elsewhere, 42 calls"
    expect((await status()).stdout).toStartWith(said)
    expect((await status("latest")).stdout).toStartWith(said)
  })

  test("leaves out subagents unless one is named: while one works, its status is the newest", async () => {
    await put("ses_mine")
    await put("ses_sub", { parentID: "ses_mine" })
    expect((await status()).stdout).toStartWith("session ses_mine,")
    expect((await status("ses_sub")).stdout).toStartWith("session ses_sub,")
    expect((await status("ses_s")).stdout).toStartWith("session ses_sub,")
  })

  test("takes the beginning of an id when it is unique", async () => {
    await put("ses_abc1")
    await put("ses_abc2")
    await put("ses_abc")
    expect((await status("ses_abc1")).stdout).toStartWith("session ses_abc1,")
    expect((await status("ses_abc")).stdout).toStartWith("session ses_abc,")
    const { code, stderr } = await status("ses_ab")
    expect(code).toBe(2)
    expect(stderr).toMatch(/^hudfold: "ses_ab" begins several session ids \(.*\); give more characters\n$/)
  })

  test("refuses an unknown one and names the newest", async () => {
    await put("ses_1")
    const { code, stdout, stderr } = await status("ses_nope")
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(/^hudfold: no status for session "ses_nope" in \S+; the newest is ses_1\n$/)
  })

  test("without any, says what to do", async () => {
    const { code, stdout, stderr } = await status()
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain("send OpenCode a message; `hudfold doctor` says whether the plugin is loaded")
  })

  test("a folder that is none is a mistake of the caller, also below a file", async () => {
    for (const dir of [join(here, "none"), source, join(source, "below")]) {
      const { code, stderr } = await cli(["status", "--dir", dir], env())
      expect([code, stderr]).toEqual([2, `hudfold: --dir: ${dir} is not a folder\n`])
    }
  })

  test("skips one that this version cannot read", async () => {
    await put("ses_1")
    writeFileSync(join(statusFolder(data), "ses_2.status.json"), '{"version": 99}')
    expect((await status()).stdout).toStartWith("session ses_1,")
  })

  test("one that only another version can read is not said to be missing", async () => {
    await put("ses_1")
    for (const id of ["ses_1", "ses_2"]) {
      writeFileSync(join(statusFolder(data), `${id}.status.json`), '{"version": 99}')
      const { code, stdout, stderr } = await status(id)
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain(`the status of session ${id} in ${statusFolder(data)} cannot be read`)
      expect(stderr).toContain("`hudfold doctor` compares the versions")
    }
    expect((await status()).stderr).toContain("the status of session ses_")
  })
})

test.skipIf(!hasTmux())(
  "on a narrow terminal a row is broken at spaces, below its second column (skipped without tmux)",
  async () => {
    const { folding } = statusOf()
    await put("ses_1", { folding: { ...folding, kept: { ...folding.kept, open: 10, settled: 15 } } })
    const terminal = openTerminal({
      ...{ command: ["sh", "-c", `${process.execPath} ${source} status; cat`], directory: here, columns: 50, rows: 45 },
      env: { PATH: process.env.PATH ?? "", HOME: folder.path, ...env() },
    })
    try {
      const screen = await terminal.until("</hud>")
      expect(screen).toContain("\nopen      10 steps open, 15 settled and waiting\n          until folding pays\n")
    } finally {
      terminal.close()
    }
  },
)

describe("--watch", () => {
  /** The command, followed by what it prints. */
  function watching(...args: string[]) {
    const child = Bun.spawn([process.execPath, source, "status", "--watch", "--dir", here, ...args], {
      env: { ...process.env, ...env(), NO_COLOR: "1" },
      stdout: "pipe",
      stderr: "pipe",
    })
    let stdout = ""
    const reading = (async () => {
      for await (const chunk of child.stdout) stdout += Buffer.from(chunk).toString()
    })()
    return {
      prints: (text: string) => until(() => stdout.includes(text)),
      interrupt: () => child.kill("SIGINT"),
      async ended() {
        const code = await child.exited
        await reading
        return { code, stdout, stderr: await new Response(child.stderr).text() }
      },
      [Symbol.dispose]: () => child.kill(9),
    }
  }

  test("prints a block for every change, and ends normally on Ctrl-C", async () => {
    await put("ses_1", { calls: 1 })
    using watched = watching()
    await watched.prints("session ses_1, 1 call,")
    await put("ses_1", { calls: 2 })
    await watched.prints("session ses_1, 2 calls,")
    await put("ses_2", { calls: 7 })
    await watched.prints("session ses_2, 7 calls,")
    watched.interrupt()
    const { code, stdout, stderr } = await watched.ended()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout.match(/^session /gm)).toHaveLength(3)
    expect(stdout).not.toContain("\u001b")
  })

  test("says when the process that wrote it ends", async () => {
    const process_ = Bun.spawn(["sleep", "60"])
    await put("ses_1", { pid: process_.pid })
    using watched = watching()
    await watched.prints(`process ${process_.pid}\n`)
    process_.kill()
    await process_.exited
    await watched.prints(`process ${process_.pid}, which has ended\n`)
  })

  test("follows one session alone, and ends when its status is deleted", async () => {
    await put("ses_1", { calls: 1 })
    using watched = watching("ses_1", "--json")
    await watched.prints('"calls":1')
    await put("ses_2", { calls: 7 })
    await put("ses_1", { calls: 2 })
    await watched.prints('"calls":2')
    forget(statusFolder(data), "ses_1")
    const { code, stdout, stderr } = await watched.ended()
    expect(code).toBe(2)
    expect(stderr).toContain('no status for session "ses_1"')
    const lines = stdout.trimEnd().split("\n")
    expect(lines.map((line) => JSON.parse(line).calls)).toEqual([1, 2])
  })

  test.skipIf(!hasTmux())("draws in place and in colours on a terminal (skipped without tmux)", async () => {
    await put("ses_1", { calls: 1 })
    const terminal = openTerminal({
      command: [process.execPath, source, "status", "--watch", "--dir", here],
      env: { PATH: process.env.PATH ?? "", HOME: folder.path, ...env() },
      directory: here,
      columns: 100,
      rows: 30,
    })
    try {
      await terminal.until("session ses_1, 1 call,")
      await put("ses_1", { calls: 2, failures: [] })
      const screen = await terminal.until("session ses_1, 2 calls,")
      expect(screen.match(/^session /gm)).toHaveLength(1)
      expect(screen).not.toContain("failing")
      expect(terminal.colours()).toContain("\u001b[33m1 file changed on disk")
    } finally {
      terminal.close()
    }
  })
})
