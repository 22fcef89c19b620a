// Counts the lines that redaction changes in the tool outputs of exported sessions, for review:
// `bun scripts/false-positives.ts [--all] <export>...`. Lines of code are those of files that were read. Prints what is left
// of samples; only with `--all`, meant for sessions known to hold no secrets, also what was removed.

import { readFile } from "node:fs/promises"
import { redact } from "../src/text/redact/redact.ts"
import { WITHHELD } from "../src/text/redact/withheld.ts"

const MAX_SAMPLES = 40
const MAX_SAMPLE_CHARS = 160

type Part = { type?: string; tool?: string; state?: { output?: unknown; error?: unknown } }
type Exported = { messages?: { parts?: Part[] }[] }
type Count = { lines: number; redacted: number; withheld: number }

const args = process.argv.slice(2)
const showsAll = args.includes("--all")
const files = args.filter((arg) => !arg.startsWith("--"))
if (files.length === 0 || args.some((arg) => arg.startsWith("--") && arg !== "--all")) {
  process.stderr.write("usage: bun scripts/false-positives.ts [--all] EXPORT...   files that `opencode export` wrote\n")
  process.exit(2)
}

const all: Count = { lines: 0, redacted: 0, withheld: 0 }
const code: Count = { lines: 0, redacted: 0, withheld: 0 }
const samples: string[] = []
for (const file of files) {
  const { messages = [] } = JSON.parse(await readFile(file, "utf8")) as Exported
  for (const { type, tool, state } of messages.flatMap(({ parts = [] }) => parts)) {
    const output = type === "tool" ? (state?.output ?? state?.error) : undefined
    if (typeof output === "string") count(output, tool === "read" ? [all, code] : [all])
  }
}

function count(output: string, counts: readonly Count[]): void {
  const shown = redact(output).split("\n")
  for (const [at, line] of output.split("\n").entries()) {
    if (line.trim() === "") continue
    const left = shown[at] ?? ""
    for (const one of counts) {
      one.lines++
      if (left.includes(WITHHELD) && !line.includes(WITHHELD)) one.withheld++
      else if (left !== line) one.redacted++
    }
    if (left !== line) samples.push((showsAll ? line : left).trim().slice(0, MAX_SAMPLE_CHARS))
  }
}

const share = (part: number, { lines }: Count) => `${part} (${((100 * part) / Math.max(1, lines)).toFixed(3)} %)`
for (const [name, one] of [["all", all] as const, ["code", code] as const])
  process.stdout.write(
    `${name}: ${files.length} sessions, ${one.lines} lines; redacted ${share(one.redacted, one)}, withheld ${share(one.withheld, one)}\n`,
  )
const step = Math.ceil(samples.length / MAX_SAMPLES)
for (let at = 0; at < samples.length; at += step) process.stdout.write(`    ${samples[at]}\n`)
