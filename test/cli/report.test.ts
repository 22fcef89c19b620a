import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildReportPage } from "../../scripts/report-page.ts"
import { writeTo } from "../../src/cli/written-file.ts"
import type { ReportData } from "../../src/report/page.ts"
import { REPORT_PREFIX } from "../../src/report/page.ts"
import { temporaryFolder } from "../store/support.ts"
import { madeUpSession } from "../support/made-up.ts"
import { SessionBuilder } from "../support/session.ts"
import {
  bundleInto,
  cli,
  expectRefusal,
  exportOf,
  linkCommands,
  type Recorded,
  recordSession,
  writeExport,
} from "./support.ts"

const folder = temporaryFolder()
let recorded: Recorded
beforeAll(async () => {
  recorded = await recordSession()
}, 120_000)
afterAll(async () => {
  await recorded?.close()
  folder[Symbol.dispose]()
})

const file = (name: string, session: SessionBuilder, title?: string) => writeExport(folder.path, name, session, title)

const out = (name: string) => join(folder.path, `${name}.html`)

function written(path: string): ReportData {
  const [, json] = /<script type="application\/json" id="data">(.*)<\/script>/.exec(readFileSync(path, "utf8")) ?? []
  return JSON.parse(json ?? "")
}

const long = madeUpSession({ calls: 120 })

describe("a report", () => {
  test("is written to the given file, and a sentence sums it up", async () => {
    const { code, stdout, stderr } = await cli(["report", file("long", long), "--out", out("long")])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const [saved, empty, path, advice, end] = stdout.split("\n")
    expect(saved).toMatch(/^1 session cost \$[\d.]+\. With hudfold it would have cost about \$[\d.]+ \(-\d+%\)\.$/)
    expect(path).toMatch(/long\.html, \d+ kB: The long$/)
    expect(advice).toBe("It contains text of your sessions: do not commit it.")
    expect([empty, end]).toEqual(["", ""])
    expect(readFileSync(out("long"), "utf8")).toStartWith(REPORT_PREFIX)
    expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([])
  })

  test.skipIf(process.platform === "win32")("is for its owner's eyes only (Windows has no such modes)", async () => {
    await cli(["report", file("long", long), "--out", out("mine")])
    expect(statSync(out("mine")).mode & 0o777).toBe(0o600)
  })

  test("has the same figures as replay", async () => {
    const args = [file("long", long), file("short", madeUpSession({ calls: 15 })), "--price", "openai"]
    await cli(["report", ...args, "--out", out("same")])
    const { sessions } = JSON.parse((await cli(["replay", ...args, "--json"])).stdout)
    const report = written(out("same"))
    for (const [one, other] of report.sessions.map(({ replay }, i) => [replay, sessions[i]]))
      for (const name of ["calls", "pricings", "without", "with", "recalls", "hud", "compactions", "recorded"])
        expect(one[name]).toEqual(other[name])
    expect(report.price).toBe("openai")
  })

  test("takes the plugin's options", async () => {
    const options = '{"hud":{"enabled":false},"fold":{"enabled":false}}'
    await cli(["report", file("long", long), "--out", out("off"), "--options", options])
    const [session] = written(out("off")).sessions
    expect(session?.folds).toEqual([])
    for (const call of session?.calls ?? []) expect(call.with).toEqual(call.without)
  })

  test("without sessions covers the newest ones", async () => {
    const { code, stdout } = await cli(["report", "--out", out("newest")], recorded.env)
    expect(code).toBe(0)
    expect(stdout).toMatch(/newest\.html, \d+ kB: /)
    const report = written(out("newest"))
    expect(report.sessions.map(({ id, calls }) => [id, calls.length])).toEqual([[recorded.session, recorded.calls]])
  })

  test("replaces an older one", async () => {
    const place = ["--out", out("again")]
    await cli(["report", file("one", madeUpSession({ calls: 3 })), ...place])
    expect((await cli(["report", file("other", madeUpSession({ calls: 4 })), ...place])).code).toBe(0)
    expect(written(out("again")).sessions.map(({ title }) => title)).toEqual(["The other"])
  })

  test("says when a session has no calls", async () => {
    const { code, stdout } = await cli([
      "report",
      file("empty", new SessionBuilder().user("hi")),
      "--out",
      out("empty"),
    ])
    expect(code).toBe(0)
    expect(stdout).toContain("1 session: no model calls, so there is nothing to compare")
  })
})

