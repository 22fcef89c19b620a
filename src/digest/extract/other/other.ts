// MCP and custom tools, and terminals that are read in pieces: JSON by its keys, text as a log.

import type { DigestSource } from "../../../output/digest.ts"
import type { Line, View } from "../../../output/lines.ts"
import { judge } from "../../../output/verdict.ts"
import { digestReport } from "../command/check.ts"
import { digestLog } from "../command/log.ts"
import type { Draft } from "../draft.ts"
import { digestJson } from "./json.ts"

export function digestOther(source: DigestSource, view: View): Draft {
  const json = digestJson(source.output, view.lines)
  if (json) return json
  const own: View = { lines: unwrap(view.lines), cut: view.cut }
  const { judgement, report } = judge(source, own.lines, source.output)
  if (report && (report.failures.length > 0 || report.total)) return digestReport(report, judgement.failure, own.lines)
  return digestLog(own)
}

/** `00001| text` between tags is how terminals are shown; tags on lines of their own are wrapping. */
function unwrap(lines: readonly Line[]): Line[] {
  const own: Line[] = []
  for (const { text, raw } of lines) {
    if (/^<\/?\w+(?: [^>]*)?>$|^\(End of buffer/.test(text)) continue
    own.push({ text: text.replace(/^\d{5}\| ?/, ""), raw })
  }
  return own
}
