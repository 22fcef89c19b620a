import { afterEach, beforeEach, expect, test } from "bun:test"
import { startProgress } from "../../src/cli/progress.ts"

const { TERM } = process.env
beforeEach(() => {
  process.env.TERM = "xterm"
})
afterEach(() => {
  process.env.TERM = TERM
})

function record(over: { isTTY: boolean; columns?: number }) {
  const written: string[] = []
  const output = { columns: 80, ...over, write: (text: string) => written.push(text) > 0 } as const
  return { written, output: output as unknown as NodeJS.WriteStream }
}

test("on a terminal, one line is redrawn with share and time left, and removed at the end", () => {
  const { written, output } = record({ isTTY: true })
  let now = 0
  const progress = startProgress(output, "model: a\u001b[2J", { now: () => now })
  progress.update(0, 100e6)
  now = 50
  progress.update(1e6, 100e6) // too soon to draw
  now = 10_000
  progress.update(25e6, 100e6)
  progress.end()
  const line = "\r\u001b[2K"
  expect(written).toEqual([
    `${line}model: a\\x1b[2J 0% of 100 MB`,
    `${line}model: a\\x1b[2J 25% of 100 MB, 30 s left`,
    line,
  ])
})

test("a narrow terminal gets no second line", () => {
  const { written, output } = record({ isTTY: true, columns: 20 })
  startProgress(output, "a model with a long name").update(1, 2)
  expect(written).toEqual(["\r\u001b[2Ka model with a long"])
})

test("a terminal that knows no escape sequences gets none", () => {
  process.env.TERM = "dumb"
  const { written, output } = record({ isTTY: true })
  startProgress(output, "model: a").update(1, 2)
  startProgress(output, "session 1 of 2", { onScreenFromMs: 0 }).update(1, 2)
  expect(written).toEqual(["model: a 50% of 1 kB\n"])
})

test("elsewhere, one line is printed for every tenth", () => {
  const { written, output } = record({ isTTY: false })
  const progress = startProgress(output, "model: a")
  for (let bytes = 0; bytes <= 1000; bytes += 7) progress.update(bytes * 1e6, 1000e6)
  progress.update(1000e6, 1000e6)
  progress.end()
  expect(written).toHaveLength(11)
  expect(written.at(1)).toBe("model: a 10% of 1.0 GB\n")
  expect(written.at(-1)).toBe("model: a 100% of 1.0 GB\n")
})

test("calls are counted on a terminal after the first second, and not elsewhere", () => {
  const { written, output } = record({ isTTY: true })
  const calls = (count: number) => `${count} calls`
  let now = 500
  const progress = startProgress(output, "session 1 of 2", { amount: calls, onScreenFromMs: 1000, now: () => now })
  progress.update(1, 8)
  progress.end()
  expect(written).toEqual([])
  now = 1000
  progress.update(2, 8)
  now = 3000
  progress.update(4, 8)
  progress.end()
  progress.end()
  const line = "\r\u001b[2K"
  expect(written).toEqual([
    `${line}session 1 of 2 25% of 8 calls`,
    `${line}session 1 of 2 50% of 8 calls, 4 s left`,
    line,
  ])
  const elsewhere = record({ isTTY: false })
  startProgress(elsewhere.output, "session", { amount: calls, onScreenFromMs: 0, now: () => 5000 }).update(1, 2)
  expect(elsewhere.written).toEqual([])
})
