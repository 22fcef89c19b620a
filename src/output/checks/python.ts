// Python's test runners: pytest and unittest (which Django's is too).

import { explain, placeIn } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { countsIn, last, MAX_FAILURES, titled, until } from "./sections.ts"

const PYTEST_TOTAL = /^=*\s?(?:\d+ \w+(?:, )?)+ in [\d.]+ ?s\b.*$|^=*\s?no tests ran in /

export const pytest: Check = {
  sign: /(?:passed|failed|errors?|skipped|deselected|warnings?|no tests ran).* in [\d.]+ ?s\b/m,
  read(lines) {
    const total = last(lines, PYTEST_TOTAL)
    if (!total) return undefined
    const counts = countsIn(total.text)
    const failures: Failure[] = []
    for (const line of lines) {
      const found = /^(?:FAILED|ERROR) ((\S+?\.py)(?:::\S.*?)?)(?: - (.+))?$/.exec(line.text)
      if (!found?.[1] || !found[2] || failures.length >= MAX_FAILURES) continue
      const title = found[1].slice(found[1].indexOf("::") + 2)
      const test = found[1].includes("::") ? title : ""
      const detail = test === "" ? undefined : placeOf(lines, test.replace(/^.*::/, "").replace(/\[.*$/, ""), found[2])
      const message = found[3]?.replace(/^AssertionError: /, "")
      const line_ = detail ? { line: detail } : {}
      failures.push({ title: test, file: found[2], ...(message ? { message } : {}), ...line_, quotes: [line] })
    }
    if (failures.length === 0)
      failures.push(...titled(lines, /^_{3,} (?:ERROR \w+ )?(.+?) _{3,}$/, /^(?:_{3,} |={3,})/))
    const broken = (counts.failed ?? 0) + (counts.errors ?? 0) > 0
    return { name: "pytest", kind: "tests", verdict: broken ? "fail" : "pass", sure: true, counts, failures, total }
  },
}

export const unittest: Check = {
  sign: /^Ran \d+ tests? in [\d.]+s/m,
  read(lines) {
    const ran = last(lines, /^Ran \d+ tests? in/)
    const total = last(lines, /^(?:OK|FAILED|NO TESTS RAN)\b/) ?? ran
    if (!ran || !total) return undefined
    const failed = [...total.text.matchAll(/(?:failures|errors)=(\d+)/g)].reduce(
      (sum, found) => sum + Number(found[1]),
      0,
    )
    const skipped = Number(/skipped=(\d+)/.exec(total.text)?.[1] ?? 0)
    const passed = Math.max(0, Number(/\d+/.exec(ran.text)?.[0] ?? 0) - failed - skipped)
    const counts: Counts = { passed, failed, skipped }
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^(?:FAIL|ERROR): (\S+)/.exec(line.text)?.[1]
      if (!title || failures.length >= MAX_FAILURES) continue
      const body = until(lines, at + 1, /^(?:={20,}|Ran \d+ tests?|(?:FAIL|ERROR): )/)
      // a traceback ends with what happened; its last frame is where
      const error = body.findLast(({ text }) => /^[\w.]+(?:Error|Exception|Warning|Exit|Interrupt)\b/.test(text))
      const place = body.flatMap(({ text }) => placeIn(text) ?? []).at(-1)
      const why = explain(error ? [error] : body)
      failures.push({ ...why, ...place, title, quotes: [line, ...why.quotes] })
    }
    const verdict = /^FAILED/.test(total.text) ? "fail" : "pass"
    return { name: "unittest", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

/** The line of a test file on which a pytest failure was raised: the last one told under the test's heading. */
function placeOf(lines: Parameters<typeof until>[0], test: string, file: string): number | undefined {
  const at = lines.findIndex(({ text }) => text.startsWith("___") && text.includes(test))
  if (at < 0) return undefined
  const body = until(lines, at + 1, /^(?:_{3,} |={3,})/)
  const places = body.flatMap(({ text }) => placeIn(text) ?? [])
  return places.findLast((place) => place.file.endsWith(file) || file.endsWith(place.file))?.line
}
