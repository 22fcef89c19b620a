// Any other text: a short one nearly whole, a long one by its errors, warnings and statuses.

import { clip, type View } from "../../output/lines.ts"
import { failureLine } from "../../output/verdict.ts"
import { plural } from "../../text/format.ts"
import type { Draft } from "./draft.ts"

const ERROR =
  /\b(?:\w*error|fatal|panic|exception|traceback|failed|failure|cannot|denied|refused|aborted|not found|no such file)\b|^\s*(?:✗|✘|✖|×|❌)/i
const NO_ERROR = /\b(?:0|no|without) (?:errors?|failures?)\b|\b0 failed\b|error[-_.](?:handler|boundary)|errors?: 0\b/i
const WARNING = /\b(?:warn|warning|deprecated)\b|⚠/i
const STATUS =
  /\b(?:done|success\w*|complete[d]?|finished|started|listening|ready|created|updated|installed|passed|saved|summary|running on|built|deployed|skipped)\b|^\s*(?:✓|✔|✅)|https?:\/\/localhost/i

export function digestLog(view: View): Draft {
  const lines = view.lines.filter((text) => /[\p{L}\p{N}]/u.test(text))
  if (lines.length === 0) return { kind: "empty", gist: "no output" }
  const whole = lines.length <= 8 ? lines.map((text) => text.trim()).join(" / ") : ""
  if (lines.length <= 3 || (whole !== "" && whole.length <= 150)) return { kind: "log", gist: whole }
  const errors = lines.filter(isError)
  const warnings = lines.filter((line) => WARNING.test(line) && !isError(line)).length
  const status = lines.findLast((line) => STATUS.test(line) && !isError(line))
  const counts = [plural(view.lines.length, "line", view.cut)]
  if (errors.length > 0) counts.push(`${errors.length} with errors`)
  if (warnings > 0) counts.push(`${warnings} with warnings`)
  const shown = errors.length > 0 ? failureLine(errors) : (status ?? lines[0])
  const end = errors.length === 0 && !status ? ` … ${clip(lines.at(-1) ?? "", 60)}` : ""
  return { kind: "log", gist: `${counts.join(", ")}: ${clip(shown ?? "", end ? 75 : 130)}${end}` }
}

function isError(text: string): boolean {
  return ERROR.test(text) && !NO_ERROR.test(text)
}
