// Test runners of the JavaScript world that name a failure with a bullet and end with totals: jest, vitest, bun,
// mocha and playwright.

import type { Line } from "../lines.ts"
import { explain } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { countsIn, last, MAX_FAILURES, titled, until } from "./sections.ts"

export const jest: Check = {
  sign: /^(?:Tests|Test Suites): +.*\btotal$/m,
  read(lines) {
    const total = last(lines, /^Tests: +.*total$/) ?? last(lines, /^Test Suites: /)
    const suites = last(lines, /^Test Suites: /)
    if (!total) return undefined
    const counts = countsIn(total.text)
    const failures = titled(lines, /^\s*● (?!Console$)(.+)$/, /^(?:\s*● |Test Suites: |Tests: |(?:PASS|FAIL) )/)
    const broken = /\bfailed\b/.test(suites?.text ?? "") || (counts.failed ?? 0) > 0
    return { name: "jest", kind: "tests", verdict: broken ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const vitest: Check = {
  sign: /^ *(?:Test Files|Tests|Type Errors) {2,}(?:\d|no )/m,
  read(lines) {
    const files = last(lines, /^ *Test Files {2}/)
    const tests = last(lines, /^ *Tests {2}/)
    const total = tests ?? files
    if (!total) return undefined
    const errors = last(lines, /^ *Errors {2}\d+ error/)
    const counts = countsIn(tests?.text ?? "")
    const stop = /^ *(?:FAIL {2}|Test Files {2}|⎯+(?:\[|$))/
    const failures = titled(lines, /^ *FAIL {2}(?:\|\S+\| )?(.+)$/, stop).map(inFile)
    if (failures.length === 0) failures.push(...titled(lines, /^ *[×✗] (.+?)(?: \d+ms)?$/, /^ *[×✗✓❯] /))
    const broken = Boolean(errors) || [files, tests].some((line) => /\d+ failed/.test(line?.text ?? ""))
    return { name: "vitest", kind: "tests", verdict: broken ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const bun: Check = {
  sign: /^Ran \d+ tests? across \d+ files?/m,
  read(lines) {
    const total = last(lines, /^Ran \d+ tests? across/)
    const counts: Counts = {}
    for (const { text } of lines) {
      const found = /^ *(\d+) (pass|fail|skip|errors?)$/.exec(text)
      if (found?.[2] === "pass") counts.passed = Number(found[1])
      if (found?.[2] === "fail") counts.failed = Number(found[1])
      if (found?.[2] === "skip") counts.skipped = Number(found[1])
      if (found?.[2]?.startsWith("error")) counts.errors = Number(found[1])
    }
    // bun prints a test's error above the line that names it
    const failures: Failure[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      const found = /^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+ ?m?s\])?$/.exec(line.text)
      if (found?.[1] && failures.length < MAX_FAILURES && !failures.some(({ title }) => title === found[1])) {
        const why = explain(lines.slice(Math.max(start, at - 60), at))
        failures.push({ ...why, title: found[1], quotes: [line, ...why.quotes] })
      }
      if (/^(?:\((?:pass|fail|skip|todo)\)|[✓✗»]) |^\S+\.[jt]sx?:$/.test(line.text)) start = at + 1
    }
    const broken = (counts.failed ?? 0) + (counts.errors ?? 0) > 0
    const verdict = broken ? "fail" : "pass"
    return total && { name: "bun test", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

export const mocha: Check = {
  sign: /^ +\d+ (?:passing(?: \(|$)|failing$)/m,
  read(lines) {
    const counts: Counts = {}
    let total: Line | undefined
    let totalAt = 0
    for (const [at, line] of lines.entries()) {
      const found = /^ +(\d+) (passing|failing|pending)\b/.exec(line.text)
      if (!found) continue
      if (found[2] === "passing") counts.passed = Number(found[1])
      if (found[2] === "failing") counts.failed = Number(found[1])
      if (found[2] === "pending") counts.skipped = Number(found[1])
      if (found[2] !== "pending") {
        total = line
        totalAt = at
      }
    }
    const region = lines.slice(totalAt + 1)
    const failures: Failure[] = []
    for (const [at, line] of region.entries()) {
      const found = /^ +\d+\) (.+)$/.exec(line.text)
      if (!found?.[1] || failures.length >= MAX_FAILURES) continue
      const names = [found[1]]
      let next = at + 1
      for (; next < Math.min(region.length, at + 6) && !/:$/.test(names.at(-1) ?? ""); next++) {
        const name = region[next]?.text.trim()
        if (!name) break
        names.push(name)
      }
      const why = explain(until(region, next, /^ +\d+\) /))
      failures.push({ ...why, title: names.join(" > ").replace(/:$/, ""), quotes: [line, ...why.quotes] })
    }
    const verdict = counts.failed ? "fail" : "pass"
    return total && { name: "mocha", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

export const playwright: Check = {
  sign: /^ +\d+ (?:passed(?: \([\d.]+m?s?.*\))?|failed|flaky|did not run|interrupted)$/m,
  read(lines) {
    const counts: Counts = {}
    let total: Line | undefined
    for (const line of lines) {
      const found = /^ +(\d+) (passed|failed|flaky|skipped|interrupted)\b/.exec(line.text)
      if (!found) continue
      if (found[2] === "passed") counts.passed = Number(found[1])
      if (found[2] === "failed" || found[2] === "interrupted") counts.failed = (counts.failed ?? 0) + Number(found[1])
      if (found[2] === "skipped") counts.skipped = Number(found[1])
      if (!total || found[2] === "failed") total = line
    }
    const failures = titled(lines, /^ +\d+\) (.+ › .+?)[ ─]*$/, /^ +\d+\) |^ +\d+ (?:passed|failed|flaky)/)
    const verdict = counts.failed ? "fail" : "pass"
    return total && { name: "playwright", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

/** vitest puts the file before the test's name, or in place of it when the file itself would not load. */
function inFile(failure: Failure): Failure {
  const found = /^(\S+\.\w+)(?: > (.+)| \[ .+ \])?$/.exec(failure.title)
  if (!found?.[1]) return failure
  const here = failure.file?.endsWith(found[1]) ? {} : { file: found[1] }
  const { line: _, ...rest } = failure
  return { ...("file" in here ? rest : failure), ...here, title: found[2] ?? "" }
}
