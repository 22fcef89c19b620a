// The built terminal half in a small terminal of OpenCode 2: what it draws, its commands, and what is left after its cleanup.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { readSwitches, statusFolder, writeStatus } from "../../src/status/files.ts"
import { statusOf } from "../support/status.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const driver = fileURLToPath(new URL("../support/terminal-v2.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "terminal-v2-"))
afterAll(() => rmSync(folder, { recursive: true }))

const SESSION = "ses_terminal"
const data = join(folder, "data")

type Seen = {
  panel: string
  /** the panel as it is drawn before the session's files are read */
  first: string
  line: string
  home: string
  /** the dialog of setup, beside which there is no command-line program */
  setup: string
  couldResume: boolean
  toasts: { message: string }[]
  nothing: boolean
  commands: [string, string][]
  shown: string[]
  listening: number
  slots: string[]
  keys: string[]
}
let seen: Seen

beforeAll(async () => {
  mkdirSync(data, { mode: 0o700 })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir")
  writeStatus(statusFolder(data), statusOf({ sessionID: SESSION }))
  const script = `await (await import(${JSON.stringify(join(root, "scripts/bundle.ts"))})).buildTui(${JSON.stringify(root)}, ${JSON.stringify(folder)})`
  await run(process.execPath, ["-e", script], { cwd: root })
  const args = ["--conditions=browser", driver, join(folder, "tui.js"), SESSION]
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, HUDFOLD_DATA: data } })
  seen = JSON.parse(stdout.slice(stdout.indexOf('{"panel"'))) as Seen
}, 60_000)

test("the module has what the terminals of both hosts call, and loads by OpenCode 2's rules", () => {
  expect(seen.keys).toEqual(["id", "tui", "setup"])
})

test("the panel and the line beside the prompt show the session's status; the home screen shows nothing", () => {
  expect(seen.panel).toContain("HUD")
  expect(seen.panel).toContain("npm test")
  expect(seen.line).toContain("1 command failed")
  expect(seen.home.trim()).toBe("")
  expect(seen.slots.toSorted()).toEqual(["app", "prompt.footer.status", "sidebar.content"])
})

test("before the session's files are read, the panel is its title", () => {
  expect(seen.first.trim()).toBe("▼ HUD")
})

test("the commands are registered by a component, and work", () => {
  expect(seen.commands.map(([, slash]) => slash)).toEqual([
    ...[
      "hud",
      "hud-folds",
      "hud-compact",
      "hud-status",
      "hud-pause",
      "hud-resume",
      "hud-fold-pause",
      "hud-fold-resume",
      "hud-setup",
    ],
  ])
  expect(seen.commands.every(([id]) => id.startsWith("opencode-hudfold."))).toBe(true)
  expect(seen.couldResume).toBe(false)
  expect(readSwitches(statusFolder(data), SESSION).hud).toBe("paused")
  expect(seen.toasts[0]?.message).toContain("The HUD is paused")
  // a list, the original of the fold chosen there, the status, and setup
  expect(seen.shown).toHaveLength(4)
})

test("without the command-line program, setup says that it failed", () => {
  expect(seen.setup).toContain("Local model: not set up")
  expect(seen.toasts.at(-1)?.message).toContain("the command-line program is missing")
})

test("another context is left alone, and after the cleanup nothing listens", () => {
  expect(seen.nothing).toBe(true)
  expect(seen.listening).toBe(0)
})
