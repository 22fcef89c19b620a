// Test runs: the lines in which runners state their totals and head their failures, and one way to read both. Nothing here
// depends on which runner it was.

import { explainFailure } from "./explain.ts"
import { anyOf, type CheckFailure, type CheckReport, type Counts } from "./report.ts"

/** Totals. Only a test runner prints such lines; several of them add up. */
const TOTALS = anyOf("gm", [
  // jest, vitest, pest and PHPUnit
  /^(?:Tests: +.*total| *(?:Tests|Type Errors) {2}.*(?:\d|no tests).*| +Tests: +\d+ \w+.* \(\d+ assertions?\)|Tests: \d+, Assertions: .*)$/,
  /^(?:OK \(\d+ tests?, \d+ assertions?\)|No tests executed!)$/,
  // bun, mocha, ava and playwright (whose last totals, below the names of what failed, are no pass)
  /^ *\d+ pass$(?:\n.*){1,8}?\nRan \d+ tests? across \d+ files?|^Bailed out after \d+ failures?$|^(?: \d+ pass\n(?: \d+ (?:skip|todo)\n)*)? \d+ fail$/,
  /^ +\d+ passing(?: \(.*)?(?:\n +\d+ (?:failing|pending))*$/,
  /^ +\d+ (?:(?:tests? )?failed|interrupted|(?:passed \([\d.]+m?s?.*\)|tests? passed|skipped)(?<=^ *─?\n(?: +\d+ .*\n){0,3}.*))$/,
  // node:test, and TAP without a summary
  /^[ℹ#] tests \d+(?:\n[ℹ#] \w+ [\d.]+)+|^1\.\.\d+$/,
  // pytest, unittest
  /^=* ?(?:\d+ (?:passed|failed|errors?|skipped|xpassed|xfailed|deselected|warnings?|rerun|subtests \w+)(?:, | (?=in )))+in [\d.]+ ?s\b.*$/,
  /^=* ?no tests ran in .*$/,
  /^Ran \d+ tests? in [\d.]+s(?:\n+(?:OK|FAILED|NO TESTS RAN).*)?$/,
  // go, cargo, nextest
  /^(?:ok {1,2}\t|FAIL\t\S|DONE \d).*$/,
  /^(?:test result: .*| +Summary \[ *[\d.]+s\] +\d+.*)$/,
  // surefire, gradle, JUnit's console, sbt, dotnet
  /^(?:\[\w+\] +)?Tests run: +\d+, +Failures: +\d+(?!.*elapsed).*$/,
  /^(?:\d+ tests? completed, \d+ failed.*|> There were failing tests.*|\[ +\d+ tests (?:successful|failed|skipped) +\])$/,
  /^(?:Tests: succeeded \d+, failed .*|(?:Passed|Failed|Error): Total \d+, Failed .*)$/,
  /^(?:(?:Passed|Failed)! +- Failed: .*|Test summary: total: .*|Total tests: \d+(?:\n +\w+: \d+)*)$/,
  // rspec, jasmine, minitest, ExUnit
  /^(?:\d+ (?:doctests?|propert(?:y|ies)), )*\d+ (?:examples?|specs?|(?:runs|tests), \d+ assertions|tests?), \d+ failures?.*$/,
  // gtest, ctest, Catch2
  /^\[ {2}(?:PASSED|FAILED) {2}\] \d+ tests?/,
  /^(?:\d+% tests passed, \d+ tests? failed out of \d+|test cases: +\d+ \|.*|All tests passed \(\d+ assertions?.*)$/,
  // deno, prove, swift, flutter
  /^(?:(?:ok|FAILED) \| \d+ passed.*|Result: (?:PASS|FAIL)(?<=^Files=.*\n.*))$/,
  /^(?:Test Suite '(?:All|Selected) tests' .*\n\s*Executed \d+ tests?, with .*|✔ Test run with \d+ tests?.* passed after .*)$/,
  /^(?:\d\d:\d\d \+\d+.*: (?:All tests passed!|Some tests failed\.))$/,
])

/** The total of a test program of Go. Anybody may print these words, so other lines must show that it was one. */
const GO_TOTAL = /^(?:PASS|FAIL|--- FAIL: \S+ \(\d.*)$/gm
const GO_TEST = /^(?:=== RUN|[ \t]*--- (?:PASS|FAIL): |ok {1,2}\t|FAIL\t|panic: |fatal error: |exit status \d)/m

/** What says that a run failed where the totals do not. */
const BROKEN =
  /^(?:=* ?(?:no tests ran|\d+ deselected) in |NO TESTS RAN|Test Suites: .*\bfailed\b| *Test Files {2}.*\d failed| *Errors {2}\d+ error|not ok \d+(?!.*# (?:TODO|SKIP))|[ \t]*--- FAIL: |error: test failed|> There were failing tests|Test Run Failed|\S+\.py:\d+: KeyboardInterrupt$|Result: FAIL$(?<=^Files=.*\n.*)|\d\d:\d\d .*: Some tests failed\.$)/m

/**
 * The headings of failures, with the groups `title`, and if the heading says so, `file`, `line` and `message`. Where there is a
 * group `end`, the reason stands above. The first pattern that matches is used.
 */
const HEADINGS: readonly RegExp[] = [
  // vitest, bun
  /^ *FAIL {2}(?:\|\S+\| )?(?<file>\S+\.\w+)(?: > (?<title>.+)| \[ .+ \])?$/gm,
  /^(?<end>\(fail\)) (?<title>.+?)(?: \[[\d.]+ ?m?s\])?$(?:\n +\^ (?<message>.+))?/gm,
  // node:test
  /^test at (?<file>.+):(?<line>\d+):\d+\n✖ (?<title>.+?)(?: \([\d.]+ms\))?$/gm,
  // pytest, unittest
  /^_{3,} (?!coverage: )(?:ERROR \w+ )?(?<title>\S.*?) _{3,}$/gm,
  /^(?:FAILED|ERROR) (?<file>\S+?\.py)(?:::(?<title>\S.*?))?(?: - (?<message>.+))?$/gm,
  /^(?:FAIL|ERROR): (?<title>\S+) \(.*/gm,
  /^(?<file>\S+\.py):(?<line>\d+): (?<message>KeyboardInterrupt)$/gm,
  // go, cargo, nextest
  /^[ \t]*(?:--- FAIL:|=== FAIL: \S+) (?<title>\S+)/gm,
  /^(?<message>(?:panic|fatal error): .+)$/gm,
  /^---- (?<title>.+?) stdout ----$/gm,
  /^test (?<title>.+?) \.\.\. FAILED$/gm,
  /^ +(?:FAIL|TIMEOUT|SIG\w+) \[ *[\d.]+s\] +(?:\(\S+\) +)?\S+ (?<title>.+)$/gm,
  // surefire, gradle, JUnit's console, dotnet
  /^(?:\[ERROR\] +)?(?:[\w$\u00c0-\uffff]+\.)*(?<title>[\w$\u00c0-\uffff]+\.[\w$\u00c0-\uffff]+|[\w$\u00c0-\uffff]+\([\w.$\u00c0-\uffff]+\)) .*<<< (?:FAILURE|ERROR)!/gm,
  /^(?<title>[^>\n]+ > .+?) FAILED$/gm,
  /^ +JUnit \w+:(?:.+:)?(?<title>.+)$/gm,
  /^ +(?:Failed|X) (?<title>\S.+?) \[(?:< )?[\d.<]+ ?\w+\]$/gm,
  // sbt
  /^(?:==> X|-) (?<title>\S.*?) {1,3}(?:[\d.]+s (?<message>\S*(?:Exception|Error)\b.*)|\*\*\* FAILED \*\*\*)$/gm,
  // gtest, ctest, Catch2
  /^(?<end>\[ {2}FAILED {2}\]) (?<title>[\w\u00c0-\uffff]+\.[\w./\u00c0-\uffff]+)/gm,
  /^ *\d+\/\d+ Test +#\d+: (?<title>\S+) \.*[\w ]*\*\*\*(?:Failed\b.*|(?<message>.*?\w) +[\d.]+ sec|.*)$/gm,
  /^(?<file>\S+?)[:(](?<line>\d+)\)?: FAILED:$/gm,
  // mocha, jest, minitest, and others that number their failures: rspec, PHPUnit, playwright, ExUnit
  /^ +\d+\) (?<title>\S.*(?:\n {7,}\S.*){1,5}?):$/gm,
  /^[ \t]*● (?!Console$)(?<title>.+)$/gm,
  /^(?<title>(?:\w+::)*\w+#\w+)(?: \[(?<file>\S+):(?<line>\d+)\])?:$/gm,
  /^ *\d+\) (?<title>\S.*?):?$/gm,
  // pest, deno, swift, flutter, rspec and bun before any test
  /^ +FAILED +(?<title>.+?)(?: {2,}.*)?$/gm,
  /^(?<title>\S.*?) => (?<file>\S+?):(?<line>\d+)/gm,
  /^(?<file>\S+):(?<line>\d+): error: (?:-\[)?(?<title>[\w.]+[ .]\w+)\]? : (?<message>.+)$/gm,
  /^\d\d:\d\d \+.*?: (?<title>.+) \[E\]$/gm,
  /^(?:# )?(?<title>An error occurred while loading .+?|Unhandled error between tests)\.?$/gm,
  // TAP, and any list of tests with marks
  /^ *not ok \d+ (?:- )?(?<title>(?!.*# (?:TODO|SKIP)).+?)(?: # time=.*)?$/gm,
  /^(?: *[×✗✖]| +✘) (?!\d+ problems? \()(?:\[fail\]: )?(?<title>.+?)(?: \(?\d+ ?m?s\)?)?$/gm,
]

/** What stands above the reason where the heading follows it. */
const BEGIN = /^(?:\((?:pass|skip|todo)\) |\[ RUN|\S+\.[jt]sx?:$)/
/** Where go -v announces that a test begins or goes on, and where what that test says ends. */
const GO_EDGE = /^(?:=== (?:RUN|CONT|NAME) +|(?==== PAUSE|[ \t]*--- [A-Z]+: |(?:PASS|FAIL)$|FAIL\t))/m

/** Nobody reads a longer list, and the cost must not grow with the number of failures. */
const MAX_FAILURES = 20
const MAX_REASON_LINES = 60

/** What rspec, PHPUnit and minitest list beside the failures, in the same form, up to the next list or the end. */
const NOT_FAILED =
  /^(?:Pending:(?: \(.*)?$|There w\w+ \d+ (?:risky|skipped|incomplete) |\d+ tests? triggered | {2}\d+\) Skipped:$)[\s\S]*?(?=^(?:--|Failures:|Finished in .*|(?:ERRORS|FAILURES)!|OK.*|Tests: .*|There w.*| {2}\d+\) \w+:|\d+ (?:runs|specs), .*)$|$(?![\s\S]))/gm

/** The test run that a text reports, or the sum of several. */
export function testRunIn(given: string): CheckReport | undefined {
  // jest prints its totals twice where `--bail` stopped the run
  const once = given.replace(/^(Test Suites: .*\nTests: .*\nSnapshots: .*\n)Time: .*\n(?=\1)/gm, "")
  const text = once.replace(NOT_FAILED, "")
  const found = [...text.matchAll(TOTALS), ...(GO_TEST.test(text) ? text.matchAll(GO_TOTAL) : [])]
  // the plan of TAP says nothing of results that are not there
  const results = text.match(/^(?:not )?ok \d/gm)?.length ?? 0
  const totals = found.filter(([total]) => !(Number(total.split("1..")[1]) > results))
  if (totals.length === 0) return undefined
  const counts: Counts = {}
  for (const part of totals.map(([total]) => countsIn(total)))
    for (const [kind] of WORDS) if (part[kind] !== undefined) counts[kind] = (counts[kind] ?? 0) + part[kind]
  const failed = counts.failed || counts.errors || BROKEN.test(text) || totals.some(([total]) => /^FAIL/m.test(total))
  const failures = failed ? failuresIn(text, totals) : []
  if (counts.passed === undefined && counts.failed === undefined) {
    const passed = text.match(/^(?:ok \d+|[ \t]*--- PASS: )/gm)?.length
    if (passed) counts.passed = passed
    if (failures.length > 0 && !counts.errors) counts.failed = failures.length
  }
  // of Go, a package without a test of the name that was given has not passed
  const ran = totals.filter(([total]) => !/^PASS$|\[no tests to run\]$/.test(total))
  const failing = totals.find(([total]) => /fail/i.test(total) && countsIn(total).failed !== 0)
  const packages = ran.filter(([total]) => total.startsWith("ok  ")).length
  const [said] = failing ?? ran.at(-1) ?? totals[0] ?? []
  const total = failed || packages < 2 ? said : `${packages} packages passed`
  const vague = Boolean(failed) && failures.length === 0 && !counts.failed && !counts.errors
  return { isTests: true, verdict: failed ? "fail" : "pass", sure: true, vague, counts, failures, total }
}

const WORDS: readonly (readonly [keyof Counts, RegExp])[] = [
  ["failed", /^(?:fail|cancel|interrupt)/i],
  ["passed", /^(?:pass|succe)/i],
  ["errors", /^err/i],
  ["skipped", /^(?:skip|pend|todo|ignor|incompl)/i],
]
const WORD = String.raw`(?<word>fail\w*|cancel\w*|interrupted|pass\w*|succe\w+|errors?|skip\w*|pending|todo|ignored|incomplete)`
const NUMBER_FIRST = new RegExp(String.raw`(?<!\d)(?<number>\d+) (?:tests? )?${WORD}\b`, "gi")
const WORD_FIRST = new RegExp(String.raw`\b${WORD}[:= \]]+(?<number>\d+)\b`, "gi")
const ALL = /(?<!\d)(\d+) (?:total|tests?|examples?|specs?|runs)\b|\b(?:tests(?: run)?|total)[: ]+(\d+)|out of (\d+)/i

/** The counts in totals such as `1 failed, 2 skipped, 12 passed` or `Tests run: 13, Failures: 1`. */
function countsIn(total: string): Counts {
  const counts: Counts = {}
  const numberFirst = [...total.matchAll(NUMBER_FIRST)]
  for (const { groups = {} } of numberFirst.length > 0 ? numberFirst : total.matchAll(WORD_FIRST)) {
    const { word = "", number } = groups
    const kind = WORDS.find(([, pattern]) => pattern.test(word))?.[0]
    if (kind) counts[kind] = (counts[kind] ?? 0) + Number(number)
  }
  const all = ALL.exec(total)?.slice(1).find(Boolean)
  const others = (counts.failed ?? 0) + (counts.errors ?? 0) + (counts.skipped ?? 0)
  if (all !== undefined && counts.passed === undefined) counts.passed = Math.max(0, Number(all) - others)
  return counts
}

/** The failures under the first kind of heading that the text has. */
function failuresIn(text: string, totals: readonly RegExpExecArray[]): CheckFailure[] {
  const at = HEADINGS.findIndex((pattern) => text.search(pattern) >= 0)
  const [first = [], next = []] = HEADINGS.slice(at, at + 2).map((pattern) => [...text.matchAll(pattern)])
  // with `--tb=line`, and where `tail` left the end of a run, pytest lists more failures than have a heading
  const headings = first[0]?.[0].startsWith("___") && next.length > first.length ? next : first
  const jestFiles = text.matchAll(/^(?:PASS|FAIL) \S/gm)
  const edges = [...headings, ...totals, ...jestFiles].map(({ index }) => index).sort((a, b) => a - b)
  const failures = new Map<string, CheckFailure>()
  for (const heading of headings) {
    const { title, file, line } = heading.groups ?? {}
    const key = `${title} ${file} ${line}`
    if (failures.get(key)?.message || failures.size >= MAX_FAILURES) continue
    const failure = failureUnder(heading, text, edges)
    // a suite that failed because of its tests, which are reported themselves
    if (!/\bsubtests? ?failed/i.test(failure.message ?? "")) failures.set(key, failure)
  }
  const all = [...failures.values()]
  return all.filter(({ title }) => title === "" || !all.some((other) => other.title.startsWith(`${title}/`)))
}

function failureUnder(heading: RegExpExecArray, text: string, edges: readonly number[]): CheckFailure {
  const { title = "", file, line, message, end } = heading.groups ?? {}
  const { index } = heading
  const next = edges.find((edge) => edge > index) ?? text.length
  // what follows the block of a failure in TAP was printed by the next test
  const after = text.slice(index + heading[0].length, next).replace(/^(\n *---\n[\s\S]*?\n *\.\.\.\n)[\s\S]*/, "$1")
  const below = after.split("\n").slice(1, MAX_REASON_LINES)
  // go gives the reason below the name of a test, or with -v below a line that announces it
  const said = text.slice(0, index).split(GO_EDGE)
  const announced = said.findLast((part) => part.startsWith(`${title}\n`) && /\.go:\d/.test(part))
  const before = edges.findLast((edge) => edge < index) ?? 0
  const above = text.slice(before, index).split("\n").slice(-MAX_REASON_LINES)
  // `go test -v | tail` may have left that line out
  const isFirst = said.length === 1 && heading[0].includes("--- FAIL:")
  const isCut = isFirst && /\.go:\d/.test(said[0] ?? "") && !/\.go:\d/.test(after.split(GO_EDGE)[0] ?? "")
  const isBelow = end === undefined && !isCut
  const reason = isBelow ? below : above.slice(above.findLastIndex((row) => BEGIN.test(row)) + 1)
  const why = explainFailure(announced?.split("\n").slice(1, MAX_REASON_LINES) ?? reason)
  const place = line ? { file, line: Number(line) } : file && !why.file?.endsWith(file) ? { file, line: undefined } : {}
  const name = title.replace(/[ ─]+$/, "").replace(/ *\n */g, " > ")
  const failure = { title: name, ...why, ...place, message: message ?? why.message }
  return failure.message && [failure.file, failure.message].includes(name) ? { ...failure, title: "" } : failure
}
