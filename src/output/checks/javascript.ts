// Test runners for JavaScript: jest, vitest, bun, mocha, playwright, and node:test with any other producer of TAP.

import {
  countsIn,
  explainFailure,
  failuresOn,
  lastMatching,
  linesUntil,
  MAX_FAILURES,
  sourcePlaceIn,
  titledFailures,
} from "./failures.ts"
import { type CheckFailure, type CheckReader, type Counts, testRun } from "./report.ts"

export const jest: CheckReader = {
  signature: /^(?:Tests|Test Suites): +.*\btotal$/m,
  read(lines) {
    const total = lastMatching(lines, /^Tests: +.*total$/) ?? lastMatching(lines, /^Test Suites: /)
    const suites = lastMatching(lines, /^Test Suites: /)
    if (!total) return undefined
    const counts = countsIn(total)
    const failures = titledFailures(lines, /^\s*● (?!Console$)(.+)$/, /^(?:\s*● |Test Suites: |Tests: |(?:PASS|FAIL) )/)
    const broken = /\bfailed\b/.test(suites ?? "") || (counts.failed ?? 0) > 0
    return testRun("jest", counts, failures, total, broken)
  },
}

export const vitest: CheckReader = {
  signature: /^ *(?:Test Files|Tests|Type Errors) {2,}(?:\d|no )/m,
  read(lines) {
    const files = lastMatching(lines, /^ *Test Files {2}/)
    const tests = lastMatching(lines, /^ *Tests {2}/)
    const total = tests ?? files
    if (!total) return undefined
    const errors = lastMatching(lines, /^ *Errors {2}\d+ error/)
    const counts = countsIn(tests ?? "")
    const stop = /^ *(?:FAIL {2}|Test Files {2}|⎯+(?:\[|$))/
    const failures = titledFailures(lines, /^ *FAIL {2}(?:\|\S+\| )?(.+)$/, stop).map(inFile)
    if (failures.length === 0) failures.push(...titledFailures(lines, /^ *[×✗] (.+?)(?: \d+ms)?$/, /^ *[×✗✓❯] /))
    const broken = Boolean(errors) || [files, tests].some((line) => /\d+ failed/.test(line ?? ""))
    return testRun("vitest", counts, failures, total, broken)
  },
}

export const bun: CheckReader = {
  signature: /^Ran \d+ tests? across \d+ files?/m,
  read(lines) {
    const total = lastMatching(lines, /^Ran \d+ tests? across/)
    const counts: Counts = {}
    for (const text of lines) {
      const found = /^ *(\d+) (pass|fail|skip|errors?)$/.exec(text)
      if (found?.[2] === "pass") counts.passed = Number(found[1])
      if (found?.[2] === "fail") counts.failed = Number(found[1])
      if (found?.[2] === "skip") counts.skipped = Number(found[1])
      if (found?.[2]?.startsWith("error")) counts.errors = Number(found[1])
    }
    // bun prints a test's error above the line that names the test
    const failures: CheckFailure[] = []
    let start = 0
    for (const [at, line] of lines.entries()) {
      const found = /^(?:\(fail\)|✗) (.+?)(?: \[[\d.]+ ?m?s\])?$/.exec(line)
      if (found?.[1] && failures.length < MAX_FAILURES && !failures.some(({ title }) => title === found[1])) {
        const why = explainFailure(lines.slice(Math.max(start, at - 60), at))
        failures.push({ ...why, title: found[1] })
      }
      if (/^(?:\((?:pass|fail|skip|todo)\)|[✓✗»]) |^\S+\.[jt]sx?:$/.test(line)) start = at + 1
    }
    return total ? testRun("bun test", counts, failures, total) : undefined
  },
}

export const mocha: CheckReader = {
  signature: /^ +\d+ (?:passing(?: \(|$)|failing$)/m,
  read(lines) {
    const counts: Counts = {}
    let total: string | undefined
    let totalAt = 0
    for (const [at, line] of lines.entries()) {
      const found = /^ +(\d+) (passing|failing|pending)\b/.exec(line)
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
    const failures = failuresOn(region, /^ +\d+\) (.+)$/, ([, heading = ""], at) => {
      const names = [heading]
      let next = at + 1
      for (; next < Math.min(region.length, at + 6) && !/:$/.test(names.at(-1) ?? ""); next++) {
        const name = region[next]?.trim()
        if (!name) break
        names.push(name)
      }
      const why = explainFailure(linesUntil(region, next, /^ +\d+\) /))
      return { ...why, title: names.join(" > ").replace(/:$/, "") }
    })
    return total ? testRun("mocha", counts, failures, total) : undefined
  },
}

export const playwright: CheckReader = {
  signature: /^ +\d+ (?:passed(?: \([\d.]+m?s?.*\))?|failed|flaky|did not run|interrupted)$/m,
  read(lines) {
    const counts: Counts = {}
    let total: string | undefined
    for (const line of lines) {
      const found = /^ +(\d+) (passed|failed|flaky|skipped|interrupted)\b/.exec(line)
      if (!found) continue
      if (found[2] === "passed") counts.passed = Number(found[1])
      if (found[2] === "failed" || found[2] === "interrupted") counts.failed = (counts.failed ?? 0) + Number(found[1])
      if (found[2] === "skipped") counts.skipped = Number(found[1])
      if (!total || found[2] === "failed") total = line
    }
    const failures = titledFailures(lines, /^ +\d+\) (.+ › .+?)[ ─]*$/, /^ +\d+\) |^ +\d+ (?:passed|failed|flaky)/)
    return total ? testRun("playwright", counts, failures, total) : undefined
  },
}

