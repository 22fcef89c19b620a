// `cargo test` and `cargo nextest`.

import type { Line } from "../lines.ts"
import { explain } from "./explain.ts"
import type { Check, Counts, Failure } from "./report.ts"
import { MAX_FAILURES, until } from "./sections.ts"

export const cargoTest: Check = {
  sign: /^(?:test result: (?:ok|FAILED)\.|error: test failed, to rerun)/m,
  read(lines) {
    const counts: Counts = {}
    let total: Line | undefined
    for (const line of lines) {
      const found = /^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored/.exec(line.text)
      if (!found) continue
      counts.passed = (counts.passed ?? 0) + Number(found[2])
      counts.failed = (counts.failed ?? 0) + Number(found[3])
      counts.skipped = (counts.skipped ?? 0) + Number(found[4])
      if (!total || found[1] === "FAILED") total = line
    }
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^---- (.+?) stdout ----$/.exec(line.text)?.[1]
      if (!title || failures.length >= MAX_FAILURES) continue
      failures.push(toFailure(line, title, until(lines, at + 1, /^(?:---- |failures:|test result)/)))
    }
    for (const line of failures.length > 0 ? [] : lines) {
      const title = /^test (.+?)(?: - should panic)? \.\.\. FAILED$/.exec(line.text)?.[1]
      if (title && failures.length < MAX_FAILURES) failures.push({ title, quotes: [line] })
    }
    const broken = (counts.failed ?? 0) > 0 || lines.some(({ text }) => text.startsWith("error: test failed"))
    const verdict = broken ? "fail" : "pass"
    return { name: "cargo test", kind: "tests", verdict, sure: true, counts, failures, ...(total ? { total } : {}) }
  },
}

export const nextest: Check = {
  sign: /^ +Summary \[ *[\d.]+s\] +\d+/m,
  read(lines) {
    const total = lines.findLast(({ text }) => /^ +Summary \[/.test(text))
    if (!total) return undefined
    const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(total.text)?.[1] ?? 0)
    const counts: Counts = { passed: number("passed"), failed: number("failed"), skipped: number("skipped") }
    const failures: Failure[] = []
    for (const [at, line] of lines.entries()) {
      const title = /^ +(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[ *[\d.]+s\] +(?:\(\S+\) +)?\S+ (.+)$/.exec(line.text)?.[1]
      if (!title || failures.some((known) => known.title === title)) continue
      failures.push(toFailure(line, title, until(lines, at + 1, /^ +(?:PASS|FAIL|Summary|SIG\w+|TIMEOUT) \[/)))
    }
    const verdict = counts.failed ? "fail" : "pass"
    return { name: "nextest", kind: "tests", verdict, sure: true, counts, failures, total }
  },
}

function toFailure(line: Line, title: string, body: readonly Line[]): Failure {
  const at = body.findIndex(({ text }) => / panicked at /.test(text))
  const why = explain(at < 0 ? body : body.slice(at))
  // since Rust 1.73 the message stands on the line after the place
  const said = at >= 0 && !why.message?.startsWith("expected ") ? body[at + 1] : undefined
  const older = / panicked at '(.+)', \S+$/.exec(body[at]?.text ?? "")?.[1]
  const message = older ?? said?.text.trim() ?? why.message
  const quotes = said ? [line, said] : [line, ...why.quotes]
  return { ...why, title, ...(message ? { message } : {}), quotes }
}
