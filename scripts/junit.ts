// Reads the outcome of each test file from bun's JUnit report.

export type FileOutcome = {
  /** from the project's folder, `test/text/text.test.ts` */
  file: string
  passed: number
  failed: number
  skipped: number
  /** seconds, without the time before the first and after the last test */
  seconds: number
  /** where each failed test is and what it is called, `12 a run > ends` */
  failures: string[]
}

const SUITE = /<testsuite ([^>]*)>/g
const FAILED_CASE = /<testcase ([^>]*[^>/])>\s*<(?:failure|error)\b/g
const ATTRIBUTE = /(\w+)="([^"]*)"/g
const ESCAPES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }

/** One outcome per file; none for an empty or missing report. */
export function readJunit(report: string): FileOutcome[] {
  const cases = [...report.matchAll(FAILED_CASE)].map(([, attributes = ""]) => attributesOf(attributes))
  return [...report.matchAll(SUITE)].flatMap(([, attributes = ""]) => {
    const of = attributesOf(attributes)
    // a suite within a file is named by its `describe`
    if (of.name === undefined || of.name !== of.file) return []
    const count = (name: string) => Number(of[name] ?? 0)
    const failed = count("failures") + count("errors")
    const skipped = count("skipped")
    const failures = cases
      .filter(({ file }) => file === of.file)
      .map(
        ({ line, classname = "", name = "" }) =>
          `${line} ${[name, ...classname.split(" > ")].filter(Boolean).reverse().join(" > ")}`,
      )
    return [
      { file: of.name, passed: count("tests") - failed - skipped, failed, skipped, seconds: count("time"), failures },
    ]
  })
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name, value = ""]) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ESCAPES[name] ?? "")
}

export function sum(outcomes: readonly FileOutcome[]): Omit<FileOutcome, "file" | "failures"> {
  const total = { passed: 0, failed: 0, skipped: 0, seconds: 0 }
  for (const { passed, failed, skipped, seconds } of outcomes) {
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
    total.seconds += seconds
  }
  return total
}
