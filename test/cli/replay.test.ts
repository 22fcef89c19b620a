import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../store/support.ts"
import { bash, edit, failedTool, read, SessionBuilder, tool, usage } from "../support/session.ts"
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

const LINE = "export function theLineThatIsNeeded(): string {"
const FILE = `${LINE}\n${"const filler = 1 // nothing of interest\n".repeat(3000)}`

/** A large file is read early, and many calls follow. */
function long(): SessionBuilder {
  const session = new SessionBuilder().user("work").assistant([read("src/large.ts", FILE)])
  for (let i = 0; i < 60; i++) session.assistant([bash(`make step-${i}`, `step ${i} done`)])
  return session
}

function short(): SessionBuilder {
  const session = new SessionBuilder().user("fix it")
  for (let i = 0; i < 5; i++) session.assistant([edit(`src/file${i}.ts`), failedTool("bash", { command: "x" }, "no x")])
  return session
}

async function json(args: readonly string[]) {
  const { code, stdout, stderr } = await cli(["replay", ...args, "--json"], recorded.env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout)
}

test.each([
  ["an empty", "", /^$/],
  [
    "a damaged",
    "no database ".repeat(100),
    /^hudfold: \S+hud\.db cannot be read \([^)]+\); `hudfold doctor` says what to do; what hudfold saved [^\n]+\n$/,
  ],
])("%s store stops no replay", async (_, content, says) => {
  using data = temporaryFolder()
  writeFileSync(join(data.path, "hud.db"), content)
  const { code, stdout, stderr } = await cli(["replay", file("long", long())], { HUDFOLD_DATA: data.path })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(says) })
  expect(stdout).toStartWith("1 session: no recorded usage")
})

