// The CLI as a child process of the panel: its output, its result, and stopping it cleanly.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runCli } from "../../src/tui/setup-run.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "panel-setup-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

function program(name: string, code: string): string {
  const path = join(folder, `${name}.mjs`)
  writeFileSync(path, code)
  return path
}

test("reports the lines and the success of a program", async () => {
  const lines: string[] = []
  const cli = program(
    "well",
    'console.log(process.argv.slice(2).join(" "), process.env.BUN_BE_BUN)\nconsole.log("done")',
  )
  const { result } = runCli(["setup", "--dry-run"], (line) => lines.push(line), cli)
  expect(await result).toEqual({ failure: undefined, interrupted: false })
  expect(lines).toEqual(["setup --dry-run 1", "done"])
})

test("reports a failure with the program's own message", async () => {
  const lines: string[] = []
  const cli = program("ill", 'console.log("model: 10 %")\nconsole.error("hudfold: no room")\nprocess.exitCode = 1')
  const { result } = runCli(["setup"], (line) => lines.push(line), cli)
  expect(await result).toEqual({ failure: "hudfold: no room", interrupted: false })
  expect(lines.sort()).toEqual(["hudfold: no room", "model: 10 %"])
})

test("a stopped program can clean up, and its exit is awaited", async () => {
  const left = join(folder, "in-order")
  const cli = program(
    "long",
    `import { writeFileSync } from "node:fs"
     setInterval(() => {}, 1000)
     process.on("SIGINT", () => { writeFileSync(${JSON.stringify(left)}, ""); console.error("interrupted"); process.exit(130) })
     console.log("at work")`,
  )
  const run = runCli(["setup"], (line) => line === "at work" && run.stop(), cli)
  expect(await run.result).toEqual({ failure: "interrupted", interrupted: true })
  expect(existsSync(left)).toBe(true)
})

test("stopping twice does not interrupt the cleanup", async () => {
  const marker = join(folder, "stopped-twice")
  const cli = program(
    "slow",
    `import { existsSync } from "node:fs"
     process.on("SIGINT", () => console.log("ending"))
     setInterval(() => existsSync(${JSON.stringify(marker)}) && process.exit(130), 10)
     console.log("at work")`,
  )
  const lines: string[] = []
  const run = runCli(
    ["setup"],
    (line) => {
      lines.push(line)
      run.stop()
      if (line === "ending") writeFileSync(marker, "")
    },
    cli,
  )
  expect(await run.result).toEqual({ failure: "setup ended with 130", interrupted: true })
  expect(lines).toEqual(["at work", "ending"])
})

test("nothing of the project is run or read", async () => {
  const project = join(folder, "project")
  mkdirSync(project)
  writeFileSync(join(project, "bunfig.toml"), 'preload = ["./preload.ts"]')
  writeFileSync(join(project, "preload.ts"), 'console.log("the project ran")')
  writeFileSync(join(project, ".env"), "HUDFOLD_TEST_PLACE=the project")
  const cli = program("apart", 'console.log("place:", process.env.HUDFOLD_TEST_PLACE)')
  const before = process.cwd()
  process.chdir(project)
  try {
    const lines: string[] = []
    expect(await runCli(["setup"], (line) => lines.push(line), cli).result).toEqual({
      failure: undefined,
      interrupted: false,
    })
    expect(lines).toEqual(["place: undefined"])
  } finally {
    process.chdir(before)
  }
})

test("the real CLI describes its plan, from the sources", async () => {
  const lines: string[] = []
  const { result } = runCli(["setup", "--dry-run", "--no-model"], (line) => lines.push(line))
  expect(await result).toMatchObject({ failure: undefined })
  expect(lines.join("\n")).toContain("nothing was changed (--dry-run)")
})
