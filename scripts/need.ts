// The data behind the table in src/fold/need.ts: how often a later call copied a line that only one tool output contained,
// by what the output shows and by the calls since it was last touched.
//
//   bun scripts/need.ts session.json...     files of `opencode export`
//
// `rate` is the chance of a need in the first call after the last touch, given that it is rate / s after s calls: the number of
// needs divided by the sum of 1 / s over all calls with the output in the context.

import { createEnv } from "../src/digest/digests.ts"
import { NEEDS, touchedAt } from "../src/fold/need.ts"
import { conversationOf } from "../src/host/v1/conversation.ts"
import { readOptions, requestOptionsOf } from "../src/options.ts"
import { replayCalls } from "../src/replay/calls.ts"
import { copiedLines, newSources } from "../src/replay/recalls.ts"
import type { ToolEvent } from "../src/session/event.ts"
import { readExport } from "../src/store/export.ts"

/** Smaller outputs are not folded. */
const MIN_TOKENS = 80
/** Within this many calls a second need of the same output is the same one, since the output was recalled. */
const SAME_NEED_CALLS = 20
/** Upper bounds of the columns: calls since the last touch. */
const AGES = [1, 2, 3, 6, 12, 25, 50, Number.POSITIVE_INFINITY]

type Row = { outputs: number; tokens: number; needs: number[]; calls: number[]; chances: number }

const rows = new Map<string, Row>()
const files = process.argv.slice(2)
if (files.length === 0) fail("no session given; expected files of `opencode export`")
for (const file of files) await count(file).catch((error: Error) => fail(error.message))
print(["shows", "outputs", "tokens", "rate", "in the table", ...AGES.map((age) => `s≤${age}`.replace("Infinity", "∞"))])
for (const [name, row] of [...rows].sort((a, b) => b[1].outputs - a[1].outputs))
  print([
    name,
    String(row.outputs),
    String(Math.round(row.tokens / row.outputs)),
    (row.needs.reduce((sum, one) => sum + one, 0) / row.chances).toFixed(4),
    String(NEEDS[name as keyof typeof NEEDS].rate),
    ...AGES.map((_, i) => `${row.needs[i]}/${row.calls[i]}`),
  ])

async function count(path: string): Promise<void> {
  const { messages, info } = await readExport(path)
  const options = {
    ...requestOptionsOf(readOptions({ fold: { enabled: false } }).options),
    disabledAgents: [],
    prices: {},
  }
  const sources = newSources()
  const needed = new Map<string, number>()
  const counted = new Set<string>()
  for (const { context, state, number, wrote } of replayCalls(
    conversationOf(messages),
    options,
    createEnv(info.directory),
  )) {
    if (!wrote) continue
    sources.read(context)
    const here = new Set(context.flatMap(({ parts }) => parts))
    const wanted = new Set<string>()
    for (const line of copiedLines(wrote)) {
      const holders = [...sources.holding(line)].filter(({ part }) => here.has(part))
      const [newest] = holders
      if (newest?.part.type === "tool" && holders.every(({ side }) => side === "output")) wanted.add(newest.part.id)
    }
    const { entries, facts } = state.ledger
    for (const event of entries.flatMap(({ events }) => events)) {
      const since = facts.calls - touchedAt(event, facts, new Map())
      if (event.outputTokens < MIN_TOKENS || event.outputHash === undefined || since < 1) continue
      const isNeed =
        wanted.has(event.partID) && number - (needed.get(event.partID) ?? -SAME_NEED_CALLS) >= SAME_NEED_CALLS
      if (isNeed) needed.set(event.partID, number)
      add(event, since, isNeed, counted)
    }
  }
}

function add(event: ToolEvent, since: number, isNeed: boolean, counted: Set<string>): void {
  const none = () => AGES.map(() => 0)
  const row = rows.get(event.shows) ?? { outputs: 0, tokens: 0, needs: none(), calls: none(), chances: 0 }
  rows.set(event.shows, row)
  if (!counted.has(event.partID)) {
    row.outputs++
    row.tokens += event.outputTokens
  }
  counted.add(event.partID)
  const column = AGES.findIndex((age) => since <= age)
  row.calls[column] = (row.calls[column] ?? 0) + 1
  row.chances += 1 / since
  if (isNeed) row.needs[column] = (row.needs[column] ?? 0) + 1
}

function print(cells: readonly string[]): void {
  process.stdout.write(
    `${cells.map((cell, i) => (i === 0 ? cell.padEnd(10) : cell.padStart(i < 5 ? 13 : 10))).join("")}\n`,
  )
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
