// Output of shell commands and of unknown tools: judged first, then summarized by the program that produced it.

import { type CheckReport, countsOf, failureOf } from "../../output/checks/report.ts"
import type { DigestSource } from "../../output/digest.ts"
import { textOf, type View } from "../../output/lines.ts"
import { gitSubcommand, hasTrait, type Program } from "../../output/programs.ts"
import { programsOf } from "../../output/shell.ts"
import { failureLine, outcomeWithReport, statedExit } from "../../output/verdict.ts"
import { type Draft, listed } from "./draft.ts"
import { digestGit } from "./git.ts"
import { digestJson } from "./json.ts"
import { digestLog } from "./log.ts"
import { digestFile } from "./read.ts"
import { digestMatches, digestPaths } from "./search.ts"

const HOST_NOTES =
  /^(?:Shell cwd was reset to |Command exited with code \d+$|Exit code \d+$|\(no output\)$|<\/?(?:shell|bash)_metadata>)/

export function digestCommand(source: DigestSource, view: View): Draft {
  const programs = programsOf(textOf(source.input, "command", "cmd", "script"))
  const { outcome, report: found } = outcomeWithReport(source, view.lines, source.output)
  const report = found && isCommit(programs, found) ? undefined : found
  if (report && (report.failures.length > 0 || report.total)) return digestReport(report, outcome.failure)
  const own: View = { lines: view.lines.filter((text) => !HOST_NOTES.test(text)), cut: view.cut }
  const error = source.failed && statedExit(view.lines) === undefined ? failureLine(own.lines) : undefined
  const failure = outcome.failure ?? error
  if (failure !== undefined) return { kind: "failure", gist: failure }
  const draft = digestByProgram(programs, source, own, outcome.verdict)
  return outcome.verdict ? { ...draft, verdict: outcome.verdict } : draft
}

/** Output of an MCP or custom tool, or of a terminal that is read in pieces. */
export function digestOther(source: DigestSource, view: View): Draft {
  const json = digestJson(source.output)
  if (json) return json
  const own: View = { lines: withoutWrapping(view.lines), cut: view.cut }
  const { outcome, report } = outcomeWithReport(source, own.lines, source.output)
  if (report && (report.failures.length > 0 || report.total)) return digestReport(report, outcome.failure)
  return digestLog(own)
}

