// Reads the outcome of each test file from bun's JUnit report.

export type FileOutcome = {
  /** from the project's folder, `test/text/text.test.ts` */
  file: string
  passed: number
  failed: number
  skipped: number
  /** seconds, without the time before the first and after the last test */
  seconds: number
}

const SUITE = /<testsuite ([^>]*)>/g
const ATTRIBUTE = /(\w+)="([^"]*)"/g

/** One outcome per file; none for an empty or missing report. */
export function readJunit(report: string): FileOutcome[] {
  return [...report.matchAll(SUITE)].flatMap(([, attributes = ""]) => {
    const of = Object.fromEntries([...attributes.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, value]))
    // a suite within a file is named by its `describe`
    if (of.name === undefined || of.name !== of.file) return []
    const count = (name: string) => Number(of[name] ?? 0)
    const failed = count("failures") + count("errors")
    const skipped = count("skipped")
    return [{ file: of.name, passed: count("tests") - failed - skipped, failed, skipped, seconds: count("time") }]
  })
}

export function sum(outcomes: readonly FileOutcome[]): Omit<FileOutcome, "file"> {
  const total = { passed: 0, failed: 0, skipped: 0, seconds: 0 }
  for (const { passed, failed, skipped, seconds } of outcomes) {
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
    total.seconds += seconds
  }
  return total
}
