// The digest writer that needs no model: what a check said, else how long the output is and how it begins.

import { type CheckReport, countsOf, failureOf } from "../../output/checks/report.ts"
import type { Digest, DigestSource } from "../../output/digest.ts"
import { clip, textOf, type View, viewOf } from "../../output/lines.ts"
import { showsOf } from "../../output/shows.ts"
import { failureLine, outcomeWithReport, statedExit } from "../../output/verdict.ts"
import { defined } from "../../system/values.ts"
import { plural } from "../../text/format.ts"
import { withoutLineNumbers, withoutReminders, withoutTruncationNote } from "./lines.ts"

/** A digest of any tool output. Deterministic; never throws; reads at most the first and the last 64 kB. */
export function extract(source: DigestSource): Digest {
  const output = typeof source.output === "string" ? source.output : ""
  const input = typeof source.input === "object" && source.input !== null ? source.input : {}
  const digest = digestOf({ ...source, input, output }, withoutTruncationNote(viewOf(output)))
  return { ...digest, gist: clip(digest.gist) || "no output" }
}

function digestOf(source: DigestSource, view: View): Digest {
  const content: View = { lines: contentOf(view.lines), cut: view.cut }
  if (source.kind === "command" || source.kind === "other") return digestRun(source, view, content)
  return source.failed ? digestFailure(content) : digestText(content, kindOf(source, view))
}

/** Lines around the content: tags, and the notes of read tools and shells. */
const AROUND =
  /^(?:<(path|type)>.*<\/\1>|<\/?[\w-]+(?: [^>]*)?>)$|^\((?:End of (?:file|buffer)|File has more lines|Showing lines|Output capped|no output\)|\d+ entries)|^(?:Shell cwd was reset to |Command exited with code \d+$|Exit code \d+$)/

/** The lines that say something. */
function contentOf(lines: readonly string[]): string[] {
  const own = withoutReminders(lines).flatMap((text) =>
    AROUND.test(text) ? [] : text.replace(/^<(?:content|file|output|entries|results?)>(?=.)|^\d{5}\| ?/, ""),
  )
  return withoutLineNumbers(own).filter((text) => /[\p{L}\p{N}]/u.test(text))
}

/** `text` is what a model can say more about than its first lines. */
function kindOf({ tool, kind, input, output }: DigestSource, { lines }: View): "text" | "list" {
  if (kind === "command") return showsOf(tool, kind, [], textOf(input, "command")) === "file" ? "text" : "list"
  if (kind === "other") return /^\s*[{[]/.test(output.slice(0, 100)) ? "text" : "list"
  if (kind === "read") return lines.slice(0, 3).includes("<type>directory</type>") ? "list" : "text"
  return kind === "web" || kind === "skill" ? "text" : "list"
}

/** Output of a command, or of an unknown tool, which may run one. */
function digestRun(source: DigestSource, view: View, content: View): Digest {
  // a terminal that is read in pieces has numbers and tags around its lines
  const lines = source.kind === "other" ? content.lines : view.lines
  const { outcome, report } = outcomeWithReport(source, lines, source.output)
  const { verdict } = outcome
  if (report && (report.failures.length > 0 || report.total)) return digestReport(report, outcome.failure)
  const isError = source.failed && statedExit(view.lines) === undefined
  const failure = outcome.failure ?? (isError ? failureLine(content.lines) : undefined)
  if (failure !== undefined) return { kind: "failure", gist: failure, ...defined({ verdict }) }
  if (verdict === "pass" && content.lines.length === 0) return { kind: "empty", gist: "passed, no output", verdict }
  return { ...digestText(content, kindOf(source, view)), ...defined({ verdict }) }
}

function digestReport(report: CheckReport, failure: string | undefined): Digest {
  const { isTests, verdict, vague, total } = report
  const counts = countsOf(report.counts)
  // the counts already include the number in "3 failed: …"
  const said = (failure ?? failureOf(report)).replace(/ \(\d+ errors?\)$/, "")
  const reason = counts === "" ? said : said.replace(/^\d+ failed: /, "")
  const failed = vague || counts === "" ? reason : `${counts}: ${reason}`
  const gist = verdict === "pass" ? counts || total?.trim() || "passed" : failed
  return { kind: isTests ? "test-run" : "check", gist, verdict }
}

function digestFailure({ lines }: View): Digest {
  return { kind: "failure", gist: (lines.length > 3 ? failureLine(lines) : lines[0]) ?? "failed without output" }
}

/** Up to this many lines are shown without a count. */
const MAX_WHOLE_LINES = 3
const MAX_LEAD_CHARS = 160

function digestText({ lines, cut }: View, kind: "text" | "list"): Digest {
  if (lines.length === 0) return { kind: "empty", gist: "no output" }
  const lead = joined(withoutFolder(lines))
  const isLong = lines.length > MAX_WHOLE_LINES
  return isLong ? { kind, gist: `${plural(lines.length, "line", cut)}: ${lead}` } : { kind: "list", gist: lead }
}

/** The lines without the folder that all absolute paths at their starts share. */
function withoutFolder(lines: readonly string[]): readonly string[] {
  const paths = lines.filter((text) => text.startsWith("/"))
  let folder = paths[1] ?? ""
  do folder = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1)
  while (!paths.every((path) => path.startsWith(folder)))
  return folder.length > 1 ? lines.map((text) => (text.startsWith(folder) ? text.slice(folder.length) : text)) : lines
}

/** As many of the lines as fit. */
function joined(lines: readonly string[]): string {
  let text = ""
  for (const line of lines) {
    if (text.length > MAX_LEAD_CHARS) break
    text += `${text === "" ? "" : " / "}${line.slice(0, MAX_LEAD_CHARS).trim()}`
  }
  return text
}
