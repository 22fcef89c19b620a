// A shell command: judged first, then told by what the program that matters prints.

import type { Report } from "../../../output/checks/report.ts"
import type { DigestSource } from "../../../output/digest.ts"
import { type Line, textOf, type View } from "../../../output/lines.ts"
import { type Program, programsOf } from "../../../output/shell.ts"
import { tellingLine } from "../../../output/telling.ts"
import { judge, statedExit } from "../../../output/verdict.ts"
import { cite, type Draft } from "../draft.ts"
import { digestJson } from "../other/json.ts"
import { digestFile } from "../read/read.ts"
import { digestMatches } from "../search/matches.ts"
import { digestPaths } from "../search/paths.ts"
import { digestReport } from "./check.ts"
import { digestGit } from "./git.ts"
import { digestLog } from "./log.ts"
import { digestPackages } from "./packages.ts"

/** Programs that do something beside the point or shape the output of the one before. */
const ASIDE = new Set(
  "cd pushd popd echo printf export set source . true : sleep mkdir chmod touch rm cp mv pwd wait date test [ [[ exit unset umask ulimit read trap".split(
    " ",
  ),
)
const HOST_NOTES =
  /^(?:Shell cwd was reset to |Command exited with code \d+$|Exit code \d+$|\(no output\)$|<\/?(?:shell|bash)_metadata>)/

export function digestCommand(source: DigestSource, view: View): Draft {
  const { judgement, report: heard } = judge(source, view.lines, source.output)
  const report = heard && isCommit(source, heard) ? undefined : heard
  if (report && (report.failures.length > 0 || report.total)) return digestReport(report, judgement.failure, view.lines)
  const own: View = { lines: view.lines.filter(({ text }) => !HOST_NOTES.test(text)), cut: view.cut }
  const broken = source.failed && statedExit(view.lines) === undefined ? tellingLine(own.lines)?.text : undefined
  const failure = judgement.failure ?? broken
  if (failure !== undefined) return { ...digestLog(own, failure), kind: "failure" }
  const draft = byProgram(source, own, judgement.verdict)
  return judgement.verdict ? { ...draft, verdict: judgement.verdict } : draft
}

function silent(verdict: "pass" | "fail" | undefined, main: Program | undefined): Draft {
  if (main && familyOf(main.name) === "search") return { kind: "matches", gist: "no matches", facts: [] }
  return { kind: "empty", gist: verdict === "pass" ? "passed, no output" : "no output", facts: [] }
}

function byProgram(source: DigestSource, view: View, verdict: "pass" | "fail" | undefined): Draft {
  const programs = programsOf(textOf(source.input, "command", "cmd", "script"))
  // a program fed by a pipe only shapes what the one before it said
  const speakers = programs.filter(({ name }, at) => !programs[at - 1]?.piped && !ASIDE.has(name))
  const main = speakers[0]
  if (view.lines.length === 0 && main?.name !== "git") return silent(verdict, main)
  const json = digestJson(source.output, view.lines)
  if (json) return json
  const filter = main?.piped ? programs[programs.indexOf(main) + 1] : undefined
  if (!main || /^(?:wc|xargs|awk|jq|python\d?|node)$/.test(filter?.name ?? "")) return digestLog(view)
  const log = digestLog(view)
  if (speakers.every(({ name }) => familyOf(name) === familyOf(main.name)))
    return digestFamily(speakers, view, source) ?? log
  // several of different kinds: what each of them said cannot be told apart, so the first lines speak
  return { ...log, facts: [...log.facts, ...view.lines.slice(0, 6).map((line) => cite("symbol", line))] }
}

type Family = "git" | "search" | "list" | "show" | "install" | "other"

function familyOf(name: string): Family {
  if (name === "git") return "git"
  if (/^(?:e?grep|fgrep|rg|ag|ack)$/.test(name)) return "search"
  if (/^(?:ls|find|fd|tree|eza|dir)$/.test(name)) return "list"
  if (/^(?:cat|bat|head|tail|sed|nl|less|more|awk)$/.test(name)) return "show"
  return /^(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|gem|bundle|brew|apt|apt-get|composer|go)$/.test(name)
    ? "install"
    : "other"
}

function digestFamily(speakers: readonly Program[], view: View, source: DigestSource): Draft | undefined {
  const main = speakers[0] as Program
  switch (familyOf(main.name)) {
    case "git":
      if (verbOf(main) === "grep") return digestMatches(view)
      return speakers.flatMap((program) => digestGit(view, verbOf(program)) ?? [])[0]
    case "search":
      return digestMatches(view, contextOf(main))
    case "list":
      return digestPaths(view)
    case "show":
      return speakers.length === 1 ? digestShown(main, view, source) : undefined
    case "install":
      return digestPackages(view)
    case "other":
      return undefined
  }
}

/** With `-A`, `-B` or `-C`, the longest word of what was searched for. */
function contextOf({ args }: Program): string | undefined {
  if (!args.some((word) => /^-[a-zA-Z]*[ABC]\d*$|^--(?:after-|before-)?context/.test(word))) return undefined
  const pattern = args.find((word) => /[a-z]{3}/i.test(word) && !word.startsWith("-")) ?? ""
  return (pattern.match(/\w{3,}/g) ?? []).reduce((longest, word) => (word.length > longest.length ? word : longest), "")
}

/** A commit that ran its hooks is told as a commit. */
function isCommit(source: DigestSource, report: Report): boolean {
  if (report.verdict === "fail" || report.kind === "tests") return false
  const programs = programsOf(textOf(source.input, "command", "cmd", "script")).filter(({ name }) => !ASIDE.has(name))
  return programs.length > 0 && programs.every(({ name }) => name === "git")
}

/** `git -C dir status`: the first word that is neither an option nor an option's value. */
function verbOf({ args }: Program): string {
  for (let at = 0; at < args.length; at++) {
    if (args[at] === "-C" || args[at] === "-c") at++
    else if (!args[at]?.startsWith("-")) return args[at] ?? ""
  }
  return ""
}

/** One file on the screen is a read. `sed -n 10,20p` says where it begins. */
function digestShown({ name, args }: Program, view: View, source: DigestSource): Draft | undefined {
  const range = args.map((word) => /^(\d+),\d+p$/.exec(word)?.[1]).find(Boolean)
  const files = args.filter((word) => /[./]/.test(word) && !/^-|^\d|^s[/|#]|^\$/.test(word))
  if (files.length !== 1 || name === "awk" || (name === "sed" && !range && args.includes("-i"))) return undefined
  const first = name === "tail" ? undefined : Number(range ?? 1)
  if (first === undefined) return undefined
  const rows = view.lines.map((line: Line, index) => ({ ...line, no: first + index }))
  return digestFile({ rows, path: files[0] ?? "", directory: false }, view.cut || source.output.length > 128 * 1024)
}
