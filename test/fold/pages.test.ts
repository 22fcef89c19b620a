// Pages of a recall: none is larger than OpenCode passes on, and none is so small that an answer would take hundreds.

import { expect, test } from "bun:test"
import { paginate, renderPage } from "../../src/fold/pages.ts"

const block = (text: string) => ({ text, head: () => "[recalled r0000001]" })

test("a page of many short pieces is within its limits, with the frame around each, and leaves room for the note", () => {
  const pages = paginate(
    Array.from({ length: 300 }, (_, at) => block(`${at}`.padStart(30, "."))),
    { bytes: 3000, lines: 2000 },
    200,
  )
  for (const page of pages) expect(Buffer.byteLength(renderPage(page))).toBeLessThanOrEqual(2800)
  expect(pages.flat().map(({ text }) => Number(text.replace(/^\.+/, "")))).toEqual([...Array(300).keys()])
})

test("limits that are too small for a page count as 2,000 bytes and 20 lines", () => {
  expect(paginate([block("x\n".repeat(10))], { bytes: 10, lines: 1 }, 200)).toHaveLength(1)
  expect(paginate([block("x".repeat(1500))], { bytes: 10, lines: 1 }, 200)).toHaveLength(1)
})
