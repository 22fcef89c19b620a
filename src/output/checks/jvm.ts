// Test runs on the JVM: surefire under maven, gradle, and JUnit's own console.

import { explain } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { last, MAX_FAILURES, until } from "./sections.ts"

const SUREFIRE_TOTAL =
  /^(?:\[\w+\] +)?Tests run: +(\d+), +Failures: +(\d+)(?:, +Errors: +(\d+))?(?:, +Skipped: +(\d+))?\s*$/

export const surefire: Check = {
  sign: /^(?:\[\w+\] +)?Tests run: +\d+, +Failures: +\d+/m,
  read(lines) {
    const total = last(lines, SUREFIRE_TOTAL) ?? last(lines, /Tests run: +\d+, +Failures: +\d+/)
    const found = /Tests run: +(\d+), +Failures: +(\d+)(?:, +Errors: +(\d+))?(?:, +Skipped: +(\d+))?/.exec(
      total?.text ?? "",
    )
    if (!total || !found) return undefined
    const failed = Number(found[2]) + Number(found[3] ?? 0)
    const skipped = Number(found[4] ?? 0)
    const counts: Counts = { failed, passed: Math.max(0, Number(found[1]) - failed - skipped), skipped }
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      if (failures.length >= MAX_FAILURES) break
      // the summary: `[ERROR]   LoginTest.rejects:42 expected: <200> but was: <401>`
      const brief = /^\[ERROR\] {2,}([\w$]+)\.([\w$[\]]+):(?:[\w$]+:)?(\d+) (.+)$/.exec(line.text)
      if (brief?.[1] && brief[2] && brief[4]) {
        const place = { file: `${brief[1]}.java`, line: Number(brief[3]) }
        failures.push({ title: brief[2], message: brief[4].replace(/^» /, ""), ...place, quotes: [line] })
      }
      const junit4 = /^\d+\) (\w+)\(([\w.]+)\)$/.exec(line.text)
      if (junit4?.[1]) failures.push(toFailure(`${junit4[2]}.${junit4[1]}`, lines, at))
    }
    for (const [at, line] of failures.length > 0 ? [] : lines.entries()) {
      const title = /^(?:\[ERROR\] +)?([\w.$]+\.[\w$]+|[\w$]+\([\w.$]+\)) .*<<< (?:FAILURE|ERROR)!/.exec(line.text)?.[1]
      if (title && failures.length < MAX_FAILURES) failures.push(toFailure(title, lines, at))
    }
    return { name: "surefire", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const gradleTest: Check = {
  sign: /^(?:\d+ tests? completed, \d+ failed|.+ > .+ FAILED$|> There were failing tests)/m,
  read(lines) {
    const total = last(lines, /^\d+ tests? completed/) ?? last(lines, /^> There were failing tests/)
    const found = /^(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?/.exec(total?.text ?? "")
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^(.+ > .+?) FAILED$/.exec(line.text)?.[1]
      if (title && failures.length < MAX_FAILURES) failures.push(toFailure(title, lines, at))
    }
    const failed = found ? Number(found[2]) : failures.length
    if (failed === 0) return undefined
    const skipped = Number(found?.[3] ?? 0)
    const counts: Counts = { failed, ...(found ? { passed: Number(found[1]) - failed - skipped, skipped } : {}) }
    return {
      name: "gradle test",
      kind: "tests",
      verdict: "fail",
      sure: true,
      counts,
      failures,
      ...(total ? { total } : {}),
    }
  },
}

export const junitConsole: Check = {
  sign: /^\[ +\d+ tests (?:successful|failed) +\]$/m,
  read(lines) {
    const number = (word: string) =>
      Number(/\d+/.exec(last(lines, new RegExp(`\\d+ tests ${word} `))?.text ?? "")?.[0] ?? 0)
    const counts: Counts = { passed: number("successful"), failed: number("failed"), skipped: number("skipped") }
    const total = last(lines, counts.failed ? /tests failed +\]$/ : /tests successful +\]$/)
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^ +JUnit \w+:(.+)$/.exec(line.text)?.[1]
      if (title && failures.length < MAX_FAILURES) failures.push(toFailure(title.replace(/^.+:/, ""), lines, at))
    }
    const verdict = counts.failed ? "fail" : "pass"
    return total && { name: "junit", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

function toFailure(title: string, lines: Parameters<typeof until>[0], at: number): Failure {
  const line = lines[at] as (typeof lines)[number]
  const why = explain(until(lines, at + 1, /^$|^\d+\) |FAILED$|<<< (?:FAILURE|ERROR)!|^\[(?:INFO|ERROR)\] *$/))
  // `at app//com.x.LoginTest.rejects(LoginTest.java:42)`: the first frame of the project's own test file
  const message = why.message
    ?.replace(/^(?:=> )?(?:[\w$]+\.)+(?=[A-Z])/, "")
    .replace(/^\w*(?:Assert|Comparison)\w*: /, "")
  return { ...why, title, ...(message ? { message } : {}), quotes: [line, ...why.quotes] }
}
