// Compares digest backends on real tool outputs of recorded sessions. Prints one table of all outputs, one by tool, and one of
// what digest lines and records hold of what the agent used after the original was folded; docs/digests.md explains them.
//
//   npm run eval:digest -- --sessions DIR --model extract --model /path/to/model.gguf --model openai:http://127.0.0.1:11434/v1#qwen3:0.6b
//
// DIR holds files of `opencode export`; several, as NAME=DIR, are compared side by side. --outputs N of each (60),
// --budget N tokens of a document (600), --seed N (1), --threads N (0: chosen by the sidecar), --show (every digest),
// --json (everything, as JSON). --jobs compares what else a model could do for the line of a folded output, at equal tokens.

import { basename } from "node:path"
import { type ParseArgsConfig, parseArgs } from "node:util"
import { type AfterFolding, afterFolding, type NeedCount } from "./eval/after-folding.ts"
import { openBackend } from "./eval/backends.ts"
import { casesOf, gain, type Held, heldBy, JOBS, type Job, linesOf } from "./eval/jobs.ts"
import { exportsIn, readSessions, type Sample, sampleOutputs } from "./eval/outputs.ts"
import { openRanking } from "./eval/rank.ts"
import { BY_TOOL, COLUMNS, type Score, score, summarize } from "./eval/score.ts"

type Split = { name: string; paths: string[]; samples: Sample[] }
type Result = { name: string; scores: Score[]; folding: AfterFolding }

const { values } = readArgs({
  options: {
    model: { type: "string", multiple: true, default: ["extract"] },
    sessions: { type: "string", multiple: true, default: [] },
    outputs: { type: "string", default: "60" },
    budget: { type: "string", default: "600" },
    seed: { type: "string", default: "1" },
    threads: { type: "string", default: "0" },
    show: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    jobs: { type: "boolean", default: false },
  },
})
if (values.jobs && values.json) fail("--json does not apply to --jobs")
if (values.sessions.length === 0) fail("--sessions is missing; expected a folder with files of `opencode export`")
const interrupted = new AbortController()
process.once("SIGINT", () => interrupted.abort(new Error("interrupted")))

try {
  if (values.jobs) {
    for (const given of values.sessions) await compareJobs(given)
    process.exit(0)
  }
  const splits = await Promise.all(values.sessions.map(readSplit))
  const all: Result[] = []
  for (const spec of values.model) all.push(...(await run(spec, splits)))
  if (values.json) print(JSON.stringify(all, null, 2))
  else report(all)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}

/** The options; with others, or numbers that are none, the program ends with one line. */
function readArgs<const T extends ParseArgsConfig>(config: T) {
  try {
    const parsed = parseArgs(config)
    const given = parsed.values as Record<string, unknown>
    for (const name of ["outputs", "budget", "seed", "threads"])
      if (!/^\d+$/.test(String(given[name]))) fail(`--${name} is a whole number; got ${given[name]}`)
    return parsed
  } catch (error) {
    return fail(`${(error as Error).message}; the head of bench/digest-eval.ts lists the options`)
  }
}

/** `DIR` or `NAME=DIR`. */
function pathsOf(given: string): { name: string; folder: string; paths: string[] } {
  const [, name = "", folder = given] = /^(\w+)=(.+)$/.exec(given) ?? []
  return { name, folder, paths: exportsIn(folder) }
}

async function readSplit(given: string): Promise<Split> {
  const { name, folder, paths } = pathsOf(given)
  const samples = sampleOutputs(await readSessions(paths), Number(values.outputs), Number(values.seed))
  if (samples.length === 0) throw new Error(`${folder} has no tool output of 300 tokens or more`)
  return { name, paths, samples }
}

function report(all: readonly Result[]): void {
  const tools = [...new Set(all.flatMap(({ scores }) => scores.map(({ tool }) => tool)))].sort()
  print(`outputs alone, ${values.budget} tokens of each shown to a model\n`)
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
  print("\nin sessions: used after the original was folded, and held by its line or record\n")
  reportFolding(all)
}

