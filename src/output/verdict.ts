// Whether a command succeeded, judged by what it printed as much as by its exit code: a test run piped through `tail`
// exits 0 whatever happened. Reads only the tail of the output.

import { asString } from "../system/values.ts"
import { reportsIn, selectReport } from "./checks/checks.ts"
import { type CheckReport, failureOf } from "./checks/report.ts"
import { hidesExit, isCheck, spelled } from "./commands.ts"
import type { DigestSource } from "./digest.ts"
import { clip, lastLines, toLines } from "./lines.ts"
import { hasTrait, isViewer, type Program } from "./programs.ts"
import { programsOf } from "./shell.ts"

/**
 * `failure` says in one line, at most 160 characters, what failed. It is set exactly when `verdict` is `fail`. `report`: what
 * the verdict rests on, if that is a report; without a verdict, the report of a test run in which no test ran. `tests`: of a
 * command that failed, what test runs in its output say. `both`: where tests and another check failed, what each says.
 */
export type Outcome = {
  verdict?: Verdict
  failure?: string | undefined
  report?: CheckReport
  both?: readonly [tests: string, other: string] | undefined
  tests?: Verdict | undefined
}
type Verdict = CheckReport["verdict"]

type OutcomeSource = Pick<DigestSource, "tool" | "kind" | "input" | "output" | "exit">

const MAX_TAIL_CHARS = 16 * 1024
/** How much of a run is read when its end names no failure: a test may have printed a page after it. */
const MAX_RUN_CHARS = 64 * 1024
const CHECK_SCRIPT = /^(?:test|check|lint|typecheck|type-check|types|tsc|build|compile|verify|ci)(?:[:_-]|$)/

/**
 * The outcome of a command; empty when it neither is a check nor failed. A `grep` that finds nothing has not failed. Of other
 * tools only unknown ones have an outcome, and only when their output certainly comes from a test runner or a compiler.
 * Never throws. `given`: the lines of the output to judge, if it is split already.
 */
export function verdictOf(source: OutcomeSource, given?: readonly string[]): Outcome {
  if (source.kind !== "command" && source.kind !== "other") return {}
  const { command, programs, exit, lines, isStated } = runOf(source, given)
  const reports = programs.length > 0 && programs.every(relays) ? [] : reportsIn(lines)
  const masked = exit === 0 && hidesExit(programs)
  const certain = source.kind === "other" ? reports.filter(({ sure }) => sure) : reports
  const report = selectReport(certain, masked ? undefined : exit)
  const isLong = !given && source.output.length > MAX_TAIL_CHARS
  const withMore = () => verdictOf(source, lastLines(source.output, MAX_RUN_CHARS))
  if (isLong && report?.verdict === "fail" && report.failures.length === 0) return withMore()
  const terminated = terminationReason(source.output.slice(-1000))
  const run = reports.find(({ isTests }) => isTests)
  const failed = (failure: string) => ({ verdict: "fail", failure, tests: run?.verdict }) as const
  // of a server that the host ended, `error: script "start" was terminated` says less
  if (report?.verdict === "fail" && !(report.vague && terminated))
    return { ...failed((report.vague && failureText(lines)) || failureOf(report)), report, both: bothIn(run, reports) }
  if (runsOn(source) || isOpen(source)) return {}
  if (terminated) return { verdict: "fail", failure: terminated }
  if (exit !== undefined && exit !== 0 && !isAnswer(programs, exit, lines)) {
    // what a command printed until `timeout` ended it does not say so
    const isLate = exit === 124 && /\btimeout\b/.test(command)
    const reason = isLate ? "timed out" : failureText(lines)
    if (isLate || FAILURE_PATTERNS.some((pattern) => pattern.test(reason))) return failed(reason)
    if (isLong) return withMore()
    // what ran may have been a search that found nothing
    if (source.kind === "other" && command === "") return {}
    // the last line of what a command printed may have nothing to do with its failure
    return failed(clip(`exit code ${exit}${reason === "" ? ", nothing printed" : `: ${reason}`}`))
  }
  // `head` left out the end, where a failure may be, or `tail` the beginning of a run in several packages
  const { name = "", args = [] } = programs.at(-1) ?? {}
  const isPart = /^(?:head|tail)$/.test(name) && lines.length >= Number(/\d+/.exec(args.join(" "))?.[0] ?? 10)
  if (report && masked && isPart && (name === "head" || / (?:-ws|--workspaces)\b/.test(command))) return {}
  // no test had the name that was given, nor may one have had it in a package of Go or Cargo whose line was left out
  const { total = "", counts = {} } = report ?? {}
  const [isCargo, isGo] = [total.startsWith("test result"), /^(?:ok {2}|PASS$)/.test(total)]
  const isNone = /no tests/i.test(total) || (counts.passed ?? (counts.skipped ? 0 : 1)) === 0
  const mayHaveRun =
    (isPart && !/\bgo test (?!.*\.\.\.)/.test(command)) ||
    MAY_HAVE_RUN.test(source.output) ||
    (isCargo && !/ [1-9]\d* filtered/.test(source.output))
  if (report && isNone && !((isCargo || isGo) && mayHaveRun)) return { report: { ...report, total: "no tests to run" } }
  // jest and vitest count a file that they cannot load in another line, not among the tests
  const isHalf = /^ *Tests(?: {2}|:.* total$)/.test(report?.total ?? "")
  if (masked && isHalf && !lines.some((text) => /(?:^|: ) *Test (?:Files {2}|Suites: )/.test(text))) return {}
  if (report) return { verdict: "pass", report }
  return passesSilently({ command, programs, exit, lines, isStated }) ? { verdict: "pass" } : {}
}

