// A patch: which files it added, modified, moved or deleted, or why it did not apply.

import { plural, shortPath } from "../../../output/checks/report.ts"
import type { View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"

export function digestPatch(view: View): Draft {
  const files = view.lines.flatMap((line) => {
    const found = /^([AMDR]) {1,2}(\S.*)$/.exec(line.text)
    return found?.[1] && found[2] ? [{ mark: found[1], path: found[2], line }] : []
  })
  const complaints = view.lines.filter(({ text }) => /^\s*(?:ERROR|Error) \[\d+:\d+\]/.test(text))
  if (files.length === 0) {
    const first = view.lines.find(({ text }) => text.trim() !== "")
    return {
      kind: "change",
      gist: first?.text ?? "nothing changed",
      facts: view.lines.slice(0, 4).map((line) => cite("error", line)),
    }
  }
  const head = plural(files.length, "file")
  const gist = `${head}: ${listed(
    files.map(({ mark, path }) => `${mark} ${shortPath(path)}`),
    120,
  )}`
  const errors = complaints.length > 0 ? `; ${plural(complaints.length, "diagnostic")}` : ""
  const paths = files.map(({ path, line }) => cite("path", line, path))
  return {
    kind: "change",
    gist: gist + errors,
    facts: [...complaints.slice(0, 6).map((line) => cite("error", line)), ...paths],
  }
}
