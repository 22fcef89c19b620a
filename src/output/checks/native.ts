// Test runners of compiled languages beside Go and Rust: googletest, ctest, Catch2 and `dotnet test`.

import type { Line } from "../lines.ts"
import { explain } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { last, MAX_FAILURES, titled } from "./sections.ts"

export const gtest: Check = {
  sign: /^\[ {2}(?:PASSED|FAILED) {2}\] \d+ tests?/m,
  read(lines) {
    const number = (line: Line | undefined) => Number(/(\d+) tests?/.exec(line?.text ?? "")?.[1] ?? 0)
    const passed = last(lines, /^\[ {2}PASSED {2}\] \d+ test/)
    const failed = last(lines, /^\[ {2}FAILED {2}\] \d+ test/)
    const counts: Counts = { passed: number(passed), failed: number(failed) }
    const failures: Failure[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      if (/^\[ RUN {6}\]/.test(line.text)) start = at + 1
      const title = /^\[ {2}FAILED {2}\] (\w[\w./]*)/.exec(line.text)?.[1]
      if (!title || /^\d+$/.test(title) || failures.length >= MAX_FAILURES) continue
      if (failures.some((known) => known.title === title)) continue
      const why = start > 0 ? explain(gtestWords(lines.slice(Math.max(start, at - 40), at))) : { quotes: [] }
      failures.push({ ...why, title, quotes: [line, ...why.quotes] })
    }
    const total = failed ?? passed
    return (
      total && { name: "gtest", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
    )
  },
}

export const ctest: Check = {
  sign: /^\d+% tests passed, \d+ tests failed out of \d+/m,
  read(lines) {
    const total = last(lines, /^\d+% tests passed/)
    const found = /(\d+) tests failed out of (\d+)/.exec(total?.text ?? "")
    if (!total || !found) return undefined
    const failed = Number(found[1])
    const counts: Counts = { passed: Number(found[2]) - failed, failed }
    const failures: Failure[] = []
    for (const line of lines) {
      const title = /^\s+\d+ - (\S.*?) \((?:Failed|Timeout|SEGFAULT|Not Run|Subprocess aborted|\w+)\)/.exec(
        line.text,
      )?.[1]
      if (title && failures.length < MAX_FAILURES) failures.push({ title, quotes: [line] })
    }
    return { name: "ctest", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const catch2: Check = {
  sign: /^(?:test cases: +\d+ \||All tests passed \(\d+ assertions?)/m,
  read(lines) {
    const total = last(lines, /^test cases: +\d+|^All tests passed \(/)
    if (!total) return undefined
    const failed = Number(/(\d+) failed/.exec(total.text)?.[1] ?? 0)
    const passed = Number(/(\d+) passed/.exec(total.text)?.[1] ?? /in (\d+) test cases?/.exec(total.text)?.[1] ?? 0)
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const found = /^(\S+?)[:(](\d+)\)?: FAILED:$/.exec(line.text)
      const said = lines[at + 1]
      if (!found?.[1] || !said || failures.length >= MAX_FAILURES) continue
      const message = said.text.trim()
      failures.push({ title: "", message, file: found[1], line: Number(found[2]), quotes: [line, said] })
    }
    const verdict = failed ? "fail" : "pass"
    return { name: "catch2", kind: "tests", verdict, sure: true, counts: { passed, failed }, failures, total }
  },
}

export const dotnetTest: Check = {
  sign: /^(?:(?:Passed|Failed)! +- Failed: +\d+|Total tests: \d+|Test summary: total: \d+|Test Run (?:Successful|Failed)\.)/m,
  read(lines) {
    const counts: Counts = {}
    let total: Line | undefined
    for (const line of lines) {
      const modern = /^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+)/.exec(line.text)
      const newest = /^Test summary: total: \d+, failed: (\d+), succeeded: (\d+), skipped: (\d+)/.exec(line.text)
      const older = /^ +(Passed|Failed|Skipped): (\d+)$/.exec(line.text)
      const found = modern ?? newest
      if (found) {
        counts.failed = (counts.failed ?? 0) + Number(found[1])
        counts.passed = (counts.passed ?? 0) + Number(found[2])
        counts.skipped = (counts.skipped ?? 0) + Number(found[3])
        if (!total || Number(found[1]) > 0) total = line
      }
      if (older?.[1] === "Failed") counts.failed = Number(older[2])
      if (older?.[1] === "Passed") counts.passed = Number(older[2])
      if (older || /^(?:Total tests: |Test Run )/.test(line.text)) total ??= line
    }
    const heading = /^ +(?:Failed|X) (\S.+?)(?: \[[\d.<]+ ?\w+\])?$/
    const failures = titled(lines, heading, /^ +(?:Failed|Passed|Skipped|X|V) \S|^(?:Failed!|Passed!|Total tests)/)
    const verdict = counts.failed || /^Test Run Failed/.test(total?.text ?? "") ? "fail" : "pass"
    return total && { name: "dotnet test", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

/** googletest says `Which is: 401` where others say `Actual: 401`. */
function gtestWords(region: readonly Line[]): Line[] {
  return region.map((line) => {
    const actual = /^ +Which is: (.+)$/.exec(line.text)?.[1]
    const expected = /^Expected equality of these values:$/.test(line.text)
    return actual
      ? { text: `actual: ${actual}`, raw: line.raw }
      : expected
        ? { text: "assertion failed", raw: line.raw }
        : line
  })
}
