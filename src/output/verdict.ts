// Whether a command did what it was run for, judged by what it printed as much as by its exit code: a test run piped
// through `tail` exits 0 whatever happened. Reads the tail of the output only.

import { reportsIn, verdictAmong } from "./checks/checks.ts"
import { failureOf, type Report } from "./checks/report.ts"
import type { DigestSource } from "./digest.ts"
import { clip, type Line, lookAtTail, textOf } from "./lines.ts"
import { isViewer, type Program, programsOf } from "./shell.ts"
import { hostNote, tellingLine } from "./telling.ts"

export type Judgement = { verdict?: "pass" | "fail"; failure?: string }
export type JudgedSource = Pick<DigestSource, "tool" | "kind" | "input" | "output" | "exit">

const TAIL_CHARS = 16 * 1024

/** Programs whose exit code 1 is an answer (no match, different, absent), not a failure. */
const ANSWERS = new Set(
  "grep egrep fgrep rg ag ack zgrep diff cmp test [ [[ which type command pgrep pidof expr false colordiff fc lsof".split(
    " ",
  ),
)
/** Checkers that say nothing when all is well. */
const SILENT = new Set(
  "tsc tsgo vue-tsc eslint oxlint biome stylelint flake8 shellcheck gofmt gofumpt cargo rustc gcc g++ clang clang++ cc javac go mypy pylint".split(
    " ",
  ),
)
const CHECK_SCRIPT = /^(?:test|check|lint|typecheck|type-check|types|tsc|build|compile|verify|ci)(?:[:_-]|$)/

/**
 * Judges one command's output. `verdict` is `fail` exactly when `failure` is set: one line, at most 160 characters,
 * that says what failed. Both are absent when the output is no check's and the exit code no failure's: `grep` that
 * found nothing is an answer. Never throws; outputs of other kinds of tools get a verdict only where a test runner or
 * compiler is plainly heard.
 */
export function verdictOf(source: JudgedSource): Judgement {
  const output = typeof source.output === "string" ? source.output : ""
  if (source.kind !== "command" && source.kind !== "other") return {}
  const view = lookAtTail(output, TAIL_CHARS)
  return judge(source, view.lines, output).judgement
}

/** The same over lines already at hand, with the report the judgement rests on. */
export function judge(
  source: JudgedSource,
  lines: readonly Line[],
  output: string,
): { judgement: Judgement; report?: Report } {
  const programs = source.kind === "command" ? programsOf(textOf(source.input, "command", "cmd", "script")) : []
  const exit = typeof source.exit === "number" ? source.exit : statedExit(lines)
  const reports = programs.length > 0 && programs.every(isViewer) ? [] : reportsIn(lines)
  // a pipe hides the exit code: 0 then says nothing
  const masked = exit === 0 && programs.some(({ piped }) => piped)
  const report = verdictAmong(
    source.kind === "other" ? reports.filter(({ sure }) => sure) : reports,
    masked ? undefined : exit,
  )
  const note = hostNote(output.slice(-1000))
  if (report?.verdict === "fail") {
    const telling = report.vague ? told(lines) : undefined
    return { judgement: { verdict: "fail", failure: telling || failureOf(report) }, report }
  }
  if (source.kind === "other") return report ? { judgement: { verdict: "pass" }, report } : { judgement: {} }
  if (note) return { judgement: { verdict: "fail", failure: note } }
  if (exit !== undefined && exit !== 0 && !isAnswer(programs, exit, lines)) {
    return { judgement: { verdict: "fail", failure: told(lines) || `exit code ${exit}, nothing printed` } }
  }
  if (report) return { judgement: { verdict: "pass" }, report }
  return { judgement: passesSilently(programs, exit, lines) ? { verdict: "pass" } : {} }
}

/** An exit code told in the output itself, as some hosts do in place of a field. */
export function statedExit(lines: readonly Line[]): number | undefined {
  const first = /^Exit code (\d+)$/.exec(lines[0]?.text ?? "")
  const last = /^Command exited with code (\d+)$/.exec(lines.at(-1)?.text ?? "")
  const found = first?.[1] ?? last?.[1]
  return found === undefined ? undefined : Number(found)
}

function isAnswer(programs: readonly Program[], exit: number, lines: readonly Line[]): boolean {
  const last = programs.at(-1)
  if (!last || exit !== 1) return false
  const answers =
    ANSWERS.has(last.name) ||
    (last.name === "git" && /^(?:diff|grep|merge-base|show-ref|check-ignore|config)$/.test(last.args[0] ?? ""))
  if (!answers) return false
  // in `cd x && grep y` the exit code may be another's, which then has complained
  return (
    programs.length === 1 || !lines.some(({ text }) => /^\S*(?:cd|ls|cat|bash|sh|zsh|error|fatal)\b.*: /i.test(text))
  )
}

/** A checker that exits 0 without a word has passed; so has one whose output, sifted for errors, came up empty. */
function passesSilently(programs: readonly Program[], exit: number | undefined, lines: readonly Line[]): boolean {
  const at = programs.findLastIndex(isCheck)
  const check = programs[at]
  if (!check) return false
  if (!check.piped) return exit === 0 && at === programs.length - 1
  const sifted = programs[at + 1]
  const said = lines.filter(
    ({ text }) => text !== "" && !/^(?:Command exited with|Exit) code \d+$|^\(no output\)$/.test(text),
  )
  return (
    said.length === 0 && /^(?:e?grep|rg)$/.test(sifted?.name ?? "") && /error|fail/i.test(sifted?.args.join(" ") ?? "")
  )
}

function isCheck({ name, args }: Program): boolean {
  const [first = "", second = ""] = args.filter((word) => !word.startsWith("-"))
  if (/^(?:npm|pnpm|yarn|bun|deno|make|just|task|mise|moon|nx|turbo)$/.test(name)) {
    return CHECK_SCRIPT.test(first) || (/^run(?:-script)?$/.test(first) && CHECK_SCRIPT.test(second))
  }
  if (name === "go" || name === "cargo") return /^(?:build|vet|test|check|clippy|fmt)$/.test(first)
  return SILENT.has(name)
}

/** The most telling line, without the prompt of the shell that complained: `bash: line 1: foo: command not found`. */
function told(lines: readonly Line[]): string {
  const text = tellingLine(lines)?.text.trim() ?? ""
  return clip(text.replace(/^(?:\/\S*\/)?(?:bash|sh|zsh): (?:line \d+: |\d+: )?(?=\S)|^\(eval\):\d+: /, ""))
}
