import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawnChild, temporaryFolder } from "../store/support.ts"
import { bash, read, SessionBuilder } from "../support/session.ts"
import { cli, expectRefusal, exportOf, type Recorded, recordSession, source, writeExport } from "./support.ts"

let recorded: Recorded
beforeAll(async () => {
  recorded = await recordSession()
}, 120_000)
afterAll(async () => {
  await recorded?.close()
})

/** With folding off the HUD is complete from the start. */
const ALONE = ["--options", '{"fold":{"enabled":false}}']

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await cli(["inspect", ...args, "--json"], recorded.env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout)
}

describe("prints", () => {
  test("a header and the HUD the next call would carry", async () => {
    const { code, stdout, stderr } = await cli(["inspect", recorded.session, ...ALONE], recorded.env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const [header, empty, ...hud] = stdout.trimEnd().split("\n")
    expect(header).toMatch(
      new RegExp(`^A scripted session: the next call, after ${recorded.calls}, with a HUD of \\d+ tokens$`),
    )
    expect([empty, hud[0], hud.at(-1)]).toEqual(["", "<hud>", "</hud>"])
    expect(hud.join("\n")).toContain("alpha.txt")
  })

  test("the same from the database, by the beginning of the id, as the latest, and from an export", async () => {
    const whole = await json([recorded.session, ...ALONE])
    expect(whole.hud).toContain("alpha.txt")
    expect(whole).toMatchObject({
      session: recorded.session,
      call: recorded.calls + 1,
      calls: recorded.calls,
      skipped: 0,
    })
    expect(await json([recorded.session.slice(0, 14), ...ALONE])).toEqual(whole)
    expect(await json(["latest", ...ALONE])).toEqual(whole)
    // this test's own export names no project folder
    expect((await json([recorded.file])).calls).toBe(recorded.calls)
  })

  test("the HUD as it was at an earlier call", async () => {
    const last = await json([recorded.session, "--call", `${recorded.calls}`])
    const next = await json([recorded.session, `--call=${recorded.calls + 1}`])
    expect([last.call, next.call]).toEqual([recorded.calls, recorded.calls + 1])
    const text = (await cli(["inspect", recorded.session, "--call", "3"], recorded.env)).stdout
    expect(text).toStartWith(`A scripted session: call 3 of ${recorded.calls}`)
  })

  test("one line that says why there is no HUD", async () => {
    const { code, stdout } = await cli(["inspect", recorded.session, "--call", "1"], recorded.env)
    const lines = stdout.trimEnd().split("\n")
    expect(code).toBe(0)
    expect(lines.length).toBe(2)
    const why = "nothing to say yet that the newest messages do not show"
    expect(lines[1]).toBe(`no HUD at this call: ${why}`)
    // the check has only just failed again
    expect(await json([recorded.session])).toMatchObject({ hud: null, reason: why })
    expect(await json([recorded.session, "--call", "1"])).toMatchObject({ hud: null, tokens: 0 })
  })

  test("that the options turn the HUD off", async () => {
    const off = await json([recorded.session, "--options", '{"hud":{"enabled":false}}'])
    expect(off).toMatchObject({ hud: null, reason: "the options turn it off" })
    const alone = await json([recorded.session, "--options", '{"disabledAgents":["build"]}'])
    expect(alone).toMatchObject({ hud: null, reason: "the options leave this agent alone" })
  })

  test("a HUD changed by the plugin's options", async () => {
    const changed = (hud: object) =>
      json([recorded.session, "--options", JSON.stringify({ hud, fold: { enabled: false } })])
    expect((await changed({ slot: "tool" })).slot).toBe("tool")
    const files = await changed({ sections: ["files"] })
    expect(files.hud).toContain("alpha.txt")
    expect(files.hud).not.toContain("context")
    const failing = await changed({ sections: ["failing"] })
    expect(failing.hud).toContain("sh test.sh")
    expect(failing.hud).not.toContain("alpha.txt")
  })

  test("the whole request with its records, folds and HUD, when asked to", async () => {
    using folder = temporaryFolder()
    const session = new SessionBuilder().user("change the file")
    session.assistant([read("src/large.ts", "export const a = 1\n".repeat(2000))])
    for (let i = 0; i < 40; i++) session.assistant([bash(`make step-${i}`, `step ${i} done`)])
    const late = session.timeOf(session.messages.length) + 3_600_000
    session.assistant([bash("make last", "done\u001b[31m")], { time: { created: late, completed: late } })
    const path = writeExport(folder.path, "folded", session)
    const short = (await cli(["inspect", path])).stdout
    expect(short).toMatch(/^folded: \d+ steps, \S+ tokens less; --request prints the request with them$/m)
    expect(short).not.toContain("[user]")
    const { code, stdout } = await cli(["inspect", path, "--request"])
    expect(code).toBe(0)
    const pieces = stdout.split(/\n\n(?=\[)/)
    expect(pieces[1]).toBe("[user]\nchange the file")
    expect(pieces[2]).toMatch(
      /^\[user\]\nSteps 1-\d+ of this session, kept by hudfold as a record [\s\S]+\n1 read .*large\.ts\n2 bash make step-0: "step 0 done"\n/,
    )
    expect(pieces[3]).toMatch(/^\[call \S+ bash\]\n\{"command":"make step-\d+"/)
    expect(pieces.at(-2)).toMatch(/^\[result \S+\]\ndone\\x1b\[31m$/)
    expect(pieces.at(-1)).toStartWith("[user]\n<hud>")
    const asked = JSON.parse((await cli(["inspect", path, "--request", "--json"])).stdout)
    expect(asked.folded).toMatchObject({ steps: Number(/(\d+) steps/.exec(short)?.[1]), outputs: 0 })
    expect(asked.request[0]).toEqual({ label: "user", body: "change the file" })
    expect(asked.request).toHaveLength(pieces.length - 1)
    expect(JSON.parse((await cli(["inspect", path, "--json"])).stdout).request).toBeUndefined()
  }, 20_000)

  test("terminal escapes in a title as codes", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "s.json")
    const { messages } = JSON.parse(readFileSync(recorded.file, "utf8"))
    writeFileSync(path, exportOf("ses_1", messages, "a\u001b]0;owned\u0007\u009b31m\u202eb\nc"))
    const { stdout } = await cli(["inspect", path])
    expect(stdout.split("\n")[0]).toStartWith("a\\x1b]0;owned\\x07\\x9b31m\\u202eb c: the next call")
    const json = (await cli(["inspect", path, "--json"])).stdout
    expect(json).toContain('"title": "a\\u001b]0;owned\\u0007\\u009b31m\\u202eb\\nc"')
    expect(JSON.parse(json).title).toBe("a\u001b]0;owned\u0007\u009b31m\u202eb\nc")
  })

  test("the number of unreadable parts in the header", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "s.json")
    const { messages } = JSON.parse(readFileSync(recorded.file, "utf8"))
    writeFileSync(path, exportOf("ses_1", [...messages, { info: 1, parts: [] }]))
    expect((await cli(["inspect", path])).stdout).toContain(", 1 unreadable messages or parts left out\n")
  })

  test("nothing more when the reader closes the pipe", async () => {
    const command = `"$0" "$@" | true`
    using child = spawnChild(["sh", "-c", command, process.execPath, source, "inspect", recorded.file, "--json"])
    expect(await child.finish()).toEqual({ code: 0, stdout: "", stderr: "" })
  })
})

