// The demo of `npm run demo`: it works, reports correctly and leaves nothing behind.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runDemo } from "../opencode/demo.ts"
import { findOpencode } from "../opencode/host.ts"
import { LARGE } from "../support/large.ts"
import { PATIENCE_MS, PLUGIN } from "../support/world.ts"

/** In turns of 36. */
const LONG_STEPS = LARGE ? 72 : 36

const { TMPDIR } = process.env
let temporary: string

// A separate temporary directory, so that everything in it belongs to the demo.
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), "demo-test-"))
  process.env.TMPDIR = temporary
})
afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  rmSync(temporary, { recursive: true })
})

test(
  "the demo shows the HUD call by call, finds the stored session unchanged, and leaves no folder behind",
  async () => {
    let printed = ""
    const exitCode = await runDemo({
      opencode: findOpencode(),
      plugin: PLUGIN,
      longSteps: LONG_STEPS,
      write: (text) => {
        printed += text
      },
    })
    expect(printed).toContain("│ <hud>")
    expect(printed).toMatch(/stored messages changed: none/)
    const calls = LONG_STEPS + LONG_STEPS / 36
    expect(printed).toMatch(new RegExp(`calls +15 +15 +${calls} +${calls}`))
    expect(printed).toMatch(/requests that change anything else +0 +0 +0 +0/)
    // in USD: the long task with the plugin and without
    const [, live = 0, plain = 0] = /the whole bill +\S+ +\S+ +\$([\d.]+) +\$([\d.]+)/.exec(printed) ?? []
    expect(Number(live)).toBeGreaterThan(0)
    // folding pays in the second turn of the long task
    expect(Number(live)).toBeLessThan((LARGE ? 0.9 : 1.1) * Number(plain))
    expect(printed).toMatch(/The long task costs [\d.]+% (?:less|more) with the plugin/)
    expect(printed).not.toContain("\u001b[")
    expect(exitCode).toBe(0)
    expect(readdirSync(temporary)).toEqual([])
  },
  4 * PATIENCE_MS,
)

test(
  "a demo that is stopped says so, ends with 130 and leaves no folder behind",
  async () => {
    const stop = new AbortController()
    let printed = ""
    const exitCode = await runDemo({
      opencode: findOpencode(),
      plugin: PLUGIN,
      signal: stop.signal,
      write: (text) => {
        printed += text
        if (printed.includes("call 3")) stop.abort()
      },
    })
    expect(exitCode).toBe(130)
    expect(printed).toContain("stopped")
    expect(printed).not.toContain("measured")
    expect(readdirSync(temporary)).toEqual([])
  },
  PATIENCE_MS,
)
