// Runs every class of docs/reliability.md at full size, one after the other, and writes the results into the document's tables.
// With arguments, only the named classes run and only their rows are updated: `npm run prove -- faults load`.

import { readFile, writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import * as z from "zod"
import { bunTests } from "./bun-tests.ts"
import { type Row, rowOf } from "./class-table.ts"
import { CLASSES, type Class } from "./classes.ts"
import { fill } from "./fill.ts"
import { sum } from "./junit.ts"

const DOCUMENT = "docs/reliability.md"
const FULL = { HUDFOLD_PROVE: "full", HUDFOLD_LARGE: "1", HUDFOLD_REQUIRE_MODEL: "1", HUDFOLD_REQUIRE_TMUX: "1" }
const caseSchema = z.object({ case: z.string(), passed: z.boolean(), figure: z.string() })
type Case = z.infer<typeof caseSchema>

const given = process.argv.slice(2)
const unknown = given.filter((name) => !CLASSES.some((one) => one.name === name))
if (unknown.length) {
  const known = CLASSES.map(({ name }) => name).join(", ")
  process.stderr.write(`no class is called ${unknown.join(", ")}; expected any of: ${known}\n`)
  process.exit(2)
}

const commit = (await Bun.$`git rev-parse --short HEAD`.text()).trim()
const proofs: Proof[] = []
for (const one of CLASSES) if (!given.length || given.includes(one.name)) proofs.push(await prove(one))
const document = await readFile(DOCUMENT, "utf8")
const page = pageOf(proofs, linesOf(document))
process.stdout.write(`\n${page}`)
await writeFile(DOCUMENT, fill(DOCUMENT, document, "proofs", "npm run prove", page))
process.exitCode = proofs.every(({ row, died }) => row.passed === row.cases && row.cases > 0 && !died) ? 0 : 1

type Proof = { row: Row; figures: Case[]; died: boolean }

async function prove(one: Class): Promise<Proof> {
  process.stdout.write(`\n# ${one.name}\n`)
  const began = performance.now()
  const run = await bunTests({ args: one.tests.map((path) => `./${path}`), env: FULL })
  const figures = one.bench ? await measure(one.bench) : []
  const row = rowOf(one, run.outcomes)
  row.cases += figures.length
  row.passed += figures.filter(({ passed }) => passed).length
  row.seconds = (performance.now() - began) / 1000
  // failed tests are in the row; a run that died without one, or a bench without a figure, proved nothing
  const died = !run.passed && sum(run.outcomes).failed === 0
  return { row, figures, died: died || (one.bench !== undefined && figures.length === 0) }
}

async function measure(program: readonly string[]): Promise<Case[]> {
  const bench = Bun.spawn([process.execPath, ...program], { stdin: "ignore", stdout: "pipe", stderr: "inherit" })
  const lines = (await new Response(bench.stdout).text()).split("\n").filter((line) => line.startsWith("{"))
  await bench.exited
  return lines.map((line) => caseSchema.parse(JSON.parse(line)))
}

/** The lines of the document's tables, by their first cell. */
function linesOf(document: string): Map<string, string> {
  return new Map([...document.matchAll(/^\| ([^|]+) \|.*\n/gm)].map(([line, name = ""]) => [name, line]))
}

/** Classes that were not run, or died, keep their lines from `known`. */
function pageOf(proofs: readonly Proof[], known: ReadonlyMap<string, string>): string {
  const rows = CLASSES.map(({ name }) => {
    const proof = proofs.find(({ row }) => row.name === name)
    return proof && !proof.died ? lineOf(proof.row) : (known.get(name) ?? "")
  })
  const figures = proofs.flatMap(({ figures, died }) =>
    (died ? [] : figures).map((one) => `| ${one.case} | ${one.figure} | ${one.passed ? "yes" : "**no**"} |\n`),
  )
  const notRows = ["class", "measured", "---", ...CLASSES.map(({ name }) => name)]
  const measured = figures.length ? figures : [...known].flatMap(([name, line]) => (notRows.includes(name) ? [] : line))
  const head =
    "| class | what holds | cases | passed | skipped | took | on |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n"
  const second = "\n| measured | figure | within its limit |\n| --- | --- | --- |\n"
  const where = `On ${process.platform}, ${process.arch}, ${availableParallelism()} processors.\n\n`
  return `${where}${head}${rows.join("")}${measured.length ? second + measured.join("") : ""}`
}

/** With the day and the commit of the run, since not all classes are run each time. */
function lineOf({ name, proves, cases, passed, skipped, seconds }: Row): string {
  const today = new Date().toISOString().slice(0, 10)
  return `| ${name} | ${proves} | ${cases} | ${passed} | ${skipped || ""} | ${duration(seconds)} | ${today}, ${commit} |\n`
}

function duration(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