describe("refuses in one line, with exit code 2", () => {
  const rows: { name: string; args: () => string[]; says: string }[] = [
    {
      name: "call 0",
      args: () => [recorded.session, "--call", "0"],
      says: '--call must be a whole number from 1, got "0"',
    },
    { name: "a fraction", args: () => [recorded.session, "--call", "1.5"], says: 'whole number from 1, got "1.5"' },
    { name: "a negative call", args: () => [recorded.session, "--call=-1"], says: 'whole number from 1, got "-1"' },
    {
      name: "a call too far",
      args: () => [recorded.session, "--call", "99"],
      says: "--call must be from 1 to 6 (the next call)",
    },
    {
      name: "a call without a number",
      args: () => [recorded.session, "--call"],
      says: "Option '--call <value>' argument missing",
    },
    { name: "an unknown session", args: () => ["ses_nope"], says: 'no session "ses_nope" in ' },
    { name: "neither file nor id", args: () => ["nope"], says: '"nope" is neither a file nor a session id' },
    { name: "nothing at all", args: () => [""], says: '"" is neither a file nor a session id' },
    { name: "a missing file", args: () => ["./nope.json"], says: "./nope.json does not exist; create an export with" },
    { name: "a folder", args: () => ["src"], says: "src is a folder, expected a file" },
    { name: "another JSON file", args: () => ["package.json"], says: "package.json is not an OpenCode export" },
    {
      name: "options that are no JSON",
      args: () => ["latest", "--options", "{"],
      says: "--options must be JSON such as",
    },
    {
      name: "a wrong option",
      args: () => ["latest", "--options", '{"hud":{"slot":"x"}}'],
      says: "--options: option hud.slot",
    },
    {
      name: "options that switch the plugin off, as for replay and report",
      args: () => ["latest", "--options", '{"enabled":false}'],
      says: "--options: with enabled false there is no HUD",
    },
    {
      name: "an unknown option",
      args: () => ["latest", "--options", '{"hood":1}'],
      says: "--options: unknown option hood",
    },
  ]
  for (const { name, args, says } of rows) {
    test(name, async () => {
      expectRefusal(await cli(["inspect", ...args()], recorded.env), says)
    })
  }

  test("no database", async () => {
    using folder = temporaryFolder()
    const { code, stderr } = await cli(["inspect", "latest"], { XDG_DATA_HOME: folder.path })
    expect(code).toBe(2)
    const orFile = /, or pass a file written by `opencode export`\n$/.source
    expect(stderr).toMatch(
      new RegExp(`^hudfold: no OpenCode database at \\S+; run opencode once, set OPENCODE_DB to its database${orFile}`),
    )
    const named = await cli(["inspect", "latest"], { OPENCODE_DB: join(folder.path, "none.db") })
    expect(named.stderr).toMatch(
      new RegExp(`^hudfold: no OpenCode database at \\S+none\\.db; correct OPENCODE_DB${orFile}`),
    )
  })
})
