// The CLI as a child of the panel: its lines as they come, its end, and its being stopped in order.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
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

test("tells the lines of a program that does well, and that it did", async () => {
  const lines: string[] = []
  const cli = program(
    "well",
    'console.log(process.argv.slice(2).join(" "), process.env.BUN_BE_BUN)\nconsole.log("done")',
  )
  const { ended } = runCli(["setup", "--dry-run"], (line) => lines.push(line), cli)
  expect(await ended).toEqual({ ok: true })
  expect(lines).toEqual(["setup --dry-run 1", "done"])
})

test("gives a failure in the program's own words", async () => {
  const lines: string[] = []
  const cli = program("ill", 'console.log("model: 10 %")\nconsole.error("hudfold: no room")\nprocess.exitCode = 1')
  const { ended } = runCli(["setup"], (line) => lines.push(line), cli)
  expect(await ended).toEqual({ ok: false, interrupted: false, reason: "hudfold: no room" })
  expect(lines.sort()).toEqual(["hudfold: no room", "model: 10 %"])
})

test("stopped, it gets to put its things in order, and its end is waited for", async () => {
  const left = join(folder, "in-order")
  const cli = program(
    "long",
    `import { writeFileSync } from "node:fs"
     setInterval(() => {}, 1000)
     process.on("SIGINT", () => { writeFileSync(${JSON.stringify(left)}, ""); console.error("interrupted"); process.exit(130) })
     console.log("at work")`,
  )
  const run = runCli(["setup"], (line) => line === "at work" && run.stop(), cli)
  expect(await run.ended).toEqual({ ok: false, interrupted: true, reason: "interrupted" })
  expect(existsSync(left)).toBe(true)
})

test("told to stop once more, it is not cut off from putting its things in order", async () => {
  const told = join(folder, "told-twice")
  const cli = program(
    "slow",
    `import { existsSync } from "node:fs"
     process.on("SIGINT", () => console.log("ending"))
     setInterval(() => existsSync(${JSON.stringify(told)}) && process.exit(130), 10)
     console.log("at work")`,
  )
  const lines: string[] = []
  const run = runCli(
    ["setup"],
    (line) => {
      lines.push(line)
      run.stop()
      if (line === "ending") writeFileSync(told, "")
    },
    cli,
  )
  expect(await run.ended).toEqual({ ok: false, interrupted: true, reason: "setup ended with 130" })
  expect(lines).toEqual(["at work", "ending"])
})

test("the real one says what it would do, from the sources", async () => {
  const lines: string[] = []
  const { ended } = runCli(["setup", "--dry-run", "--no-model"], (line) => lines.push(line))
  expect(await ended).toEqual({ ok: true })
  expect(lines.join("\n")).toContain("nothing was changed (--dry-run)")
})