/** Terminals are shown as `00001| text` between tags. A tag on a line of its own is wrapping. */
function withoutWrapping(lines: readonly string[]): string[] {
  const own = lines.filter((text) => !/^<\/?\w+(?: [^>]*)?>$|^\(End of buffer/.test(text))
  return own.map((text) => text.replace(/^\d{5}\| ?/, ""))
}

const REPORT_KINDS: Readonly<Record<CheckReport["kind"], string>> = {
  tests: "test-run",
  build: "build",
  lint: "lint",
  types: "types",
}

function digestReport(report: CheckReport, failure: string | undefined): Draft {
  const counts = countsOf(report.counts)
  const passed = counts || report.total?.trim() || "passed"
  const reason = (failure ?? failureOf(report)).replace(/ \(\d+ errors?\)$/, "")
  const head = counts === "" ? report.name : `${report.name}: ${counts}`
  // the counts already include the number in "3 failed: …"
  const what = counts === "" ? reason : reason.replace(/^\d+ failed: /, "")
  const failed = report.vague ? reason : `${head}: ${what}`
  const gist = report.verdict === "pass" ? `${report.name}: ${passed}` : failed
  return { kind: REPORT_KINDS[report.kind], gist, verdict: report.verdict }
}

/** Whether the report is that of a commit's hooks: the commit is then the subject. */
function isCommit(programs: readonly Program[], report: CheckReport): boolean {
  if (report.verdict === "fail" || report.kind === "tests") return false
  const own = programs.filter((program) => !isAside(program))
  return own.length > 0 && own.every(({ name }) => name === "git")
}

function digestByProgram(
  programs: readonly Program[],
  source: DigestSource,
  view: View,
  verdict: "pass" | "fail" | undefined,
): Draft {
  // a program behind a pipe only shapes the output of the one before it
  const sources = programs.filter((program, at) => !programs[at - 1]?.piped && !isAside(program))
  const main = sources[0]
  if (view.lines.length === 0 && main?.name !== "git") {
    if (main && familyOf(main) === "search") return { kind: "matches", gist: "no matches" }
    return { kind: "empty", gist: verdict === "pass" ? "passed, no output" : "no output" }
  }
  const json = digestJson(source.output)
  if (json) return json
  const filter = main?.piped ? programs[programs.indexOf(main) + 1] : undefined
  const log = digestLog(view)
  if (!main || (filter && hasTrait(filter, "compute"))) return log
  // with programs of several kinds it is unknown which printed what
  const isOneFamily = sources.every((program) => familyOf(program) === familyOf(main))
  return (isOneFamily ? digestFamily(sources, view, source) : undefined) ?? log
}

/** Whether a program only prepares or accompanies the others: it prints little or nothing. */
function isAside(program: Program): boolean {
  return hasTrait(program, "setup", "pause", "change", "builtin")
}

type Family = "git" | "search" | "list" | "file" | "package"

/** Programs whose output has the same format. Undefined when nothing is known about the format. */
function familyOf(program: Program): Family | undefined {
  if (program.name === "git") return "git"
  return (["search", "list", "file", "package"] as const).find((family) => hasTrait(program, family))
}

function digestFamily(programs: readonly Program[], view: View, source: DigestSource): Draft | undefined {
  const main = programs[0] as Program
  switch (familyOf(main)) {
    case "git":
      if (gitSubcommand(main.args) === "grep") return digestMatches(view)
      return programs.flatMap(({ args }) => digestGit(view, gitSubcommand(args)) ?? [])[0]
    case "search":
      return digestMatches(view, contextWord(main))
    case "list":
      return digestPaths(view)
    case "file":
      return programs.length === 1 ? digestShown(main, view, source) : undefined
    case "package":
      return digestPackages(view)
    case undefined:
      return undefined
  }
}

/** With `-A`, `-B` or `-C`, the longest word of the search pattern. */
function contextWord({ args }: Program): string | undefined {
  if (!args.some((word) => /^-[a-zA-Z]*[ABC]\d*$|^--(?:after-|before-)?context/.test(word))) return undefined
  const pattern = args.find((word) => /[a-z]{3}/i.test(word) && !word.startsWith("-")) ?? ""
  return (pattern.match(/\w{3,}/g) ?? []).reduce((longest, word) => (word.length > longest.length ? word : longest), "")
}

/** A single file that a command shows, digested as if it were read. `sed -n 10,20p` tells where the text begins. */
function digestShown({ name, args }: Program, view: View, source: DigestSource): Draft | undefined {
  const range = args.map((word) => /^(\d+),\d+p$/.exec(word)?.[1]).find(Boolean)
  const files = args.filter((word) => /[./]/.test(word) && !/^-|^\d|^s[/|#]|^\$/.test(word))
  if (files.length !== 1 || /awk$|^tail$/.test(name) || (name === "sed" && !range && args.includes("-i")))
    return undefined
  const first = Number(range ?? 1)
  const rows = view.lines.map((text, index) => ({ text, no: first + index }))
  return digestFile({ rows, path: files[0] ?? "", directory: false }, view.cut || source.output.length > 128 * 1024)
}

const INSTALL_SUMMARY =
  /^(?:(?:added|changed|removed|up to date)\b.*packages?\b|\d+ packages? (?:installed|are looking)|Checked \d+ installs|Successfully installed |Requirement already satisfied|Installed \d+ packages|Resolved \d+ packages|Packages: [+-]|Done in |Already up to date|Lockfile is up to date|installed \S+@|\d+ packages? (?:installed|removed)|success |Saved lockfile|found \d+ vulnerabilit|\d+ (?:\w+ severity )?vulnerabilit|Bundle complete!|Writing lock file|Package operations: |\d+ upgraded, )/
const INSTALL_PROBLEM = /^(?:npm (?:warn|WARN|error|ERR!)|warning|warn:?|error|ERROR|E:|WARNING|✕|ERR_PNPM\w*)/
const INSTALLED = /^(?:\+ \S+|installed \S+@\S+.*|Installing \S+ \(.*\)|\s*- Installing \S+ \(.*)$/

/** Output of a package manager: what it installed and what it warns of. Undefined when no line is of its kind. */
function digestPackages(view: View): Draft | undefined {
  const summary = view.lines.filter((text) => INSTALL_SUMMARY.test(text.trim()))
  const problems = view.lines.filter(
    (text) => INSTALL_PROBLEM.test(text.trim()) && !/npm (?:error|ERR!)\s*$/.test(text),
  )
  const installed = view.lines.filter((text) => INSTALLED.test(text))
  if (summary.length + installed.length === 0) return undefined
  const stated = summary.length > 0 ? summary : installed
  const words = [...stated, ...problems].map((text) => text.trim())
  return { kind: "install", gist: listed(words, 150, "; ") }
}