/** One column per backend and folder; the kinds that were needed most come first. */
function reportFolding(all: readonly Result[]): void {
  const times = (kind: string) => all.reduce((sum, { folding }) => sum + (folding.byKind.get(kind)?.names ?? 0), 0)
  const kinds = [...new Set(all.flatMap(({ folding }) => [...folding.byKind.keys()]))]
  const names = (count?: NeedCount) => (count?.names ? `${count.namesHeld}/${count.names}` : "-")
  const lines = (count?: NeedCount) => (count?.lines ? `${count.linesHeld}/${count.lines}` : "-")
  const row = (label: string, of: (folding: AfterFolding) => string) => [
    label,
    ...all.map(({ folding }) => of(folding)),
  ]
  table([
    row("", () => "").map((cell, at) => (at === 0 ? cell : (all[at - 1]?.name ?? ""))),
    row("names", ({ all }) => names(all)),
    row("lines", ({ all }) => lines(all)),
    row("names per 1,000 tokens", ({ all, tokens }) => ((1000 * all.namesHeld) / Math.max(1, tokens)).toFixed(1)),
    row("recalls per 100 calls", ({ recallsPer100 }) => recallsPer100.toFixed(2)),
    row("cost", ({ cost }) => cost.toFixed(3)),
    ...kinds
      .sort((one, other) => times(other) - times(one))
      .filter((kind) => times(kind) > 0)
      .map((kind) => row(`names of ${kind}`, ({ byKind }) => names(byKind.get(kind)))),
  ])
}

/** The backend's results, one for each folder. */
async function run(spec: string, splits: readonly Split[]): Promise<Result[]> {
  const opened = await openBackend(spec, Number(values.threads))
  const results: Result[] = []
  try {
    for (const { name, paths, samples } of splits) {
      const scores: Score[] = []
      for (const sample of samples) {
        const one = await score(sample, opened, Number(values.budget), interrupted.signal)
        scores.push(one)
        if (values.show) print(`${opened.name} · ${one.tool} · ${one.found}/${one.needed}\n  ${one.digest}`)
      }
      const folding = await afterFolding(paths, opened, Number(values.budget))
      results.push({ name: [opened.name, name].filter(Boolean).join(" "), scores, folding })
    }
  } finally {
    await opened.close()
  }
  return results
}

/** One table for each model: what the line of an output holds, job by job. */
async function compareJobs(given: string): Promise<void> {
  const { name, folder, paths } = pathsOf(given)
  const cases = await casesOf(paths, Number(values.outputs), Number(values.seed))
  if (cases.length === 0) throw new Error(`${folder} has no session in which an output was needed after it was folded`)
  for (const spec of values.model) {
    const opened = await openBackend(spec, Number(values.threads))
    const ranking = openRanking(spec, opened.backend, Number(values.threads))
    const held = new Map<Job, Held[]>(JOBS.map((job) => [job, []]))
    let sentences = 0
    try {
      for (const one of cases) {
        const lines = await linesOf(one, opened, ranking.rank, Number(values.budget))
        for (const job of JOBS) held.get(job)?.push(heldBy(one, lines[job]))
        if (lines.sentence.text !== lines.rule.text) sentences++
        if (values.show) print(JSON.stringify({ session: basename(one.session), needs: one.needs, lines }))
      }
    } finally {
      ranking.close()
      await opened.close()
    }
    const needs = cases.flatMap((one) => one.needs)
    const of = {
      lines: needs.filter(({ isLine }) => isLine).length,
      sessions: new Set(cases.map((one) => one.session)).size,
    }
    print(
      `${[opened.name, name].filter(Boolean).join(" ")}: ${cases.length} outputs of ${of.sessions} sessions, ${sentences} sentences used\n`,
    )
    table([
      ["job", "names", "lines", "tokens", "per 1,000", "more than rule", "95 %", "seconds"],
      ...JOBS.map((job) => jobRow(job, held.get(job) ?? [], held.get("rule") ?? [], needs.length, of.lines)),
    ])
    print("")
  }
}

function jobRow(job: Job, held: readonly Held[], rule: readonly Held[], needs: number, lines: number): string[] {
  const sum = (of: (held: Held) => number) => held.reduce((total, one) => total + of(one), 0)
  const [names, rows, tokens] = [sum((one) => one.names), sum((one) => one.lines), sum((one) => one.tokens)]
  const { more, from, to } = gain(held, rule, Number(values.seed))
  const signed = (count: number) => (count > 0 ? `+${count}` : String(count))
  return [
    job,
    `${names}/${needs - lines}`,
    `${rows}/${lines}`,
    String(tokens),
    ((1000 * (names + rows)) / Math.max(1, tokens)).toFixed(1),
    ...(job === "rule" ? ["", ""] : [signed(more), `${signed(from)} to ${signed(to)}`]),
    (sum(({ ms }) => ms) / 1000 / Math.max(1, held.filter(({ ms }) => ms > 0).length)).toFixed(1),
  ]
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