test("on plain Node it is written relative to the working folder, and reads sessions from the database too", async () => {
  using bin = temporaryFolder()
  using place = temporaryFolder()
  const bundle = await bundleInto(bin.path)
  await buildReportPage(bin.path)
  writeFileSync(join(place.path, "short.json"), exportOf("ses_short", madeUpSession({ calls: 5 }).messages))
  const child = Bun.spawn([Bun.which("node") ?? "node", bundle, "report", "short.json", recorded.session], {
    cwd: place.path,
    env: { ...recorded.env, HOME: bin.path, PATH: linkCommands(bin.path, { bun: process.execPath }) },
    stdout: "ignore",
  })
  expect(await child.exited).toBe(0)
  const { sessions } = written(join(place.path, "hudfold-report.html"))
  expect(sessions.map(({ replay }) => replay.calls)).toEqual([5, recorded.calls])
})

describe("errors", () => {
  test("a session that cannot be read is skipped and reported, with exit code 2", async () => {
    const { code, stderr } = await cli(["report", "nope.json", file("long", long), "--out", out("partly")])
    expect(code).toBe(2)
    expect(stderr).toStartWith("hudfold: nope.json does not exist; ")
    expect(written(out("partly"))).toMatchObject({ failed: 1, sessions: [{ title: "The long" }] })
  })

  test("when no session can be read, nothing is written", async () => {
    const { code, stdout } = await cli(["report", "nope.json", "--out", out("none")])
    expect({ code, stdout, isThere: existsSync(out("none")) }).toEqual({ code: 2, stdout: "", isThere: false })
  })

  test("a file that is not a report is not overwritten", async () => {
    writeFileSync(out("notes"), "<!doctype html>\nmy notes\n")
    const { code, stderr } = await cli(["report", file("long", long), "--out", out("notes")])
    expect(code).toBe(2)
    expect(stderr).toContain("already exists and will not be overwritten")
    expect(readFileSync(out("notes"), "utf8")).toBe("<!doctype html>\nmy notes\n")
  })

  test("neither is one that was created while the sessions were read", async () => {
    mkdirSync(join(folder.path, "raced"))
    const path = join(folder.path, "raced", "report.html")
    writeFileSync(path, "my notes\n")
    await expect(writeTo("--out", path, "a report")).rejects.toThrow("will not be overwritten")
    expect(readdirSync(join(folder.path, "raced"))).toEqual(["report.html"])
    expect(readFileSync(path, "utf8")).toBe("my notes\n")
  })

  test.skipIf(process.platform !== "linux")(
    "nor one that cannot be read, even by root (skipped without /proc)",
    async () => {
      const path = "/proc/self/clear_refs"
      for (const option of ["--out", "--bundle"] as const)
        await expect(writeTo(option, path, "a report")).rejects.toThrow(`${option}: ${path} already exists`)
    },
  )

  const rows: { name: string; args: string[]; says: string }[] = [
    { name: "a missing folder", args: ["x.json", "--out", "no/where.html"], says: "is not a folder; create it" },
    { name: "a folder instead of a file", args: ["x.json", "--out", "."], says: "is not a file; choose another path" },
    {
      name: "an unknown price",
      args: ["x.json", "--price", "acme"],
      says: '--price: the prices of "acme" are not known; expected one of ',
    },
    { name: "a wrong number of days", args: ["--days", "0"], says: "--days must be a whole number from 1" },
    { name: "days for a session", args: ["x.json", "--days", "3"], says: "--days cannot be combined with sessions" },
    { name: "the plugin off", args: ["x.json", "--options", '{"enabled":false}'], says: "nothing is folded" },
  ]
  for (const { name, args, says } of rows) {
    test(`${name} is one line, with exit code 2`, async () => {
      expectRefusal(await cli(["report", ...args]), says)
    })
  }
})
