// `go test`, plain and `-json`, and gotestsum on top of it.

import { explainFailure, linesUntil, MAX_FAILURES } from "./failures.ts"
import { type CheckFailure, type CheckReader, type Counts, testRun } from "./report.ts"

export const goTest: CheckReader = {
  signature: /^(?:ok {1,2}\t|FAIL\t\S|--- FAIL: |=== FAIL: |\? {3}\t|DONE \d+ tests|PASS$|FAIL$|\{"Time":.*"Action":)/m,
  read(lines) {
    const plain = lines.some((text) => text.startsWith('{"')) ? fromEvents(lines) : lines
    let [okPackages, badPackages, failed, passed] = [0, 0, 0, 0]
    let total: string | undefined
    let done = false
    const failures: CheckFailure[] = []
    for (const [at, text] of plain.entries()) {
      if (/^ok {1,2}\t/.test(text)) okPackages++
      if (/^PASS$/.test(text)) done = true
      if (/^\s*--- PASS: /.test(text)) passed++
      if (/^FAIL\t\S/.test(text)) {
        badPackages++
        total ??= text
      }
      const title = /^\s*(?:--- FAIL:|=== FAIL: \S+) (\S+)/.exec(text)?.[1]
      if (!title) continue
      failed++
      if (failures.length < MAX_FAILURES) failures.push(toFailure(plain, at, title))
    }
    if (okPackages + badPackages + failed === 0 && !done) return undefined
    // a test fails with its subtests: report only the subtests
    const leaves = failures.filter(({ title }) => !failures.some((other) => other.title.startsWith(`${title}/`)))
    if (leaves.length === 0) leaves.push(...unbuilt(plain))
    const counts: Counts = { ...(failed ? { failed: Math.max(leaves.length, 1) } : {}), ...(passed ? { passed } : {}) }
    const broken = failed + badPackages > 0 || plain.some((text) => text === "FAIL")
    total ??= plain.findLast((text) => /^ok {1,2}\t|^PASS$|^DONE /.test(text))
    return testRun("go test", counts, leaves, total, broken)
  },
}

function toFailure(lines: readonly string[], at: number, title: string): CheckFailure {
  const body = linesUntil(lines, at + 1, /^\s*(?:--- |=== )|^(?:FAIL|PASS|ok )\b/)
  // t.Errorf prints `file_test.go:42: message` below the verdict, or with -v below the line that announces the test
  const ran = lines.findLastIndex(
    (text, row) => row < at && /^=== (?:RUN|CONT) +/.test(text) && text.endsWith(` ${title}`),
  )
  const hasPlace = body.some((text) => /\.go:\d+/.test(text))
  const region = hasPlace || ran < 0 ? body : linesUntil(lines, ran + 1, /^\s*(?:--- |=== )/)
  const first = region.find((text) => /^\s+\S+\.go:\d+: \S/.test(text))
  const why = explainFailure(first ? [first, ...region] : region)
  const message =
    first && !/expected.*got/.test(why.message ?? "") ? first.replace(/^\s+\S+\.go:\d+: /, "") : why.message
  return { ...why, title, ...(message ? { message } : {}) }
}

/** Packages that did not build or panicked outside a test. */
function unbuilt(lines: readonly string[]): CheckFailure[] {
  const failures: CheckFailure[] = []
  for (const line of lines) {
    const compile = /^(?:vet: )?(\S+\.go):(\d+):(?:\d+:)? (.+)$/.exec(line)
    const panic = /^(?:panic|fatal error): .+/.exec(line)
    if (compile?.[1] && compile[3])
      failures.push({ title: "", file: compile[1], line: Number(compile[2]), message: compile[3] })
    else if (panic) failures.push({ title: "", message: line })
    if (failures.length >= 10) break
  }
  return failures
}

/** The plain report, from the events that `-json` wraps its lines in. */
function fromEvents(lines: readonly string[]): string[] {
  const plain: string[] = []
  for (const line of lines) {
    const output = /"Output":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
    if (output === undefined) {
      if (!line.startsWith("{")) plain.push(line)
      continue
    }
    const text = output.replace(/\\n$/, "").replaceAll("\\t", "\t").replaceAll('\\"', '"').replaceAll("\\u003e", ">")
    plain.push(text.replaceAll("\\u003c", "<"))
  }
  return plain
}
