// Test runners for Python, Ruby, PHP, and others that end with one line of totals.

import {
  countsIn,
  explainFailure,
  failuresOn,
  lastMatching,
  linesUntil,
  sourcePlaceIn,
  titledFailures,
} from "./failures.ts"
import { type CheckReader, type Counts, testRun } from "./report.ts"

const PYTEST_TOTAL = /^=*\s?(?:\d+ \w+(?:, )?)+ in [\d.]+ ?s\b.*$|^=*\s?no tests ran in /

export const pytest: CheckReader = {
  signature: /(?:passed|failed|errors?|skipped|deselected|warnings?|no tests ran).* in [\d.]+ ?s\b/m,
  read(lines) {
    const total = lastMatching(lines, PYTEST_TOTAL)
    if (!total) return undefined
    const counts = countsIn(total)
    const heading = /^(?:FAILED|ERROR) (\S+?\.py)(?:::(\S.*?))?(?: - (.+))?$/
    const failures = failuresOn(lines, heading, ([, file = "", title = "", why]) => {
      const line = title === "" ? undefined : placeOf(lines, title.replace(/^.*::/, "").replace(/\[.*$/, ""), file)
      const message = why?.replace(/^AssertionError: /, "")
      return { title, file, ...(message ? { message } : {}), ...(line ? { line } : {}) }
    })
    if (failures.length === 0)
      failures.push(...titledFailures(lines, /^_{3,} (?:ERROR \w+ )?(.+?) _{3,}$/, /^(?:_{3,} |={3,})/))
    return testRun("pytest", counts, failures, total)
  },
}

export const unittest: CheckReader = {
  signature: /^Ran \d+ tests? in [\d.]+s/m,
  read(lines) {
    const ran = lastMatching(lines, /^Ran \d+ tests? in/)
    const total = lastMatching(lines, /^(?:OK|FAILED|NO TESTS RAN)\b/) ?? ran
    if (!ran || !total) return undefined
    const failed = [...total.matchAll(/(?:failures|errors)=(\d+)/g)].reduce((sum, found) => sum + Number(found[1]), 0)
    const skipped = Number(/skipped=(\d+)/.exec(total)?.[1] ?? 0)
    const passed = Math.max(0, Number(/\d+/.exec(ran)?.[0] ?? 0) - failed - skipped)
    const counts: Counts = { passed, failed, skipped }
    const failures = failuresOn(lines, /^(?:FAIL|ERROR): (\S+)/, ([, title = ""], at) => {
      const body = linesUntil(lines, at + 1, /^(?:={20,}|Ran \d+ tests?|(?:FAIL|ERROR): )/)
      // a traceback ends with the error; its last frame is the place
      const error = body.findLast((text) => /^[\w.]+(?:Error|Exception|Warning|Exit|Interrupt)\b/.test(text))
      const place = body.flatMap((text) => sourcePlaceIn(text) ?? []).at(-1)
      return { ...explainFailure(error ? [error] : body), ...place, title }
    })
    return testRun("unittest", counts, failures, total, total.startsWith("FAILED"))
  },
}

/** The line of the test file where a pytest failure was raised: the last one given under the test's heading. */
function placeOf(lines: readonly string[], test: string, file: string): number | undefined {
  const at = lines.findIndex((text) => text.startsWith("___") && text.includes(test))
  if (at < 0) return undefined
  const body = linesUntil(lines, at + 1, /^(?:_{3,} |={3,})/)
  const places = body.flatMap((text) => sourcePlaceIn(text) ?? [])
  return places.findLast((place) => place.file.endsWith(file) || file.endsWith(place.file))?.line
}

export const rspec: CheckReader = {
  signature: /^\d+ examples?, \d+ failures?/m,
  read(lines) {
    const total = lastMatching(lines, /^\d+ examples?, \d+ failures?/)
    const found = /^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred)?/.exec(total ?? "")
    if (!total || !found) return undefined
    const [failed, skipped, errors] = [Number(found[2]), Number(found[3] ?? 0), Number(found[4] ?? 0)]
    const counts: Counts = {
      passed: Number(found[1]) - failed - skipped,
      failed,
      skipped,
      ...(errors ? { errors } : {}),
    }
    const stop = /^ {2}\d+\) |^(?:Finished in|Failed examples:)/
    const failures = titledFailures(lines, /^ {2}\d+\) (?!Failure:|Error:)(.+)$/, stop)
    if (failures.length === 0)
      failures.push(...titledFailures(lines, /^(An error occurred while loading .+?)\.?$/, stop))
    return testRun("rspec", counts, failures, total)
  },
}

