// Counts what redaction removes from the tool outputs of exported sessions, by kind, for manual review:
// `bun scripts/false-positives.ts [--all] <export.json>...`. Prints the text around each mark. Only with `--all`, meant for
// sessions known to hold no secrets, it also prints what was removed.

import { readFile } from "node:fs/promises"
import { redact } from "../src/text/redact/redact.ts"

const CONTEXT_CHARS = 60
const MARK = "[redacted]"

type Exported = { messages?: { parts?: { type?: string; state?: { output?: unknown; error?: unknown } }[] }[] }

const args = process.argv.slice(2)
const showsAll = args.includes("--all")
const files = args.filter((arg) => !arg.startsWith("--"))
if (files.length === 0) throw new Error("no export given; call it with files that `opencode export` wrote")

let lines = 0
let marks = 0
const kinds = new Map<string, { count: number; samples: Set<string> }>()
const started = performance.now()
for (const file of files) {
  const { messages = [] } = JSON.parse(await readFile(file, "utf8")) as Exported
  for (const part of messages.flatMap(({ parts = [] }) => parts)) {
    const output = part.type === "tool" ? (part.state?.output ?? part.state?.error) : undefined
    if (typeof output !== "string") continue
    for (const line of output.split("\n")) {
      lines++
      countMarks(line)
    }
  }
}

function countMarks(line: string): void {
  const shown = redact(line)
  if (shown === line) return
  for (let at = shown.indexOf(MARK); at >= 0; at = shown.indexOf(MARK, at + MARK.length)) {
    marks++
    const before = shown.slice(Math.max(0, at - CONTEXT_CHARS), at)
    const kind = /([\p{L}\w.$-]{2,30})["'`\])\\]*[\s:=>|(,"'`\\]*$/u.exec(before)?.[1]?.toLowerCase() ?? "by itself"
    const known = kinds.get(kind) ?? { count: 0, samples: new Set() }
    known.count++
    const around = showsAll ? line.slice(Math.max(0, at - CONTEXT_CHARS), at + CONTEXT_CHARS) : before + MARK
    if (known.samples.size < 4) known.samples.add(around.trim())
    kinds.set(kind, known)
  }
}

const ms = performance.now() - started
process.stdout.write(
  `${files.length} sessions, ${lines} lines, ${marks} redactions, ${((1000 * marks) / lines).toFixed(2)} in 1,000 lines; ${((1000 * ms) / lines).toFixed(1)} µs a line\n`,
)
for (const [kind, { count, samples }] of [...kinds].sort(([, a], [, b]) => b.count - a.count)) {
  process.stdout.write(`${count} ${kind}\n`)
  for (const sample of samples) process.stdout.write(`    ${sample}\n`)
}
