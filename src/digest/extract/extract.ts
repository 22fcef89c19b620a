// The digest writer that needs no model: what a check said, else how long the output is and how it begins.

import { type CheckReport, countsOf, failureOf } from "../../output/checks/report.ts"
import type { DigestSource } from "../../output/digest.ts"
import { clip, type View, viewOf } from "../../output/lines.ts"
import { showsOf } from "../../output/shows.ts"
import { failureLine, verdictOf } from "../../output/verdict.ts"
import { asString } from "../../system/values.ts"
import { plural } from "../../text/format.ts"
import { withoutLineNumbers, withoutReminders, withoutTruncationNote } from "./lines.ts"

/** `isText`: it is text of several lines, of which a model can say more than its first lines. */
type Extract = { digest: string; isText: boolean }

/** What some shell tools say of a run, above what it printed. */
const RUN_HEADER =
  /^(?:Process started with PID .*\nInitial output:\n|(?:(?:Command: |Chunk ID: |Exit code: |Wall time:? |Process (?:exited|running) with |Original token count: |Total output lines: |Script completed).*\n)+Output:\n)/

/** A digest of any tool output. Deterministic; never throws; reads at most the first and the last 64 kB. */
export function extract(source: DigestSource): Extract {
  const { digest, isText } = extractOf(source, withoutTruncationNote(viewOf(source.output.replace(RUN_HEADER, ""))))
  return { digest: clip(digest) || "no output", isText }
}

function extractOf(source: DigestSource, view: View): Extract {
  const content = contentOf(view)
  if (source.kind === "command" || source.kind === "other") return extractRun(source, view, content)
  if (!source.failed) return extractText(content, isText(source, view))
  const error = content.lines.length > 3 ? failureLine(content.lines) : content.lines[0]
  return { digest: error ?? "failed without output", isText: false }
}

/** Lines around the content: tags, and the notes of read tools and shells. */
const AROUND =
  /^(?:<(path|type)>.*<\/\1>|<\/?[\w-]+(?: [^>]*)?>)$|^\((?:End of (?:file|buffer)|File has more lines|Showing lines|Output capped|no output\)|\d+ entries)|^(?:\[Reading \d+ (?:new )?lines |successfully downloaded text file \(SHA: |Shell cwd was reset to |Command exited with code \d+$|Exit code \d+$)/

type Content = ReturnType<typeof contentOf>

/** The lines that say something, and how many there are with blank ones and brackets. */
function contentOf({ lines, cut }: View) {
  const own = withoutReminders(lines).flatMap((text) =>
    AROUND.test(text) ? [] : text.replace(/^<(?:content|file|output|entries|results?)>(?=.)|^\d{5}\| ?/, ""),
  )
  const count = own.findLastIndex((text) => text !== "") - own.findIndex((text) => text !== "") + 1
  return { lines: withoutLineNumbers(own).filter((text) => /[\p{L}\p{N}]/u.test(text)), count, cut }
}

/** Whether the output is text rather than a list, where no check judged it. */
function isText({ tool, kind, input, output }: DigestSource, { lines }: View): boolean {
  if (kind === "command") return showsOf(tool, kind, [], asString(input.command) ?? "") === "file"
  if (kind === "other") return /^\s*[{[]/.test(output.slice(0, 100))
  if (kind === "read") return !lines.slice(0, 3).includes("<type>directory</type>")
  return kind === "web" || kind === "skill"
}

/** Of a command, or of an unknown tool, which may run one. */
function extractRun(source: DigestSource, view: View, content: Content): Extract {
  // a terminal that is read in pieces has numbers and tags around its lines
  const lines = source.kind === "other" ? content.lines : view.lines
  const { verdict, failure = source.failed ? failureLine(content.lines) : undefined, report } = verdictOf(source, lines)
  if (report && (report.failures.length > 0 || report.total))
    return { digest: digestOfReport(report, failure), isText: false }
  if (failure !== undefined) return { digest: failure, isText: false }
  if (verdict === "pass" && content.lines.length === 0) return { digest: "passed, no output", isText: false }
  return extractText(content, verdict === undefined && isText(source, view))
}

function digestOfReport(report: CheckReport, failure: string | undefined): string {
  const { verdict, vague, total } = report
  const counts = countsOf(report.counts)
  // the counts already include the number in "3 failed: …"
  const said = (failure ?? failureOf(report)).replace(/ \(\d+ errors?\)$/, "")
  const failed = vague || counts === "" ? said : `${counts}: ${said.replace(/^\d+ failed: /, "")}`
  return verdict === "pass" ? counts || total?.trim() || "passed" : failed
}

/** Up to this many lines are shown without a count. */
const MAX_WHOLE_LINES = 3
const MAX_LEAD_CHARS = 160

function extractText({ lines, count, cut }: Content, isText: boolean): Extract {
  const leading = withoutFolder(lines).slice(0, MAX_LEAD_CHARS)
  const lead = leading.map((text) => withoutSigns(text).slice(0, MAX_LEAD_CHARS).trim()).join(" / ")
  const isLong = lines.length > MAX_WHOLE_LINES
  return { digest: isLong ? `${plural(count, "line", cut)}: ${lead}` : lead, isText: isText && isLong }
}

/** The beginning of JSON in one line, without the signs that take half of its tokens. */
function withoutSigns(text: string): string {
  if (!/^\[?\{"/.test(text)) return text
  const begun = text.slice(0, 4 * MAX_LEAD_CHARS).replace(/"(?: *)([:,])(?: *)/g, "$1 ")
  return begun
    .replace(/[[\]{}"]+/g, "")
    .replace(/\\n/g, " ")
    .replace(/,(?=\S)/g, ", ")
}

/** The lines without the folder that all absolute paths at their starts share. */
function withoutFolder(lines: readonly string[]): readonly string[] {
  const paths = lines.filter((text) => /^(?:\/|[A-Za-z]:[\\/])/.test(text))
  let folder = paths[1] ?? ""
  do folder = folder.replace(/[^\\/]*[\\/]?$/, "")
  while (!paths.every((path) => path.startsWith(folder)))
  if (/^(?:[A-Za-z]:)?.?$/.test(folder)) return lines
  return lines.map((text) => (text.startsWith(folder) ? text.slice(folder.length) : text))
}
