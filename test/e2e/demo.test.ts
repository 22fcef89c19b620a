// The demo of `npm run demo`: it works, reports correctly and leaves nothing behind.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runDemo } from "../opencode/demo.ts"
import { findOpencode } from "../opencode/host.ts"
import { testLarge } from "../support/large.ts"
import { PATIENCE_MS, PLUGIN } from "../support/world.ts"

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

// it plays four sessions; that records save, and that nothing stored changes, other tests in this folder hold daily
testLarge(
  "the demo shows the HUD, finds the stored session unchanged, and leaves no folder behind",
  async () => {
    let printed = ""
    const exitCode = await runDemo({
      opencode: findOpencode(),
      plugin: PLUGIN,
      longSteps: 72,
      write: (text) => {
        printed += text
      },
    })
    expect(printed).toMatch(/the last HUD of the long task\n {2}│ <hud>\n {2}│ hudfold status, call \d+\n/)
    expect(printed).toMatch(/HUD in \d+ of the 15 calls.* of the short task\n/)
    expect(printed).toMatch(
      /HUD in [1-9]\d* of the 74 calls, with \d+ tokens on average and \d+ at most, of the long task\n/,
    )
    expect(printed).toMatch(/stored messages changed: none/)
    expect(printed).toMatch(/calls +15 +15 +74 +74/)
    expect(printed).toMatch(/requests that change anything else +0 +0 +0 +0/)
    // in USD: the long task with the plugin and without
    const [, live = 0, plain = 0] = /the whole bill +\S+ +\S+ +\$([\d.]+) +\$([\d.]+)/.exec(printed) ?? []
    expect(Number(live)).toBeGreaterThan(0)
    expect(Number(live)).toBeLessThan(0.9 * Number(plain))
    expect(printed).toMatch(/The long task costs [\d.]+% less with the plugin \([\d.]+% less by its own account\):/)
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
