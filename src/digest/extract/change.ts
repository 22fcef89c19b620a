// Edits, writes and patches: what changed, and the diagnostics that the language server reported.

import { shortPath } from "../../output/checks/report.ts"
import { clip, type Line, textOf, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { cite, citeAll, type Draft, listed } from "./draft.ts"

type Diagnostic = { row: number; message: string; line: Line }

/** An edit or a write: how much changed. */
export function digestEdit(view: View, input: Readonly<Record<string, unknown>>, verb: "edited" | "wrote"): Draft {
  const path = shortPath(textOf(input, "filePath", "path", "file"))
  const diagnostics = diagnosticsIn(view.lines)
  const refused =
    /^(?:Error|File has not|oldString|Found \d+ matches of|String to replace|No changes|<tool_use_error>)/.test(
      view.lines[0]?.text ?? "",
    )
  const first = view.lines.find(({ text }) => text.trim() !== "")
  if (refused && first) return { kind: "change", gist: first.text.replace(/^<\w+>/, ""), facts: [cite("error", first)] }
  const named = first && pathOn(first) ? first : undefined
  const done = path === "" ? (first?.text ?? verb) : `${verb} ${path}${sizeOf(input)}`
  const worst = diagnostics[0]
  const trouble = worst ? `; ${plural(diagnostics.length, "diagnostic")}: ${worst.row} ${clip(worst.message, 80)}` : ""
  return {
    kind: "change",
    gist: done + trouble,
    facts: [
      ...diagnostics.map(({ line, message, row }) => cite("error", line, message, row)),
      named && diagnostics.length === 0 ? cite("path", named, pathOn(named)) : undefined,
    ],
  }
}

/** Lines such as `ERROR [12:5] Cannot find name 'x'.` */
function diagnosticsIn(lines: readonly Line[]): Diagnostic[] {
  return lines.flatMap((line) => {
    const found = /^\s*(?:ERROR|Error) \[(\d+):\d+\]:? (.+)$/.exec(line.text)
    return found?.[2] ? [{ row: Number(found[1]), message: found[2], line }] : []
  })
}

function sizeOf(input: Readonly<Record<string, unknown>>): string {
  const content = textOf(input, "content")
  if (content !== "") return `, ${plural(lineCount(content), "line")}`
  const [before, after] = [textOf(input, "oldString", "old_string"), textOf(input, "newString", "new_string")]
  if (before === "" && after === "") return ""
  return `, ${lineCount(before)} → ${plural(lineCount(after), "line")}`
}

function lineCount(text: string): number {
  if (text === "") return 0
  let count = text.endsWith("\n") ? 0 : 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

function pathOn(line: Line): string | undefined {
  return /(?:\/|[\w@.-]+\/)[\w@./ -]*\.\w+|\b[\w-]+\.\w{1,5}\b/.exec(line.text)?.[0]
}

/** A patch: the files it added, modified, renamed or deleted, or why it did not apply. */
export function digestPatch(view: View): Draft {
  const files = view.lines.flatMap((line) => {
    const found = /^([AMDR]) {1,2}(\S.*)$/.exec(line.text)
    return found?.[1] && found[2] ? [{ mark: found[1], path: found[2], line }] : []
  })
  const diagnostics = view.lines.filter(({ text }) => /^\s*(?:ERROR|Error) \[\d+:\d+\]/.test(text))
  if (files.length === 0) {
    const first = view.lines.find(({ text }) => text.trim() !== "")
    return {
      kind: "change",
      gist: first?.text ?? "nothing changed",
      facts: citeAll("error", view.lines.slice(0, 4)),
    }
  }
  const head = plural(files.length, "file")
  const gist = `${head}: ${listed(
    files.map(({ mark, path }) => `${mark} ${shortPath(path)}`),
    120,
  )}`
  const errors = diagnostics.length > 0 ? `; ${plural(diagnostics.length, "diagnostic")}` : ""
  const paths = files.map(({ path, line }) => cite("path", line, path))
  return {
    kind: "change",
    gist: gist + errors,
    facts: [...citeAll("error", diagnostics.slice(0, 6)), ...paths],
  }
}
