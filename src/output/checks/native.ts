// Test runners for Rust and C++: `cargo test`, `cargo nextest`, googletest, ctest and Catch2.

import { explainFailure, failuresOn, lastMatching, linesUntil, MAX_FAILURES } from "./failures.ts"
import { type CheckFailure, type CheckReader, type Counts, testRun } from "./report.ts"

export const cargoTest: CheckReader = {
  signature: /^(?:test result: (?:ok|FAILED)\.|error: test failed, to rerun)/m,
  read(lines) {
    const counts: Counts = {}
    let total: string | undefined
    for (const line of lines) {
      const found = /^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored/.exec(line)
      if (!found) continue
      counts.passed = (counts.passed ?? 0) + Number(found[2])
      counts.failed = (counts.failed ?? 0) + Number(found[3])
      counts.skipped = (counts.skipped ?? 0) + Number(found[4])
      if (!total || found[1] === "FAILED") total = line
    }
    const failures = failuresOn(lines, /^---- (.+?) stdout ----$/, ([, title = ""], at) =>
      toFailure(title, linesUntil(lines, at + 1, /^(?:---- |failures:|test result)/)),
    )
    if (failures.length === 0)
      failures.push(...failuresOn(lines, /^test (.+?)(?: - should panic)? \.\.\. FAILED$/, titled))
    const broken = (counts.failed ?? 0) > 0 || lines.some((text) => text.startsWith("error: test failed"))
    return testRun("cargo test", counts, failures, total, broken)
  },
}

export const nextest: CheckReader = {
  signature: /^ +Summary \[ *[\d.]+s\] +\d+/m,
  read(lines) {
    const total = lines.findLast((text) => /^ +Summary \[/.test(text))
    if (!total) return undefined
    const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(total)?.[1] ?? 0)
    const counts: Counts = { passed: number("passed"), failed: number("failed"), skipped: number("skipped") }
    const failures: CheckFailure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^ +(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[ *[\d.]+s\] +(?:\(\S+\) +)?\S+ (.+)$/.exec(line)?.[1]
      if (!title || failures.some((known) => known.title === title)) continue
      failures.push(toFailure(title, linesUntil(lines, at + 1, /^ +(?:PASS|FAIL|Summary|SIG\w+|TIMEOUT) \[/)))
    }
    return testRun("nextest", counts, failures, total)
  },
}

function toFailure(title: string, body: readonly string[]): CheckFailure {
  const at = body.findIndex((text) => / panicked at /.test(text))
  const why = explainFailure(at < 0 ? body : body.slice(at))
  // since Rust 1.73 the message follows on the line after the place
  const below = at >= 0 && !why.message?.startsWith("expected ") ? body[at + 1] : undefined
  const older = / panicked at '(.+)', \S+$/.exec(body[at] ?? "")?.[1]
  const message = older ?? below?.trim() ?? why.message
  return { ...why, title, ...(message ? { message } : {}) }
}

export const gtest: CheckReader = {
  signature: /^\[ {2}(?:PASSED|FAILED) {2}\] \d+ tests?/m,
  read(lines) {
    const number = (line: string | undefined) => Number(/(\d+) tests?/.exec(line ?? "")?.[1] ?? 0)
    const passed = lastMatching(lines, /^\[ {2}PASSED {2}\] \d+ test/)
    const failed = lastMatching(lines, /^\[ {2}FAILED {2}\] \d+ test/)
    const counts: Counts = { passed: number(passed), failed: number(failed) }
    const failures: CheckFailure[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      if (/^\[ RUN {6}\]/.test(line)) start = at + 1
      const title = /^\[ {2}FAILED {2}\] (\w[\w./]*)/.exec(line)?.[1]
      if (!title || /^\d+$/.test(title) || failures.length >= MAX_FAILURES) continue
      if (failures.some((known) => known.title === title)) continue
      const why = start > 0 ? explainFailure(gtestWords(lines.slice(Math.max(start, at - 40), at))) : {}
      failures.push({ ...why, title })
    }
    const total = failed ?? passed
    return total ? testRun("gtest", counts, failures, total, failed !== undefined) : undefined
  },
}

export const ctest: CheckReader = {
  signature: /^\d+% tests passed, \d+ tests failed out of \d+/m,
  read(lines) {
    const total = lastMatching(lines, /^\d+% tests passed/)
    const found = /(\d+) tests failed out of (\d+)/.exec(total ?? "")
    if (!total || !found) return undefined
    const failed = Number(found[1])
    const counts: Counts = { passed: Number(found[2]) - failed, failed }
    const heading = /^\s+\d+ - (\S.*?) \((?:Failed|Timeout|SEGFAULT|Not Run|Subprocess aborted|\w+)\)/
    const failures = failuresOn(lines, heading, titled)
    return testRun("ctest", counts, failures, total)
  },
}

export const catch2: CheckReader = {
  signature: /^(?:test cases: +\d+ \||All tests passed \(\d+ assertions?)/m,
  read(lines) {
    const total = lastMatching(lines, /^test cases: +\d+|^All tests passed \(/)
    if (!total) return undefined
    const failed = Number(/(\d+) failed/.exec(total)?.[1] ?? 0)
    const passed = Number(/(\d+) passed/.exec(total)?.[1] ?? /in (\d+) test cases?/.exec(total)?.[1] ?? 0)
    const failures = failuresOn(lines, /^(\S+?)[:(](\d+)\)?: FAILED:$/, ([, file = "", line], at) => {
      const below = lines[at + 1]
      return below === undefined ? undefined : { title: "", message: below.trim(), file, line: Number(line) }
    })
    return testRun("catch2", { passed, failed }, failures, total)
  },
}

const titled = ([, title = ""]: readonly string[]): CheckFailure => ({ title })

/** googletest prints `Which is: 401` where others print `Actual: 401`. */
function gtestWords(region: readonly string[]): string[] {
  return region.map((line) => {
    const actual = /^ +Which is: (.+)$/.exec(line)?.[1]
    const expected = /^Expected equality of these values:$/.test(line)
    return actual ? `actual: ${actual}` : expected ? "assertion failed" : line
  })
}
