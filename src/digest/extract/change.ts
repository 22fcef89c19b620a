// Edits, writes and patches: what changed, and the diagnostics that the language server reported.

import { shortPath } from "../../output/checks/report.ts"
import { clip, textOf, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { type Draft, listed } from "./draft.ts"

/** An edit or a write: how much changed. */
export function digestEdit(view: View, input: Readonly<Record<string, unknown>>, verb: "edited" | "wrote"): Draft {
  const path = shortPath(textOf(input, "filePath", "path", "file"))
  const diagnostics = diagnosticsIn(view.lines)
  const refused =
    /^(?:Error|File has not|oldString|Found \d+ matches of|String to replace|No changes|<tool_use_error>)/.test(
      view.lines[0] ?? "",
    )
  const first = view.lines.find((text) => text.trim() !== "")
  if (refused && first) return { kind: "change", gist: first.replace(/^<\w+>/, "") }
  const done = path === "" ? (first ?? verb) : `${verb} ${path}${sizeOf(input)}`
  const worst = diagnostics[0]
  const trouble = worst ? `; ${plural(diagnostics.length, "diagnostic")}: ${worst.row} ${clip(worst.message, 80)}` : ""
  return { kind: "change", gist: done + trouble }
}

/** Lines such as `ERROR [12:5] Cannot find name 'x'.` */
function diagnosticsIn(lines: readonly string[]): { row: number; message: string }[] {
  return lines.flatMap((text) => {
    const found = /^\s*(?:ERROR|Error) \[(\d+):\d+\]:? (.+)$/.exec(text)
    return found?.[2] ? [{ row: Number(found[1]), message: found[2] }] : []
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
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
}

/** A patch: the files it added, modified, renamed or deleted, or why it did not apply. */
export function digestPatch(view: View): Draft {
  const files = view.lines.flatMap((text) => {
    const found = /^([AMDR]) {1,2}(\S.*)$/.exec(text)
    return found?.[1] && found[2] ? [`${found[1]} ${shortPath(found[2])}`] : []
  })
  if (files.length === 0)
    return { kind: "change", gist: view.lines.find((text) => text.trim() !== "") ?? "nothing changed" }
  const diagnostics = view.lines.filter((text) => /^\s*(?:ERROR|Error) \[\d+:\d+\]/.test(text)).length
  const errors = diagnostics > 0 ? `; ${plural(diagnostics, "diagnostic")}` : ""
  return { kind: "change", gist: `${plural(files.length, "file")}: ${listed(files, 120)}${errors}` }
}