/** What a test run says and what another check does, if both failed. A compiler's message alone may be about a test. */
function bothIn(run: CheckReport | undefined, reports: readonly CheckReport[]): Outcome["both"] {
  const others = reports.filter((one) => one !== run)
  const isOther = ({ verdict, sure, vague, total }: CheckReport) =>
    verdict === "fail" && sure && !vague && total && !/spec|test|coverage/i.test(total)
  const other = run?.verdict === "fail" && others.some(isOther) && selectReport(others, 1)
  return other ? [failureOf(run), failureOf(other)] : undefined
}

/** The line of a Go package that ran tests, or the host's note that it left lines out. */
const MAY_HAVE_RUN = /^(?:ok {2}\t(?!.*\[no tests to run\]$)|\.\.\.output truncated)/m

/** Whether a program only passes on what others wrote, such as a page or the log of another run. */
const relays = (program: Program) =>
  isViewer(program) || /^(?:gh|curl|wget|python[\d.]* -c|(?:docker|kubectl).* logs)(?: |$)/.test(spelled(program))

/** The programs of a command, its exit code, and what it printed. */
function runOf({ kind, input, output, exit }: OutcomeSource, given?: readonly string[]) {
  const lines = given ?? lastLines(kind === "other" ? output.replace(/^\d{5}\| ?/gm, "") : output, MAX_TAIL_CHARS)
  const command = asString(input.command) ?? ""
  const programs = programsOf(command)
  const last = programs.at(-1)
  const [before = "", after] = last?.name === "echo" ? last.args.join(" ").split("$?") : []
  const code = Number(/\d+/.exec(lines.at(-1)?.slice(before.length) ?? ""))
  // `npm test; echo "exit: $?"` states the code itself
  if (after !== undefined && lines.at(-1) === `${before}${code}${after}`)
    return { command, programs: programs.slice(0, -1), exit: code, lines: lines.slice(0, -1), isStated: true }
  // some hosts state it in the output instead of a field
  const found = /^Exit code (\d+)$/.exec(lines[0] ?? "") ?? EXITED.exec(lines.at(-1) ?? "")
  return { command, programs, exit: exit ?? (found ? Number(found[1] ?? found[2]) : undefined), lines, isStated: false }
}

const EXITED = /^(?:Command exited with code (\d+)$|✅ Process completed with exit code (\d+)\b)/

/** Whether a command only found nothing. Some hosts report each exit code other than 0 as an error. */
export function hasFoundNothing(source: OutcomeSource): boolean {
  const { programs, exit, lines } = runOf(source)
  return exit !== undefined && isAnswer(programs, exit, lines)
}

function isAnswer(programs: readonly Program[], exit: number, lines: readonly string[]): boolean {
  const at = programs.findLastIndex((program) => answers(program, exit))
  if (at < 0 || programs.slice(at, -1).some(({ next }) => next !== "&&")) return false
  // in `which x && x` the exit code is that of `which` if nothing is printed; `echo` has none of its own
  if (programs.slice(at + 1).some((program) => !hasTrait(program, "setup")) && !isSilent(lines)) return false
  // on an error `grep` itself exits with 2; `xargs grep`, or the `cd` of `cd x && grep y`, exits as here and prints one
  const isSure = programs.length === 1 && programs.every((program) => hasTrait(program, "answer"))
  return isSure || !lines.some((text) => COMPLAINT.test(text))
}

const COMPLAINT = /^\S*(?:cd|ls|cat|bash|sh|zsh|find|xargs|grep|rg|error|fatal)\b.*: |^(?:npm )?err(?:or|!) /i

