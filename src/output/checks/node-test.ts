// node:test, in its spec and TAP reports, and any other producer of TAP.

import type { Line } from "../lines.ts"
import { explain, placeIn } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { until } from "./sections.ts"

export const nodeTest: Check = {
  sign: /^(?:[ℹ#] (?:pass|fail) +\d+|(?:not )?ok \d+\b)/m,
  read(lines) {
    const counts: Counts = {}
    let total = lines.findLast(({ text }) => /^[ℹ#] (?:fail|pass) +\d+/.test(text))
    let [passed, failed] = [0, 0]
    for (const line of lines) {
      const found = /^[ℹ#] (pass|fail|cancelled|skipped) +(\d+)/.exec(line.text)
      if (found?.[1] === "pass") counts.passed = Number(found[2])
      if (found?.[1] === "fail" || found?.[1] === "cancelled") counts.failed = (counts.failed ?? 0) + Number(found[2])
      if (found?.[1] === "skipped") counts.skipped = Number(found[2])
      if (found?.[1] === "fail") total = line
      if (/^ok \d+/.test(line.text)) passed++
      if (/^not ok \d+(?!.*# (?:TODO|SKIP))/.test(line.text)) failed++
    }
    const summarised = counts.passed !== undefined || counts.failed !== undefined
    // without a summary two lines of TAP, or its plan, are the least that tells it from prose
    if (!summarised && passed + failed < 2 && !lines.some(({ text }) => /^1\.\.\d+|^TAP version/.test(text))) {
      return undefined
    }
    if (!summarised) Object.assign(counts, { passed, failed })
    const failures: Failure[] = []
    const detail = lines.findIndex(({ text }) => /^✖ failing tests:/.test(text))
    for (let at = Math.max(0, detail + 1); at < lines.length && failures.length < 20; at++) {
      const line = lines[at]
      const found = /^(\s*)(?:✖|not ok \d+(?: -)?) (.+?)(?: \([\d.]+ms\))?$/.exec(line?.text ?? "")
      if (!line || !found?.[2] || /# (?:TODO|SKIP)/.test(found[2])) continue
      const body = until(lines, at + 1, /^\s*(?:✖|✔|(?:not )?ok \d+|# Subtest|test at|ℹ) /)
      // a suite fails because its tests do, which have already been told
      if (body.some(({ text }) => /subtestsFailed|\d+ subtests? failed/.test(text))) continue
      const why = explainTap(body)
      const place = /^test at (.+):(\d+):\d+$/.exec(lines[at - 1]?.text ?? "")
      const file = place?.[1] ? { file: place[1], line: Number(place[2]) } : {}
      failures.push({ ...why, ...file, title: found[2], quotes: [line, ...why.quotes] })
    }
    const verdict = counts.failed ? "fail" : "pass"
    return { name: "node:test", kind: "tests", verdict, sure: true, counts, failures, ...(total ? { total } : {}) }
  },
}

/** TAP says it in YAML: `error: '…'` and `location: '…'`. */
function explainTap(body: readonly Line[]): ReturnType<typeof explain> {
  const error = body.find(({ text }) => /^\s*error: ./.test(text))
  if (!error) return explain(body)
  const at = body.find(({ text }) => /^\s*location: /.test(text))
  const place = placeIn(at?.text.replace(/^\s*location: ['"]?/, "") ?? "")
  const said = error.text.replace(/^\s*error: ['"]?/, "").replace(/['"]$/, "")
  // a block scalar: the text begins on a line below
  const block = /^[|>]-?$/.test(said)
  const next = block ? body.slice(body.indexOf(error) + 1).find(({ text }) => text.trim() !== "") : undefined
  const values = block ? explain(body.slice(body.indexOf(error) + 1)).message : undefined
  return { ...explain(body), message: values ?? next?.text.trim() ?? said, ...place, quotes: [next ?? error] }
}
