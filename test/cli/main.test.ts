import { describe, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import manifest from "../../package.json" with { type: "json" }
import { columns, wrapped } from "../../src/cli/terminal.ts"
import { cli, expectRefusal, source } from "./support.ts"

test("--version prints the package's version", async () => {
  expect(await cli(["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" })
})

test.skipIf(process.platform !== "linux")(
  "output that cannot be written is a failure, and one line says so (skipped without /dev/full)",
  () => {
    const full = openSync("/dev/full", "w")
    const { status, stderr } = spawnSync(process.execPath, [source, "--help"], { stdio: ["ignore", full, "pipe"] })
    closeSync(full)
    const says = expect.stringMatching(/^hudfold: the output cannot be written \(ENOSPC.*\)\n$/)
    expect([status, `${stderr}`]).toEqual([2, says])
  },
)

test("an error is broken at spaces on a terminal, and one line elsewhere", () => {
  const text = "hudfold: unknown command foo"
  expect(wrapped(text, 2, 0, { isTTY: true, columns: 20 })).toBe("hudfold: unknown\n  command foo")
  expect(wrapped(text, 2, 0, { isTTY: false, columns: 20 })).toBe(text)
})

test("a table fits a terminal: what its first column has is shortened in the middle", () => {
  const rows = [
    ["/home/dev/some/rather/long/path/to/a/project", "12", "-31%"],
    ["价格折扣购物车价格折扣购物车价格折扣购物车项目", "3", "+2%"],
  ]
  const table = (stream: { isTTY: boolean; columns: number }) =>
    columns(["project", "calls", "change"], rows, stream).map(stripVTControlCharacters)
  const narrow = table({ isTTY: true, columns: 40 })
  expect(narrow.map((line) => Bun.stringWidth(line))).toEqual([40, 40, 40])
  expect(narrow[1]).toMatch(/^\/home\/dev\S*…\S*project {5}12 {4}-31%$/)
  expect(narrow[2]).toMatch(/^价格\S*…\S*项目 +3 +\+2%$/)
  expect(table({ isTTY: false, columns: 40 })[1]).toContain(rows[0]![0]!)
  rows[0]![0] = "/a".repeat(2000)
  const started = performance.now()
  expect(Bun.stringWidth(table({ isTTY: true, columns: 40 })[1]!)).toBe(40)
  expect(performance.now() - started).toBeLessThan(1000)
})

test("the tables of stats and replay fit a terminal of 60 columns", () => {
  const name = "/home/dev/some/rather/long/path/to/a/project"
  for (const [head, cells] of [
    [
      ["month", "sessions", "calls", "paid", "without it", "change"],
      ["1000", "99999", "635k tokens", "1.2M tokens"],
    ],
    [
      ["session", "calls", "bill without", "bill with", "change", "hudfold"],
      ["99999", "not recorded", "1.2M tokens"],
    ],
  ] as const) {
    const stream = { isTTY: true, columns: 60 }
    const lines = columns(head, [[name, ...cells, "-17%", "ran"].slice(0, 6)], stream)
    for (const line of lines.map(stripVTControlCharacters)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60)
  }
})

test("columns are aligned whatever is in them: wide characters, emoji, marks", () => {
  const rows = ["fix it", "修正折扣计算", "할인 수정", "🎉 👩‍👩‍👧 done", "ﬁx é e\u0301 ｆｕｌｌ"].map((title) => [
    title,
    "80",
    "-17%",
  ])
  const [head = "", ...lines] = columns(["session", "calls", "change"], rows)
  expect(lines.map((line) => Bun.stringWidth(line))).toEqual(lines.map(() => Bun.stringWidth(head)))
})

test("a wide text is broken where the terminal ends", () => {
  expect(wrapped("价格 折扣 购物车", 0, 0, { isTTY: true, columns: 10 })).toBe("价格 折扣\n购物车")
})

describe("--help", () => {
  const rows: { args: string[]; says: string[] }[] = [
    { args: ["doctor", "--help"], says: ["usage: hudfold doctor [OPTIONS]", "  --dir=<FOLDER>"] },
    { args: ["--help"], says: ["inspect", "replay", "setup", "model", "usage: hudfold COMMAND"] },
    { args: ["-h"], says: ["inspect", "status"] },
    { args: ["inspect", "--help"], says: ["SESSION", "--call=<N>", "HUD and secrets", "--options=<JSON>"] },
    { args: ["inspect", "x", "--bogus", "-h"], says: ["SESSION"] },
    { args: ["setup", "--help"], says: ["hudfold setup", "--dry-run", "--uninstall", "--gpu=<auto|off|"] },
    { args: ["model", "--help"], says: ["hudfold model", "list", "pull", "use", "remove"] },
  ]
  for (const { args, says } of rows) {
    test(`hudfold ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await cli(args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      for (const part of says) expect(stdout).toContain(part)
      // only the doctor itself uses it
      expect(stdout).not.toContain("--databases")
      // Into a pipe without colours.
      expect(stdout).not.toContain("\u001b")
    })
  }
})

describe("a mistake is one line on stderr and exit code 2", () => {
  const rows: { args: string[]; says: string }[] = [
    { args: [], says: "no command; expected replay, report, stats, status, inspect, doctor" },
    { args: ["inspekt"], says: 'unknown command "inspekt"; expected replay, report, stats, status, inspect, doctor' },
    { args: ["toString"], says: 'unknown command "toString"' },
    { args: ["--verbose"], says: "unknown option --verbose" },
    { args: ["\u001b[2J"], says: 'unknown command "\\u001b[2J"' },
    { args: ["--\u001b[2J"], says: "unknown option --\\x1b[2J" },
    { args: ["inspect"], says: "missing SESSION. A session id" },
    { args: ["inspect", "a", "b"], says: 'unexpected argument "b"' },
    {
      args: ["inspect", "a", "--cal", "3"],
      says: "Unknown option '--cal' (see hudfold inspect --help)",
    },
    { args: ["inspect", "a", "--json=yes"], says: "Option '--json' does not take an argument" },
    { args: ["inspect", "a", "--no-json"], says: "Unknown option '--no-json'" },
    { args: ["inspect", "a", "-j"], says: "Unknown option '-j'" },
    { args: ["inspect", "a", "--options="], says: "--options needs a value" },
    { args: ["status", "ses_1", "now"], says: 'unexpected argument "now"' },
  ]
  for (const { args, says } of rows) {
    test(JSON.stringify(args), async () => {
      expectRefusal(await cli(args), says)
    })
  }
})