/** vitest puts the file before the test's name, or in its place when the file itself does not load. */
function inFile(failure: CheckFailure): CheckFailure {
  const found = /^(\S+\.\w+)(?: > (.+)| \[ .+ \])?$/.exec(failure.title)
  if (!found?.[1]) return failure
  const here = failure.file?.endsWith(found[1]) ? {} : { file: found[1] }
  const { line: _, ...rest } = failure
  return { ...("file" in here ? rest : failure), ...here, title: found[2] ?? "" }
}

export const nodeTest: CheckReader = {
  signature: /^(?:[ℹ#] (?:pass|fail) +\d+|(?:not )?ok \d+\b)/m,
  read(lines) {
    const counts: Counts = {}
    let total = lines.findLast((text) => /^[ℹ#] (?:fail|pass) +\d+/.test(text))
    let [passed, failed] = [0, 0]
    for (const line of lines) {
      const found = /^[ℹ#] (pass|fail|cancelled|skipped) +(\d+)/.exec(line)
      if (found?.[1] === "pass") counts.passed = Number(found[2])
      if (found?.[1] === "fail" || found?.[1] === "cancelled") counts.failed = (counts.failed ?? 0) + Number(found[2])
      if (found?.[1] === "skipped") counts.skipped = Number(found[2])
      if (found?.[1] === "fail") total = line
      if (/^ok \d+/.test(line)) passed++
      if (/^not ok \d+(?!.*# (?:TODO|SKIP))/.test(line)) failed++
    }
    const summarised = counts.passed !== undefined || counts.failed !== undefined
    // without a summary it takes two results, or a TAP plan, to be sure that this is no prose
    if (!summarised && passed + failed < 2 && !lines.some((text) => /^1\.\.\d+|^TAP version/.test(text))) {
      return undefined
    }
    if (!summarised) Object.assign(counts, { passed, failed })
    const failures: CheckFailure[] = []
    const detail = lines.findIndex((text) => /^✖ failing tests:/.test(text))
    for (let at = Math.max(0, detail + 1); at < lines.length && failures.length < MAX_FAILURES; at++) {
      const line = lines[at]
      const found = /^(\s*)(?:✖|not ok \d+(?: -)?) (.+?)(?: \([\d.]+ms\))?$/.exec(line ?? "")
      if (!line || !found?.[2] || /# (?:TODO|SKIP)/.test(found[2])) continue
      const body = linesUntil(lines, at + 1, /^\s*(?:✖|✔|(?:not )?ok \d+|# Subtest|test at|ℹ) /)
      // a suite that failed because of its tests, which are reported themselves
      if (body.some((text) => /subtestsFailed|\d+ subtests? failed/.test(text))) continue
      const why = explainTap(body)
      const place = /^test at (.+):(\d+):\d+$/.exec(lines[at - 1] ?? "")
      const file = place?.[1] ? { file: place[1], line: Number(place[2]) } : {}
      failures.push({ ...why, ...file, title: found[2] })
    }
    return testRun("node:test", counts, failures, total)
  },
}

/** TAP gives the reason in YAML: `error: '…'` and `location: '…'`. */
function explainTap(body: readonly string[]): ReturnType<typeof explainFailure> {
  const error = body.find((text) => /^\s*error: ./.test(text))
  if (!error) return explainFailure(body)
  const at = body.find((text) => /^\s*location: /.test(text))
  const place = sourcePlaceIn(at?.replace(/^\s*location: ['"]?/, "") ?? "")
  const reason = error.replace(/^\s*error: ['"]?/, "").replace(/['"]$/, "")
  // in a block scalar the text begins on the line below
  const block = /^[|>]-?$/.test(reason)
  const next = block ? body.slice(body.indexOf(error) + 1).find((text) => text.trim() !== "") : undefined
  const values = block ? explainFailure(body.slice(body.indexOf(error) + 1)).message : undefined
  return { ...explainFailure(body), message: values ?? next?.trim() ?? reason, ...place }
}
