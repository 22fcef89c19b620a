// Compares digest backends on real tool outputs of recorded sessions. Prints one table of all outputs and one by tool;
// docs/digests.md explains the columns.
//
//   npm run eval:digest -- --sessions DIR --model extract --model /path/to/model.gguf --model openai:http://127.0.0.1:11434/v1#qwen3:0.6b
//
// DIR holds files of `opencode export`. --outputs N (60), --budget N tokens of a document (600), --seed N (1),
// --threads N (0: chosen by the sidecar), --show (every digest), --json (everything, as JSON).

import { parseArgs } from "node:util"
import { openBackend } from "./eval/backends.ts"
import { readSessions, sampleOutputs } from "./eval/outputs.ts"
import { BY_TOOL, COLUMNS, type Score, score, summarize } from "./eval/score.ts"

type Result = { name: string; scores: Score[] }

const { values } = parseArgs({
  options: {
    model: { type: "string", multiple: true, default: ["extract"] },
    sessions: { type: "string" },
    outputs: { type: "string", default: "60" },
    budget: { type: "string", default: "600" },
    seed: { type: "string", default: "1" },
    threads: { type: "string", default: "0" },
    show: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
})
if (values.sessions === undefined) fail("--sessions is missing; expected a folder with files of `opencode export`")
const sessions = await readSessions(values.sessions).catch((error: Error) => fail(error.message))
const samples = sampleOutputs(sessions, Number(values.outputs), Number(values.seed))
if (samples.length === 0) fail(`${values.sessions} has no tool output of 300 tokens or more`)
const interrupted = new AbortController()
process.once("SIGINT", () => interrupted.abort(new Error("interrupted")))

try {
  const all: Result[] = []
  for (const spec of values.model) all.push(await run(spec))
  if (values.json) print(JSON.stringify(all, null, 2))
  else report(all)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}

/** A table of all outputs with one row per measure, then one by tool with one row per backend. */
function report(all: readonly Result[]): void {
  const tools = [...new Set(samples.map(({ source }) => source.tool))].sort()
  print(`${samples.length} outputs of ${tools.length} tools, ${values.budget} tokens of each shown to a model\n`)
  const whole = all.map(({ scores }) => summarize(scores))
  table([
    ["", ...all.map(({ name }) => name)],
    ...COLUMNS.map((column) => [column, ...whole.map((summary) => summary[column])]),
  ])
  print("")
  const rows = tools.flatMap((tool) =>
    all.map(({ name, scores }, at) => {
      const summary = summarize(scores.filter((one) => one.tool === tool))
      return [at === 0 ? tool : "", name, ...BY_TOOL.map((column) => summary[column])]
    }),
  )
  table([["tool", "", ...BY_TOOL], ...rows], 2)
}

async function run(spec: string): Promise<Result> {
  const opened = await openBackend(spec, Number(values.threads))
  const scores: Score[] = []
  try {
    for (const sample of samples) {
      const one = await score(sample, opened, Number(values.budget), interrupted.signal)
      scores.push(one)
      if (values.show) print(`${opened.name} · ${one.tool} · ${one.found}/${one.needed}\n  ${one.digest}`)
    }
  } finally {
    await opened.close()
  }
  return { name: opened.name, scores }
}

/** Columns as wide as their cells, the first `named` of them left-aligned. */
function table(rows: readonly (readonly string[])[], named = 1): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const cell = (text: string, column: number) =>
    column < named ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  for (const row of rows) print(row.map(cell).join("  ").trimEnd())
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