/** Whether a program says with this exit code that it found nothing, or a difference. */
function answers(program: Program, exit: number): boolean {
  const { name, args } = program
  if (exit === 1 && (hasTrait(program, "answer") || args[0] === "outdated")) return true
  const isRunner = (name === "xargs" && exit === 123) || (name === "find" && exit === 1)
  return isRunner && args.some((word) => hasTrait({ name: word, args: [] }, "search"))
}

/** Whether nothing was printed except the notes of a host. */
function isSilent(lines: readonly string[]): boolean {
  return lines.every((text) => text === "" || /^(?:Command exited with|Exit) code \d+$|^\(no output\)$/.test(text))
}

/** A check that states its exit code 0, or exits so in silence, has passed; so has one of which `head` or a filter shows no error. */
function passesSilently({ command, programs, exit, lines, isStated }: ReturnType<typeof runOf>): boolean {
  const at = programs.findLastIndex(isStated ? isCheck : isSilentCheck)
  const check = programs[at]
  if (check?.next !== "|") return exit === 0 && at >= 0 && at === programs.length - 1 && check?.next !== "&"
  // a compiler that fails says so, unless that goes elsewhere; a blank line may be the last of what it says
  if (!isSilentCheck(check) || !isSilent(lines) || lines[0] === "" || command.includes("/dev/null")) return false
  const isWhole = /^(?:head|tail)$/.test(programs[at + 1]?.name ?? "") && !hasTrait(check, "script")
  return isWhole || ERROR_FILTER.test(programs.slice(at).map(spelled).join(" \n "))
}

/** A check that says `error` when it fails, as scripts other than tests mostly do, behind a filter for that: not `a.ts.*error`. */
const ERROR_FILTER =
  /^(?:(?:vue-)?tsc|mypy|rustc|javac|gcc|g\+\+|cc|clang|cargo (?!fmt)|(?:npm|pnpm|yarn|bun|make)\b(?!.*\btest)).*\n (?:[ef]?grep|rg) (?:-[EinP]+ )*\(?(?:[^()\n]*\|)?\^?error(?::| TS)?(?:\\?\|[^()\n]*)?\)?(?: \n (?:head|tail).*)?$/

function isSilentCheck(program: Program): boolean {
  const [first = "", second = ""] = program.args.filter((word) => !word.startsWith("-"))
  if (hasTrait(program, "script")) return CHECK_SCRIPT.test(/^run(?:-script)?$/.test(first) ? second : first)
  if (program.name === "go" || program.name === "cargo") return /^(?:build|vet|test|check|clippy|fmt)$/.test(first)
  return hasTrait(program, "silent")
}

/** The shell that complains, with a line number in any language, or a frame. */
const SHELL =
  /^(?:\/\S*\/)?(?:bash|sh|zsh): (?:(?:\p{L}+ )?\d+\.?(?: \p{L}+)? ?[:：] ?)?(?=\S)|^\(eval\):\d+: |^=+ | =+$/gu

/** The failure line without a frame, and the shell that complained: `bash: line 1: foo: command not found`. */
function failureText(lines: readonly string[]): string {
  return clip((failureLine(lines)?.trim() ?? "").replace(SHELL, ""))
}

