// Test runs on the JVM (surefire, gradle, JUnit's console) and with `dotnet test`.

import { explainFailure, failuresOn, lastMatching, linesUntil, MAX_FAILURES, titledFailures } from "./failures.ts"
import { type CheckFailure, type CheckReader, type Counts, testRun } from "./report.ts"

const SUREFIRE_TOTAL =
  /^(?:\[\w+\] +)?Tests run: +(\d+), +Failures: +(\d+)(?:, +Errors: +(\d+))?(?:, +Skipped: +(\d+))?\s*$/

export const surefire: CheckReader = {
  signature: /^(?:\[\w+\] +)?Tests run: +\d+, +Failures: +\d+/m,
  read(lines) {
    const total = lastMatching(lines, SUREFIRE_TOTAL) ?? lastMatching(lines, /Tests run: +\d+, +Failures: +\d+/)
    const found = /Tests run: +(\d+), +Failures: +(\d+)(?:, +Errors: +(\d+))?(?:, +Skipped: +(\d+))?/.exec(total ?? "")
    if (!total || !found) return undefined
    const failed = Number(found[2]) + Number(found[3] ?? 0)
    const skipped = Number(found[4] ?? 0)
    const counts: Counts = { failed, passed: Math.max(0, Number(found[1]) - failed - skipped), skipped }
    const failures: CheckFailure[] = []
    for (const [at, line] of lines.entries()) {
      if (failures.length >= MAX_FAILURES) break
      // the summary: `[ERROR]   LoginTest.rejects:42 expected: <200> but was: <401>`
      const brief = /^\[ERROR\] {2,}([\w$]+)\.([\w$[\]]+):(?:[\w$]+:)?(\d+) (.+)$/.exec(line)
      if (brief?.[1] && brief[2] && brief[4]) {
        const place = { file: `${brief[1]}.java`, line: Number(brief[3]) }
        failures.push({ title: brief[2], message: brief[4].replace(/^» /, ""), ...place })
      }
      const junit4 = /^\d+\) (\w+)\(([\w.]+)\)$/.exec(line)
      if (junit4?.[1]) failures.push(toFailure(`${junit4[2]}.${junit4[1]}`, lines, at))
    }
    if (failures.length === 0)
      failures.push(
        ...failuresOn(
          lines,
          /^(?:\[ERROR\] +)?([\w.$]+\.[\w$]+|[\w$]+\([\w.$]+\)) .*<<< (?:FAILURE|ERROR)!/,
          ([, title = ""], at) => toFailure(title, lines, at),
        ),
      )
    return testRun("surefire", counts, failures, total)
  },
}

export const gradleTest: CheckReader = {
  signature: /^(?:\d+ tests? completed, \d+ failed|.+ > .+ FAILED$|> There were failing tests)/m,
  read(lines) {
    const total = lastMatching(lines, /^\d+ tests? completed/) ?? lastMatching(lines, /^> There were failing tests/)
    const found = /^(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?/.exec(total ?? "")
    const failures = failuresOn(lines, /^(.+ > .+?) FAILED$/, ([, title = ""], at) => toFailure(title, lines, at))
    const failed = found ? Number(found[2]) : failures.length
    if (failed === 0) return undefined
    const skipped = Number(found?.[3] ?? 0)
    const counts: Counts = { failed, ...(found ? { passed: Number(found[1]) - failed - skipped, skipped } : {}) }
    return testRun("gradle test", counts, failures, total)
  },
}

export const junitConsole: CheckReader = {
  signature: /^\[ +\d+ tests (?:successful|failed) +\]$/m,
  read(lines) {
    const number = (word: string) =>
      Number(/\d+/.exec(lastMatching(lines, new RegExp(`\\d+ tests ${word} `)) ?? "")?.[0] ?? 0)
    const counts: Counts = { passed: number("successful"), failed: number("failed"), skipped: number("skipped") }
    const total = lastMatching(lines, counts.failed ? /tests failed +\]$/ : /tests successful +\]$/)
    const failures = failuresOn(lines, /^ +JUnit \w+:(.+)$/, ([, title = ""], at) =>
      toFailure(title.replace(/^.+:/, ""), lines, at),
    )
    return total ? testRun("junit", counts, failures, total) : undefined
  },
}

function toFailure(title: string, lines: readonly string[], at: number): CheckFailure {
  const why = explainFailure(
    linesUntil(lines, at + 1, /^$|^\d+\) |FAILED$|<<< (?:FAILURE|ERROR)!|^\[(?:INFO|ERROR)\] *$/),
  )
  // without the package of the exception and the name of the assertion error
  const message = why.message
    ?.replace(/^(?:=> )?(?:[\w$]+\.)+(?=[A-Z])/, "")
    .replace(/^\w*(?:Assert|Comparison)\w*: /, "")
  return { ...why, title, ...(message ? { message } : {}) }
}

export const dotnetTest: CheckReader = {
  signature:
    /^(?:(?:Passed|Failed)! +- Failed: +\d+|Total tests: \d+|Test summary: total: \d+|Test Run (?:Successful|Failed)\.)/m,
  read(lines) {
    const counts: Counts = {}
    let total: string | undefined
    for (const line of lines) {
      const modern = /^(?:Passed|Failed)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+)/.exec(line)
      const newest = /^Test summary: total: \d+, failed: (\d+), succeeded: (\d+), skipped: (\d+)/.exec(line)
      const older = /^ +(Passed|Failed|Skipped): (\d+)$/.exec(line)
      const found = modern ?? newest
      if (found) {
        counts.failed = (counts.failed ?? 0) + Number(found[1])
        counts.passed = (counts.passed ?? 0) + Number(found[2])
        counts.skipped = (counts.skipped ?? 0) + Number(found[3])
        if (!total || Number(found[1]) > 0) total = line
      }
      if (older?.[1] === "Failed") counts.failed = Number(older[2])
      if (older?.[1] === "Passed") counts.passed = Number(older[2])
      if (older || /^(?:Total tests: |Test Run )/.test(line)) total ??= line
    }
    const heading = /^ +(?:Failed|X) (\S.+?)(?: \[[\d.<]+ ?\w+\])?$/
    const failures = titledFailures(
      lines,
      heading,
      /^ +(?:Failed|Passed|Skipped|X|V) \S|^(?:Failed!|Passed!|Total tests)/,
    )
    const failed = Boolean(counts.failed) || total?.startsWith("Test Run Failed")
    return total ? testRun("dotnet test", counts, failures, total, failed) : undefined
  },
}
