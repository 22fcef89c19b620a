// The data behind src/session/steps.ts: how often a later call copied a line that only one output, or one edit's arguments,
// still held, by what it shows and by its size.
//
//   bun scripts/need.ts session.json...     files of `opencode export`
//
// Each output and edit is looked at 8, 16 and 30 steps after its step. It was needed when one of the next 20 steps copied a
// line of it that nothing newer held. `per 10k` is needs per 10,000 tokens: what keeping it is worth.

import { createEnv } from "../src/digest/digests.ts"
import { conversationOf } from "../src/host/v1/conversation.ts"
import { stringsIn } from "../src/session/arguments.ts"
import type { Message } from "../src/session/conversation.ts"
import { createLedger } from "../src/session/ledger.ts"
import { tokensOfLength } from "../src/text/tokens.ts"

const AGES = [8, 16, 30]
const NEXT_STEPS = 20
const MIN_LINE_CHARS = 24
const MAX_LINE_CHARS = 400
const SIZES = [150, 400, 1000, 2500]

type Row = { count: number; needed: number; tokens: number }
const rows = new Map<string, Row>()

const paths = process.argv.slice(2)
if (paths.length === 0) {
  process.stderr.write("usage: bun scripts/need.ts SESSION.json...   files that `opencode export` wrote\n")
  process.exit(2)
}
for (const path of paths) countSession(conversationOf((await Bun.file(path).json()).messages))

for (const [name, { count, needed, tokens }] of [...rows].sort(([one], [other]) => one.localeCompare(other))) {
  const worth = ((1e4 * needed) / Math.max(1, tokens)).toFixed(2)
  process.stdout.write(
    `${name.padEnd(40)} ${String(count).padStart(6)} ${String(needed).padStart(5)} ${worth.padStart(7)} per 10k\n`,
  )
}

function countSession(messages: readonly Message[]): void {
  const { entries } = createLedger(createEnv()).read(messages)
  const steps = messages.flatMap((message, at) => (message.kind === "step" ? [{ message, entry: entries[at] }] : []))
  const written = steps.map(({ message }) => linesOf(message.parts.flatMap(argumentsOf).join("\n")))
  const texts = steps.map(({ message }) => message.parts.map(textOf).join("\n"))
  steps.forEach(({ message, entry }, at) => {
    for (const part of message.parts) {
      const event = part.type === "tool" ? entry?.events.find(({ partID }) => partID === part.id) : undefined
      if (part.type !== "tool" || !event) continue
      count(event.shows, part.output, at, written, texts)
      if (event.shows === "change") count("edit's arguments", stringsIn(part.input).join("\n"), at, written, texts)
    }
  })
}

function count(name: string, text: string, at: number, written: Set<string>[], texts: readonly string[]): void {
  const lines = linesOf(text)
  if (lines.size === 0) return
  const tokens = tokensOfLength(text.length)
  for (const age of AGES) {
    const now = at + age
    if (now >= texts.length) return
    const asked = written.slice(now + 1, now + 1 + NEXT_STEPS)
    const isNeeded = asked.some((wanted, next) =>
      [...wanted].some(
        (line) => lines.has(line) && !texts.slice(at + 1, now + 1 + next).some((one) => one.includes(line)),
      ),
    )
    const size = SIZES.find((max) => tokens < max)
    const key = `${name}, ${size ? `under ${size}` : `${SIZES.at(-1)} and more`} tokens`
    const row = rows.get(key) ?? { count: 0, needed: 0, tokens: 0 }
    rows.set(key, { count: row.count + 1, needed: row.needed + Number(isNeeded), tokens: row.tokens + tokens })
  }
}

function linesOf(text: string): Set<string> {
  const lines = text.split("\n").map((one) => one.trim())
  return new Set(lines.filter(({ length }) => length >= MIN_LINE_CHARS && length <= MAX_LINE_CHARS))
}

function argumentsOf(part: Message["parts"][number]): string[] {
  return part.type === "tool" ? stringsIn(part.input) : []
}

function textOf(part: Message["parts"][number]): string {
  if (part.type === "tool") return [...stringsIn(part.input), part.output].join("\n")
  return part.type === "text" || part.type === "reasoning" ? part.text : ""
}
