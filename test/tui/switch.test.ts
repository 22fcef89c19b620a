// Pausing and resuming, and the messages about it.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readSwitches } from "../../src/status/files.ts"
import { setSwitch } from "../../src/tui/switch.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "panel-switch-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

test("a switch is for one session, and leaves the other switch as it is", async () => {
  expect(await setSwitch(folder, "ses_1", "hud", "paused", "on")).toContain("carries none")
  expect(await setSwitch(folder, "ses_1", "folding", "paused", "on")).toContain("what is folded stays folded")
  expect(readSwitches(folder, "ses_1")).toEqual({ hud: "paused", folding: "paused" })
  expect(readSwitches(folder, "ses_2")).toEqual({ hud: "on", folding: "on" })
  expect(await setSwitch(folder, "ses_1", "hud", "on", "paused")).toContain("the next request")
  expect(readSwitches(folder, "ses_1")).toEqual({ hud: "on", folding: "paused" })
})

test("works before the session has a status, and says that it may have no effect", async () => {
  expect(await setSwitch(folder, "ses_1", "hud", "paused", "on")).not.toContain("no effect")
  expect(await setSwitch(folder, "ses_1", "hud", "paused", undefined)).toContain("no effect")
  expect(readSwitches(folder, "ses_1").hud).toBe("paused")
})

test("what the options switch off is left alone", async () => {
  expect(await setSwitch(folder, "ses_1", "hud", "paused", "off")).toContain("off by the plugin's options")
  expect(existsSync(join(folder, "ses_1.switches.json"))).toBe(false)
})
