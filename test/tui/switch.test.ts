// Pausing and resuming, and the messages about it.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readSwitches } from "../../src/status/files.ts"
import { askFor, FOREVER, foldAll, setSwitch } from "../../src/tui/switch.ts"
import { statusOf } from "../support/status.ts"

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

test("where it is off by the options, or for this agent, a switch counts for the others, and says so", async () => {
  expect(await setSwitch(folder, "ses_1", "hud", "paused", "off")).toEndWith(
    "off by the plugin's options, or for this agent.",
  )
  expect(readSwitches(folder, "ses_1").hud).toBe("paused")
  expect(await setSwitch(folder, "ses_1", "hud", "on", "off")).toStartWith("The HUD is resumed")
  expect(readSwitches(folder, "ses_1").hud).toBe("on")
})

const status = { sessionID: "ses_1", calls: 20 }

const step = (messageID: string, tokens: number) => ({ messageID, tokens })
const folded = (messageID: string, tokens: number) => ({ messageID, tokens: tokens + 40, textTokens: 40 })

test("steps are unfolded for some calls, pinned for good, released and folded, each with the size it changes", async () => {
  await setSwitch(folder, "ses_1", "hud", "paused", "on")
  expect(await askFor("unfold", folder, status, [folded("msg_1", 3000), folded("msg_2", 40)])).toBe(
    // as the list says before
    "Sent whole from the next request on, for 12 calls: about 3.0k tokens more in each.",
  )
  expect(await askFor("pin", folder, status, [step("msg_2", 950)])).toContain(
    "for the rest of the session: about 950 tokens in each",
  )
  expect(readSwitches(folder, "ses_1").whole).toEqual({ msg_1: 32, msg_2: FOREVER })
  // by then the first has run out
  expect(await askFor("fold", folder, { ...status, calls: 32 }, [step("msg_3", 8700)])).toContain(
    "up to 8.7k tokens less",
  )
  const { foldNow, ...switches } = readSwitches(folder, "ses_1")
  expect(foldNow).toEqual({ askedMs: expect.any(Number), what: ["msg_3"] })
  expect(switches).toEqual({ hud: "paused", folding: "on", whole: { msg_2: FOREVER } })
  await askFor("release", folder, status, [step("msg_2", 950)])
  expect(readSwitches(folder, "ses_1").whole).toEqual({})
})

test("what is asked to be folded adds to what is not folded yet", async () => {
  const pending = () => readSwitches(folder, "ses_1").foldNow?.what
  await askFor("fold", folder, status, [step("msg_3", 10)])
  await askFor("fold", folder, status, [step("msg_3", 10), step("msg_5", 10)])
  expect(pending()).toEqual(["msg_3", "msg_5"])
  await foldAll(folder, "ses_1", undefined)
  await askFor("fold", folder, status, [step("msg_7", 10)])
  expect(pending()).toBe("all")
})

test("folding all that is settled says how much that is, or why there is nothing", async () => {
  const shown = statusOf({ sessionID: "ses_1" })
  const folding = (kept: object, activity: "on" | "off" = "on") => ({
    ...shown,
    folding: {
      ...shown.folding,
      activity,
      kept: { open: 0, settled: 0, outputs: 0, tokens: 0, reasons: [], newest: [], ...kept },
    },
  })
  const all = (given: Parameters<typeof foldAll>[2]) => foldAll(folder, "ses_1", given)
  expect(await all(folding({}))).toBe("There is nothing to fold yet.")
  expect(await all(folding({ open: 3 }))).toBe(
    "Nothing is settled that is not folded yet. Still open: 3 steps; /hud-status says why.",
  )
  expect(await all(folding({ settled: 5 }, "off"))).toContain("off by the plugin's options")
  expect(readSwitches(folder, "ses_1").foldNow).toBeUndefined()
  expect(await all(folding({ settled: 14, outputs: 3, tokens: 12_000 }))).toBe(
    "Folded with the next request: 14 steps, 3 outputs, which leaves about 12k tokens out of each request.",
  )
  expect(readSwitches(folder, "ses_1").foldNow?.what).toBe("all")
  expect(await all(undefined)).toContain("Nothing is known about this session yet.")
})