/** What a failure looks like, most specific first: the first pattern that any line matches decides. */
const FAILURE_PATTERNS: readonly RegExp[] = [
  /^(?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Fault)\b(?: \[\w+\])?:? |panic: |Uncaught (?!exception in )|Unhandled |! [A-Z].*(?:\.$|Error: )|! \[rejected\] |CONFLICT \(|thread '.+ panicked)|\((?:\w+::)*\w+(?:Error|Exception)\)$/,
  /^(?:[\w./-]+: )?(?:fatal|FATAL|fatal error|FATAL ERROR): (?!Could not read from remote)/,
  /^(?:[\w./-]+: )?(?:(?:error|ERROR|Error)(?:\[\w+\])?:? |(?:Schwerwiegend|Fehler|erreur|(?:致命)?(?:错误|錯誤))\s?[:：]\s?)\S|^flag provided but not defined: /,
  /: (?:[Nn]o such file or directory|[Cc]ommand not found|[Pp]ermission denied|[Nn]ot a directory|[Ii]s a directory|[Cc]annot \w+|not found|File exists|[Ii]nvalid \w+|unrecognized \w+|illegal option|[Nn]o matches found|[Uu]nknown \w+|syntax error|[Cc]onnection refused|unbound variable|No rule to make)|^\(eval\):\d+: /,
  /^\[?(?:✗|✘|✖|×|❌|>> Issue|ERR!?|E:|error|FAIL(?:ED)?|ERROR|CRITICAL)\]?[\s:!](?![✘• ]*\(\d+ \/)/,
  /^npm (?:error|ERR!) (?!command|Lifecycle)/,
  /\b(?:cannot|could not|can't|unable to|failed to|failed with|refused|denied|timed out|terminated|aborted|rejected|conflict|missing required|not found|No such file|couldn't|Segmentation fault|\d Killed|did not match|not recognized as|no (?:tests?|files)\b.*\bfound)\b|^(?:unknown|unsupported|unrecognized|unexpected|invalid) (?!.*: +0\s*$)\S/i,
  /^npm (?:error|ERR!) command (?:sh|cmd|C:)/,
  /(?<!\b0 )\b(?:errors?|fail(?:ed|ures?)?|exception)\b(?!: +0\b)/i,
]
const NOISE =
  /^\s*(?:$|at\s|\[?\d+\/\d+\]|Waiting for|Debugger |\.\.\.output truncated|Full output saved to|The tool call succeeded but|npm (?:error|ERR!)(?: *$| A complete log| (?:code|errno|path|syscall|location|workspace|command failed)\b)|[-=_*#~─]+$|\^+|Node\.js v|Bun v|\(Use `node |FAILURE: Build failed with an exception|ERROR: usage: |Error occurred when checking code style|\S.* (?:aborted due to compilation|had compilation) errors\.$)|^<\/?\w+>|^(?:(?:Command exited with|Exit) code|exit status) \d+$|exited with (?:exit )?code \d+\.?$/
const MAX_SCANNED_LINES = 400

/** Stands beside what was wrong and does not say it: a usage text, kubectl's log of each attempt, npm's notices. */
const HINT =
  /^\s*(?:usage: |npm notice\b|(?:usage|options|flags|commands|arguments):$|\S+ \[(?:options|flags)\]|(?:\S+: |for more information, )?(?:try|see|run|use) ['"`].* (?:--?h|--help|--manual)\b|-{1,2}[a-z][\w-]*[, =].* {2}\S|[EWI]\d{4} \d\d:\d\d:\d\d\.)/i

/** The line that best says why a command failed. Undefined when the output has only noise. */
export function failureLine(lines: readonly string[]): string | undefined {
  const said = lines.slice(-MAX_SCANNED_LINES).filter((text) => !NOISE.test(text))
  const reasons = said.filter((text) => !HINT.test(text))
  // a usage text alone begins with what the program expected
  const candidates = reasons.length > 0 ? reasons : said.slice(0, 1)
  for (const pattern of FAILURE_PATTERNS) {
    const found = candidates.find((text) => pattern.test(text.trimStart()))
    if (!found) continue
    // the line below a heading belongs to it, and says all where the heading is only a place
    const below = found.endsWith(":") ? candidates[candidates.indexOf(found) + 1] : undefined
    return below === undefined || /:\d+:$/.test(found) ? (below ?? found) : `${found} ${below.trim()}`
  }
  // not the script that a runner announces; a bracket or a number only where there is nothing else
  const own = candidates.filter((text) => !/^[>$] /.test(text))
  return own.findLast((text) => /\p{L}/u.test(text)) ?? own.at(-1)
}

/** Whether a command goes on after its call has ended: what it has printed by then is no verdict. */
export function runsOn({ input, output, exit }: Pick<OutcomeSource, "input" | "output" | "exit">): boolean {
  if (input.background === true) return true
  return exit === undefined && RUNS_ON.test(output.slice(0, 300)) && !/^✅ Process /m.test(output.slice(-300))
}

const RUNS_ON =
  /^(?:Process (?:is )?(?:still )?running|Process started|Command (?:is )?running in (?:the )?background)\b/im

/** Whether the command in a terminal still runs, as the tag above its output says: a failing test may be yet to come. */
export const isOpen = ({ output }: Pick<OutcomeSource, "output">) =>
  /^<\w+ [^>\n]*\bstatus="running"/.test(output.slice(0, 300))

/** The failure of a command that the user aborted. */
export const ABORTED = "aborted by the user"
/** Why the host ended a command itself, from the note it appends to the output. */
function terminationReason(tail: string): string | undefined {
  const at = tail.search(/<(?:shell|bash)_metadata>/)
  const note = at < 0 ? "" : (toLines(tail.slice(at)).find((text) => /terminated|timeout|aborted/i.test(text)) ?? "")
  const timeout = /exceeding timeout (\d+) ?ms|timed out after (\d+)/.exec(note)
  if (timeout) return `timed out after ${timeout[1] ?? timeout[2]} ms`
  return /abort/i.test(note) ? ABORTED : undefined
}