export const minitest: CheckReader = {
  signature: /^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors/m,
  read(lines) {
    const total = lastMatching(lines, /^\d+ (?:runs|tests), \d+ assertions/)
    const found = /^(\d+) \w+, \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?/.exec(total ?? "")
    if (!total || !found) return undefined
    const failed = Number(found[2]) + Number(found[3])
    const skipped = Number(found[4] ?? 0)
    const counts: Counts = { passed: Number(found[1]) - failed - skipped, failed, skipped }
    const heading = /^((?:\w+::)*\w+#\w+)(?: \[\S+\])?:$/
    const failures = titledFailures(lines, heading, /^ *\d+\) |^\d+ (?:runs|tests), |^bin\/rails test/).map(
      (failure) => {
        const place = /\[(\S+):(\d+)\]:$/.exec(lines.find((text) => text.startsWith(failure.title)) ?? "")
        return place?.[1] ? { ...failure, file: place[1], line: Number(place[2]) } : failure
      },
    )
    return testRun("minitest", counts, failures, total)
  },
}

export const phpunit: CheckReader = {
  signature: /^(?:OK \(\d+ tests?, \d+ assertions?\)|Tests: \d+, Assertions: \d+|No tests executed!)/m,
  read(lines) {
    const total = lastMatching(lines, /^(?:OK \(|Tests: \d+, Assertions|No tests executed)/)
    if (!total) return undefined
    const number = (word: string) => Number(new RegExp(`${word}: (\\d+)`).exec(total)?.[1] ?? 0)
    const failed = number("Failures") + number("Errors")
    const skipped = number("Skipped") + number("Incomplete")
    const ran = Number(/^(?:OK \(|Tests: )(\d+)/.exec(total)?.[1] ?? 0)
    const counts: Counts = { passed: Math.max(0, ran - failed - skipped), failed, skipped }
    const failures = failed ? titledFailures(lines, /^\d+\) (\S+::.+)$/, /^\d+\) |^--$|^(?:FAILURES|ERRORS)!/) : []
    return testRun("phpunit", counts, failures, total)
  },
}

export const pest: CheckReader = {
  signature: /^ +Tests: +(?:\d+ \w+(?:, )?)+ \(\d+ assertions?\)/m,
  read(lines) {
    const total = lastMatching(lines, /^ +Tests: +\d+ /)
    if (!total) return undefined
    const counts = countsIn(total)
    const failures = titledFailures(lines, /^ +FAILED +(.+?)(?: {2,}.*)?$/, /^ +(?:FAILED +|Tests: +)/)
    return testRun("pest", counts, failures, total, Boolean(counts.failed))
  },
}

/** ExUnit, bats, and others that end in `13 tests, 1 failure`. */
export const countedTests: CheckReader = {
  signature: /^(?:\d+ doctests?, )?\d+ tests, \d+ failures?\b(?!.*assertions)/m,
  read(lines) {
    const total = lastMatching(lines, /^(?:\d+ doctests?, )?\d+ tests, \d+ failures?/)
    const found = /(\d+) tests, (\d+) failures?(?:, (\d+) skipped)?/.exec(total ?? "")
    if (!total || !found) return undefined
    const [failed, skipped] = [Number(found[2]), Number(found[3] ?? 0)]
    const counts: Counts = { passed: Math.max(0, Number(found[1]) - failed - skipped), failed, skipped }
    const failures = titledFailures(lines, /^ +(?:\d+\)|✗) (.+)$/, /^ +(?:\d+\)|[✗✓]) |^Finished in/)
    return testRun("tests", counts, failures, total)
  },
}

/** Deno, Swift's XCTest and Flutter, each with its own line of totals. */
export const otherRunners: CheckReader = {
  signature:
    /^(?:(?:ok|FAILED) \| \d+ passed|\s*Executed \d+ tests?, with \d+ failures?|\d\d:\d\d \+\d+.*: (?:All tests passed!|Some tests failed\.))/m,
  read(lines) {
    const total = lastMatching(
      lines,
      /^(?:ok|FAILED) \| \d+ passed|Executed \d+ tests?, with|: (?:All tests passed!|Some tests failed\.)$/,
    )
    if (!total) return undefined
    const swift = /Executed (\d+) tests?, with (\d+) failures?/.exec(total)
    const dart = /^\d\d:\d\d \+(\d+)(?: ~\d+)?(?: -(\d+))?/.exec(total)
    const counts: Counts = swift
      ? { passed: Number(swift[1]) - Number(swift[2]), failed: Number(swift[2]) }
      : dart
        ? { passed: Number(dart[1]), failed: Number(dart[2] ?? 0) }
        : countsIn(total)
    const failures = titledFailures(
      lines,
      /^(.+?) (?:=> \S+|\.\.\. FAILED.*|\[E\])$/,
      /^(?:FAILURES|ok|FAILED) |\.\.\. (?:ok|FAILED)|^\d\d:\d\d \+/,
    )
    for (const line of swift ? lines : []) {
      const found = /^(\S+):(\d+): error: (?:-\[)?([\w.]+[ .]\w+)\]? : (.+)$/.exec(line)
      if (!found?.[1] || !found[3] || failures.length > 9) continue
      failures.push({ title: found[3], ...explainFailure([line]), file: found[1], line: Number(found[2]) })
    }
    const name = swift ? "swift test" : dart ? "flutter test" : "deno test"
    return testRun(name, counts, failures, total, Boolean(counts.failed) || total.startsWith("FAILED"))
  },
}