describe("for people", () => {
  test("one session is summed up by its cost and what was lost", async () => {
    const { code, stdout, stderr } = await cli(["replay", file("long", long()), "--price", "anthropic"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const [first, second, third, fourth] = stdout.split("\n")
    expect(first).toMatch(
      /^1 session: no recorded usage, so the bill is unknown; the conversation alone would have cost about \d+k fresh input tokens with hudfold instead of \d+k\.$/,
    )
    expect(second).toBe("")
    expect(third).toBe("The long, 61 calls, at the prices of Anthropic")
    expect(fourth).toStartWith("The first sentence is about all that is paid. The rows are about the conversation, ")
    expect(stdout).toMatch(/^ {2}conversation alone +-\d+% of its cost: \d+k → \d+k in fresh input tokens$/m)
    expect(stdout).toMatch(/^ {2}folded +\d+k tokens in all: (?:\d+ steps?(?:, )?)?(?:\d+ outputs?)?$/m)
    expect(stdout).toMatch(/^ {2}cuts +\d+: \d+ folds? (?:at no cost|to save|to make room) \(/m)
    expect(stdout).toMatch(/^ {2}recalls needed +0\.0 per 100 calls, 0 in all; 0 of 0 copied lines missed$/m)
  })

  test("a session that would have cost more says so first", async () => {
    const { stdout } = await cli(["replay", file("short", short()), "--price", "anthropic"])
    // in percent that would be several hundred
    expect(stdout).toMatch(/^[^\n]+ would have cost about [\d.]+k? fresh input tokens with hudfold instead of \d+\.\n/)
    expect(stdout.split("\n").slice(2)).toEqual([
      "The short, 5 calls, at the prices of Anthropic",
      expect.stringMatching(
        /^Nothing would have been folded; that usually begins between calls 10 and 30\. hudfold would have added the description of hud_recall in each request\.$/,
      ),
      "",
    ])
  })

  test("where nothing is folded, it says why", async () => {
    const folding = ["--options", '{"fold":{"enabled":false}}']
    const off = await cli(["replay", file("long", long()), "--price", "anthropic", ...folding])
    expect(off.stdout).toContain("\nNothing would have been folded; the option fold.enabled is false.")
    const small = new SessionBuilder().user("go")
    for (let i = 0; i < 30; i++) small.assistant([bash(`echo ${i}`)])
    const { stdout } = await cli(["replay", file("small", small), "--price", "anthropic"])
    expect(stdout).toContain("\nNothing would have been folded; no cut would have paid.")
    expect(stdout).not.toContain("make room")
    // of what was folded to make room a replay knows nothing
    const { stdout: ran } = await cli([
      "replay",
      file("ran", small.assistant([tool("hud_recall", { steps: "1" }, "it")])),
    ])
    const said = ran.replace(/\s+/g, " ")
    expect(said).toContain("With the options of this command, nothing would have been folded; no cut would have paid.")
    expect(said).toContain("Where hudfold ran, it may have folded all the same: with other options, or to make room")
  })

  test("a line that would have been missed is reported and charged", async () => {
    const change = { filePath: "src/large.ts", oldString: LINE, newString: "a = 1" }
    const path = file("missed", long().assistant([tool("edit", change, "Edit applied.")]))
    const { stdout } = await cli(["replay", path, "--price", "anthropic"])
    expect(stdout).toMatch(/^ {2}conversation alone +[^\n]+, [\d.]+k of it for recalls$/m)
    expect(stdout).toMatch(/^ {2}recalls needed +[\d.]+ per 100 calls, 1 in all; 1 of 1 copied lines missed$/m)
    const { needs, heldNeeds } = JSON.parse((await cli(["replay", path, "--price", "anthropic", "--json"])).stdout).sum
      .recalls
    expect(needs).toBeGreaterThan(0)
    expect(stdout).toContain(
      `\n  needs               ${needs} names and lines were used after they were folded; ${heldNeeds} of them (`,
    )
  })

  test("the recorded bill comes first", async () => {
    const session = long()
    for (const { info } of session.messages)
      if (info.role === "assistant") Object.assign(info, usage(200, 9000, 300), { cost: 0.01 })
    const { stdout } = await cli(["replay", file("charged", session)])
    expect(stdout).toMatch(/^1 session cost \$0\.61\. With hudfold it would have cost about \$0\.\d\d \(-[\d.]+%\)\.\n/)
    expect(stdout).toContain("The charged, 61 calls, at the recorded prices, with the cache rules of Anthropic\n")
  })

  test("a provider that the table does not know is said to be unknown", async () => {
    const session = new SessionBuilder("ses_1", { providerID: "nobody", modelID: "m" })
      .user("go")
      .assistant([bash("ls")])
    const { stdout } = await cli(["replay", file("unknown", session)])
    expect(stdout).toContain(", 1 call, at the prices of an unknown provider\n")
  })

  test("several sessions give a table and a sum", async () => {
    const { stdout } = await cli(["replay", file("long", long()), file("short", short()), "--price", "anthropic"])
    const [, , head, long_, short_, empty, sum] = stdout.split("\n")
    expect(head).toMatch(/^session +calls +bill without +bill with +change$/)
    expect(long_).toMatch(/^The long +61 +not recorded$/)
    expect(short_).toMatch(/^The short +5 +not recorded$/)
    expect(empty).toBe("")
    expect(sum).toBe("2 sessions, 66 calls, at the prices of Anthropic")
    expect(stdout).toMatch(/^ {2}dearer with it +The short$/m)
  })

  test("with a provider that bills requests, no money is saved", async () => {
    const session = new SessionBuilder("ses_1", { providerID: "github-copilot", modelID: "gpt-5.4" }).user("go")
    const { stdout } = await cli(["replay", file("requests", session.assistant([bash("ls")]))])
    expect(stdout).toContain("1 session: billed by requests, so fewer tokens save no money.\n")
    const local = new SessionBuilder("ses_2", { providerID: "ollama", modelID: "qwen3" }).user("go")
    const { stdout: unbilled } = await cli(["replay", file("local", local.assistant([bash("ls")], usage(100)))])
    expect(unbilled).toStartWith("1 session: not billed, so fewer tokens save no money.\n")
  })

  test("says whether a compaction would have been needed, and that the calls after it are as recorded", async () => {
    const session = long()
      .compaction()
      .assistant([bash("make all", "done")])
    const { stdout } = await cli(["replay", file("compacted", session), "--price", "anthropic"])
    expect(stdout).toMatch(/^ {2}compactions +1 → 1 in all; the calls after each are replayed as recorded$/m)
  })

  test("an empty call causes no division by zero", async () => {
    const { stdout } = await cli(["replay", file("nothing", new SessionBuilder().assistant([]))])
    expect(stdout).not.toMatch(/NaN|Infinity/)
  })

  test("a session without calls says so", async () => {
    const path = file("empty", new SessionBuilder().user("hello"))
    const { code, stdout } = await cli(["replay", path])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "The empty: no model calls, so there is nothing to replay\n",
    })
    const { stdout: both } = await cli(["replay", path, file("long", long())])
    expect(both).toStartWith("1 session: no recorded usage, so the bill is unknown; ")
    expect(both).toContain("The empty      0      no calls\n")
  })

  test("sessions of subagents that are not included are named", async () => {
    const task = tool("task", { prompt: "look" }, "found", { sessionId: "ses_child" })
    const parent = file("parent", new SessionBuilder().user("go").assistant([task]).assistant([]))
    expect((await cli(["replay", parent])).stdout).toMatch(/^ {2}subagents +1 session .*ses_child$/m)
    const child = file("child", short())
    expect((await cli(["replay", parent, child])).stdout).not.toContain("subagents")
  })

  test("terminal escapes in a title are shown as codes", async () => {
    const { stdout } = await cli(["replay", file("title", short(), "a\u001b]0;owned\u0007b")])
    expect(stdout).toContain("\n\na\\x1b]0;owned\\x07b, 5 calls")
    // the id stands for a title that is empty
    const path = join(folder.path, "id.json")
    writeFileSync(path, exportOf("ses_\u001b[31m1\u0007", short().messages, ""))
    for (const command of ["replay", "inspect"])
      expect((await cli([command, path])).stdout).toContain("ses_\\x1b[31m1\\x07")
  })
})

describe("for programs", () => {
  test("one object has the sessions, their sum, and what could not be read", async () => {
    const { sessions, sum, failed } = await json([file("long", long()), file("short", short()), "--price", "openai"])
    expect(sessions).toMatchObject([
      { session: "ses_long", title: "The long", skipped: 0, calls: 61, pricings: ["OpenAI"], billing: "tokens" },
      { session: "ses_short", calls: 5 },
    ])
    expect(sum.calls).toBe(66)
    expect(failed).toEqual([])
    expect(Object.keys(sum).sort()).toEqual(
      [
        "billing",
        "calls",
        "compactions",
        "folds",
        "hud",
        "recalls",
        "recorded",
        "subagents",
        "pricings",
        "with",
        "without",
      ].sort(),
    )
    expect(sum.without.cost).toBeCloseTo(sessions[0].without.cost + sessions[1].without.cost)
  })

  test("takes the plugin's options: without HUD and folds nothing changes", async () => {
    const off = '{"hud":{"enabled":false},"fold":{"enabled":false}}'
    const { sum } = await json([file("long", long()), "--options", off])
    expect(sum.with).toEqual(sum.without)
  })

  test("a session of the real OpenCode gives the same from its database and from an export", async () => {
    const [stored] = (await json([recorded.session])).sessions
    expect(stored).toMatchObject({ session: recorded.session, calls: recorded.calls })
    // this test's own export names no project folder, so the paths in its HUD are longer
    const [exported] = (await json([recorded.file])).sessions
    expect(exported.without).toEqual(stored.without)
  })

  test("a session given twice counts once, which is said, since another export of it may have more calls", async () => {
    const path = file("short", short())
    const given = [path, path, recorded.session, recorded.file]
    const { stdout, stderr } = await cli(["replay", ...given, "--json"], recorded.env)
    expect(JSON.parse(stdout).sessions).toHaveLength(2)
    const said = [path, recorded.file].map(
      (one) => `hudfold: ${one} is the same session as one named before it, so it is left out\n`,
    )
    expect(stderr).toBe(said.join(""))
  })
})

test("on plain Node, files and sessions of the database are summed up together", async () => {
  using bin = temporaryFolder()
  const bundle = await bundleInto(bin.path)
  file("short", short())
  const child = Bun.spawn([Bun.which("node") ?? "node", bundle, "replay", "short.json", recorded.session, "--json"], {
    cwd: folder.path,
    env: { ...recorded.env, HOME: bin.path, PATH: linkCommands(bin.path, { bun: process.execPath }) },
  })
  const { sum } = JSON.parse(await new Response(child.stdout).text())
  expect(sum.calls).toBe(5 + recorded.calls)
  expect(await child.exited).toBe(0)
})

describe("errors", () => {
  test("one bad session does not hide the others, and the exit code is 2", async () => {
    const missing = join(folder.path, "nope.json")
    const { code, stdout, stderr } = await cli(["replay", missing, file("long", long()), "nope"])
    expect(code).toBe(2)
    expect(stdout).toContain("\nThe long, 61 calls, ")
    const [first, second, end] = stderr.split("\n")
    expect(first).toStartWith(`hudfold: ${missing} does not exist; create an export with`)
    expect(second).toStartWith('hudfold: "nope" is neither a file nor a session id')
    expect(end).toBe("")
  })

  test("--json names the sessions that failed, and why", async () => {
    const { code, stdout } = await cli(["replay", "nope", "--json"])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [], sum: { calls: 0 }, failed: [{ session: "nope" }] })
  })

  const rows: { name: string; args: string[]; says: string }[] = [
    { name: "no session", args: [], says: "missing SESSION. A session id" },
    {
      name: "an unknown price",
      args: ["x.json", "--price", "acme"],
      says: '--price: the prices of "acme" are not known; expected one of ',
    },
    { name: "a price without a name", args: ["x.json", "--price"], says: "Option '--price <value>' argument missing" },
    { name: "a wrong option", args: ["x.json", "--options", '{"hud":{"slot":"x"}}'], says: "option hud.slot" },
    { name: "the plugin off", args: ["x.json", "--options", '{"enabled":false}'], says: "nothing is folded" },
    { name: "a file that is not an export", args: ["package.json"], says: "package.json is not an OpenCode export" },
  ]
  for (const { name, args, says } of rows) {
    test(`${name} is one line, with exit code 2`, async () => {
      expectRefusal(await cli(["replay", ...args]), says)
    })
  }
})
