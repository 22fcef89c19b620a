// Any other text: a short one nearly whole, a long one by its errors, warnings, statuses and last lines.

import { clip, type Line, type View } from "../../output/lines.ts"
import { failureLine } from "../../output/verdict.ts"
import { plural } from "../../text/format.ts"
import { cite, citeAll, type Draft } from "./draft.ts"

const ERROR =
  /\b(?:\w*error|fatal|panic|exception|traceback|failed|failure|cannot|denied|refused|aborted|not found|no such file)\b|^\s*(?:✗|✘|✖|×|❌)/i
const NO_ERROR = /\b(?:0|no|without) (?:errors?|failures?)\b|\b0 failed\b|error[-_.](?:handler|boundary)|errors?: 0\b/i
const WARNING = /\b(?:warn|warning|deprecated)\b|⚠/i
const STATUS =
  /\b(?:done|success\w*|complete[d]?|finished|started|listening|ready|created|updated|installed|passed|saved|summary|running on|built|deployed|skipped)\b|^\s*(?:✓|✔|✅)|https?:\/\/localhost/i

/** `failure`: what went wrong according to the verdict. It comes first. */
export function digestLog(view: View, failure?: string): Draft {
  const lines = view.lines.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  const [first] = lines
  if (!first) return { kind: "empty", gist: failure ?? "no output", facts: [] }
  const line = failure === undefined ? undefined : failureLine(lines)
  const reason = line && cite("error", line)
  const whole = lines.length <= 8 ? lines.map(({ text }) => text.trim()).join(" / ") : ""
  if (lines.length <= 3 || (whole !== "" && whole.length <= 150)) {
    const facts = lines.map((line) => cite(isError(line) ? "error" : "symbol", line))
    return { kind: "log", gist: failure ?? whole, facts: [reason, ...facts] }
  }
  const errors = lines.filter(isError)
  const warnings = lines.filter((line) => WARNING.test(line.text) && !isError(line))
  const statuses = lines.filter((line) => STATUS.test(line.text) && !isError(line))
  return {
    kind: "log",
    gist: failure ?? gistOf(view, lines, errors, warnings, statuses),
    facts: [
      reason,
      ...citeAll("error", distinct(errors).slice(0, 5)),
      ...citeAll("error", distinct(warnings).slice(0, 2)),
      ...citeAll("verdict", distinct(statuses).slice(-3)),
      ...citeAll("symbol", [first, ...lines.slice(-2)]),
    ],
  }
}

function gistOf(
  view: View,
  lines: readonly Line[],
  errors: readonly Line[],
  warnings: readonly Line[],
  statuses: readonly Line[],
): string {
  const counts = [plural(view.lines.length, "line", view.cut)]
  if (errors.length > 0) counts.push(`${errors.length} with errors`)
  if (warnings.length > 0) counts.push(`${warnings.length} with warnings`)
  const said = errors.length > 0 ? failureLine(errors) : (statuses.at(-1) ?? lines[0])
  const end = errors.length === 0 && statuses.length === 0 ? ` … ${clip(lines.at(-1)?.text ?? "", 60)}` : ""
  return `${counts.join(", ")}: ${clip(said?.text ?? "", end ? 75 : 130)}${end}`
}

function isError({ text }: Line): boolean {
  return ERROR.test(text) && !NO_ERROR.test(text)
}

/** Lines that differ in more than numbers: a log repeats itself. */
function distinct(lines: readonly Line[]): Line[] {
  const seen = new Set<string>()
  return lines.filter(({ text }) => {
    const shape = text.replace(/[\d:.,-]+/g, "0")
    return !seen.has(shape) && seen.add(shape)
  })
}
