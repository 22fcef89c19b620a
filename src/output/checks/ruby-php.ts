// rspec, minitest, phpunit and pest: numbered failures first, one line of totals last.

import { explain } from "./explain.ts"
import type { Check, Counts } from "./report.ts"
import { countsIn, last, titled } from "./sections.ts"

export const rspec: Check = {
  sign: /^\d+ examples?, \d+ failures?/m,
  read(lines) {
    const total = last(lines, /^\d+ examples?, \d+ failures?/)
    const found = /^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred)?/.exec(
      total?.text ?? "",
    )
    if (!total || !found) return undefined
    const [failed, skipped, errors] = [Number(found[2]), Number(found[3] ?? 0), Number(found[4] ?? 0)]
    const counts: Counts = {
      passed: Number(found[1]) - failed - skipped,
      failed,
      skipped,
      ...(errors ? { errors } : {}),
    }
    const stop = /^ {2}\d+\) |^(?:Finished in|Failed examples:)/
    const failures = titled(lines, /^ {2}\d+\) (?!Failure:|Error:)(.+)$/, stop)
    if (failures.length === 0) failures.push(...titled(lines, /^(An error occurred while loading .+?)\.?$/, stop))
    const verdict = failed + errors > 0 ? "fail" : "pass"
    return { name: "rspec", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

export const minitest: Check = {
  sign: /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/m,
  read(lines) {
    const total = last(lines, /^\d+ (?:runs|tests), \d+ assertions/)
    const found = /^(\d+) \w+, \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?/.exec(total?.text ?? "")
    if (!total || !found) return undefined
    const failed = Number(found[2]) + Number(found[3])
    const skipped = Number(found[4] ?? 0)
    const counts: Counts = { passed: Number(found[1]) - failed - skipped, failed, skipped }
    const heading = /^((?:\w+::)*\w+#\w+)(?: \[\S+\])?:$/
    const failures = titled(lines, heading, /^ *\d+\) |^\d+ (?:runs|tests), |^bin\/rails test/).map((failure) => {
      const place = /\[(\S+):(\d+)\]:$/.exec(failure.quotes[0]?.text ?? "")
      return place?.[1] ? { ...failure, file: place[1], line: Number(place[2]) } : failure
    })
    return { name: "minitest", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const phpunit: Check = {
  sign: /^(?:OK \(\d+ tests?, \d+ assertions?\)|Tests: \d+, Assertions: \d+|No tests executed!)/m,
  read(lines) {
    const total = last(lines, /^(?:OK \(|Tests: \d+, Assertions|No tests executed)/)
    if (!total) return undefined
    const number = (word: string) => Number(new RegExp(`${word}: (\\d+)`).exec(total.text)?.[1] ?? 0)
    const failed = number("Failures") + number("Errors")
    const skipped = number("Skipped") + number("Incomplete")
    const ran = Number(/^(?:OK \(|Tests: )(\d+)/.exec(total.text)?.[1] ?? 0)
    const counts: Counts = { passed: Math.max(0, ran - failed - skipped), failed, skipped }
    const failures = failed ? titled(lines, /^\d+\) (\S+::.+)$/, /^\d+\) |^--$|^(?:FAILURES|ERRORS)!/) : []
    return { name: "phpunit", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const pest: Check = {
  sign: /^ +Tests: +(?:\d+ \w+(?:, )?)+ \(\d+ assertions?\)/m,
  read(lines) {
    const total = last(lines, /^ +Tests: +\d+ /)
    if (!total) return undefined
    const counts = countsIn(total.text)
    const failures = titled(lines, /^ +FAILED +(.+?)(?: {2,}.*)?$/, /^ +(?:FAILED +|Tests: +)/)
    const verdict = counts.failed ? "fail" : "pass"
    return { name: "pest", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

/** ExUnit, bats, and others that end in `13 tests, 1 failure`. */
export const countedTests: Check = {
  sign: /^(?:\d+ doctests?, )?\d+ tests, \d+ failures?\b(?!.*assertions)/m,
  read(lines) {
    const total = last(lines, /^(?:\d+ doctests?, )?\d+ tests, \d+ failures?/)
    const found = /(\d+) tests, (\d+) failures?(?:, (\d+) skipped)?/.exec(total?.text ?? "")
    if (!total || !found) return undefined
    const [failed, skipped] = [Number(found[2]), Number(found[3] ?? 0)]
    const counts: Counts = { passed: Math.max(0, Number(found[1]) - failed - skipped), failed, skipped }
    const failures = titled(lines, /^ +(?:\d+\)|✗) (.+)$/, /^ +(?:\d+\)|[✗✓]) |^Finished in/)
    return { name: "tests", kind: "tests", verdict: failed ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

/** Deno, Swift's XCTest and Flutter, each with its own line of totals. */
export const otherRunners: Check = {
  sign: /^(?:(?:ok|FAILED) \| \d+ passed|\s*Executed \d+ tests?, with \d+ failures?|\d\d:\d\d \+\d+.*: (?:All tests passed!|Some tests failed\.))/m,
  read(lines) {
    const total = last(
      lines,
      /^(?:ok|FAILED) \| \d+ passed|Executed \d+ tests?, with|: (?:All tests passed!|Some tests failed\.)$/,
    )
    if (!total) return undefined
    const { text } = total
    const swift = /Executed (\d+) tests?, with (\d+) failures?/.exec(text)
    const dart = /^\d\d:\d\d \+(\d+)(?: ~\d+)?(?: -(\d+))?/.exec(text)
    const counts: Counts = swift
      ? { passed: Number(swift[1]) - Number(swift[2]), failed: Number(swift[2]) }
      : dart
        ? { passed: Number(dart[1]), failed: Number(dart[2] ?? 0) }
        : countsIn(text)
    const failures = titled(
      lines,
      /^(.+?) (?:=> \S+|\.\.\. FAILED.*|\[E\])$/,
      /^(?:FAILURES|ok|FAILED) |\.\.\. (?:ok|FAILED)|^\d\d:\d\d \+/,
    )
    for (const line of swift ? lines : []) {
      const found = /^(\S+):(\d+): error: (?:-\[)?([\w.]+[ .]\w+)\]? : (.+)$/.exec(line.text)
      if (!found?.[1] || !found[3] || failures.length > 9) continue
      failures.push({ title: found[3], ...explain([line]), file: found[1], line: Number(found[2]), quotes: [line] })
    }
    const verdict = counts.failed || /^FAILED/.test(text) ? "fail" : "pass"
    const name = swift ? "swift test" : dart ? "flutter test" : "deno test"
    return { name, kind: "tests", verdict, sure: true, counts, failures, total }
  },
}
