// Any other text: short ones nearly whole, long ones by their errors, warnings, statuses and last lines.

import { plural } from "../../../output/checks/report.ts"
import { clip, type Line, type View } from "../../../output/lines.ts"
import { tellingLine } from "../../../output/telling.ts"
import { cite, type Draft } from "../draft.ts"

const ERROR =
  /\b(?:\w*error|fatal|panic|exception|traceback|failed|failure|cannot|denied|refused|aborted|not found|no such file)\b|^\s*(?:✗|✘|✖|×|❌)/i
const NO_ERROR = /\b(?:0|no|without) (?:errors?|failures?)\b|\b0 failed\b|error[-_.](?:handler|boundary)|errors?: 0\b/i
const WARNING = /\b(?:warn|warning|deprecated)\b|⚠/i
const STATUS =
  /\b(?:done|success\w*|complete[d]?|finished|started|listening|ready|created|updated|installed|passed|saved|summary|running on|built|deployed|skipped)\b|^\s*(?:✓|✔|✅)|https?:\/\/localhost/i

/** `failure`: what the command's verdict says went wrong, which then leads. */
export function digestLog(view: View, failure?: string): Draft {
  const lines = view.lines.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  const [first] = lines
  if (!first) return { kind: "empty", gist: failure ?? "no output", facts: [] }
  const line = failure === undefined ? undefined : tellingLine(lines)
  const telling = line && cite("error", line)
  const whole = lines.length <= 8 ? lines.map(({ text }) => text.trim()).join(" / ") : ""
  if (lines.length <= 3 || (whole !== "" && whole.length <= 150)) {
    const gist = failure ?? whole
    return {
      kind: "log",
      gist,
      facts: [telling, ...lines.map((line) => cite(isError(line) ? "error" : "symbol", line))],
    }
  }
  const errors = lines.filter(isError)
  const warnings = lines.filter((line) => WARNING.test(line.text) && !isError(line))
  const statuses = lines.filter((line) => STATUS.test(line.text) && !isError(line))
  const last = lines.slice(-2)
  return {
    kind: "log",
    gist: failure ?? gistOf(view, lines, errors, warnings, statuses),
    facts: [
      telling,
      ...distinct(errors)
        .slice(0, 5)
        .map((line) => cite("error", line)),
      ...distinct(warnings)
        .slice(0, 2)
        .map((line) => cite("error", line)),
      ...distinct(statuses)
        .slice(-3)
        .map((line) => cite("verdict", line)),
      cite("symbol", first),
      ...last.map((line) => cite("symbol", line)),
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
  const said = errors.length > 0 ? tellingLine(errors) : (statuses.at(-1) ?? lines[0])
  const end = errors.length === 0 && statuses.length === 0 ? ` … ${clip(lines.at(-1)?.text ?? "", 60)}` : ""
  return `${counts.join(", ")}: ${clip(said?.text ?? "", end ? 75 : 130)}${end}`
}

function isError({ text }: Line): boolean {
  return ERROR.test(text) && !NO_ERROR.test(text)
}

/** Lines that differ in more than numbers: a log says the same thing often. */
function distinct(lines: readonly Line[]): Line[] {
  const seen = new Set<string>()
  return lines.filter(({ text }) => {
    const shape = text.replace(/[\d:.,-]+/g, "0")
    return !seen.has(shape) && seen.add(shape)
  })
}
