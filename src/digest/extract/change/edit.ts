// An edit or a write: how much changed, and what the language server has to say about it.

import { plural, shortPath } from "../../../output/checks/report.ts"
import { clip, type Line, textOf, type View } from "../../../output/lines.ts"
import { cite, type Draft } from "../draft.ts"

type Complaint = { file: string; row: number; message: string; line: Line }

export function digestEdit(view: View, input: Readonly<Record<string, unknown>>, verb: "edited" | "wrote"): Draft {
  const path = shortPath(textOf(input, "filePath", "path", "file"))
  const complaints = complaintsIn(view.lines)
  const refused =
    /^(?:Error|File has not|oldString|Found \d+ matches of|String to replace|No changes|<tool_use_error>)/.test(
      view.lines[0]?.text ?? "",
    )
  const first = view.lines.find(({ text }) => text.trim() !== "")
  if (refused && first) return { kind: "change", gist: first.text.replace(/^<\w+>/, ""), facts: [cite("error", first)] }
  const named = first && pathOn(first) ? first : undefined
  const done = path === "" ? (first?.text ?? verb) : `${verb} ${path}${sizeOf(input)}`
  const worst = complaints[0]
  const trouble = worst ? `; ${plural(complaints.length, "diagnostic")}: ${worst.row} ${clip(worst.message, 80)}` : ""
  return {
    kind: "change",
    gist: done + trouble,
    facts: [
      ...complaints.map(({ line, message, row }) => cite("error", line, message, row)),
      named && complaints.length === 0 ? cite("path", named, pathOn(named)) : undefined,
    ],
  }
}

/** `ERROR [12:5] Cannot find name 'x'.`, under the name of its file. */
function complaintsIn(lines: readonly Line[]): Complaint[] {
  const complaints: Complaint[] = []
  let file = ""
  for (const line of lines) {
    file = /<diagnostics file="([^"]+)">/.exec(line.text)?.[1] ?? file
    const found = /^\s*(?:ERROR|Error) \[(\d+):\d+\]:? (.+)$/.exec(line.text)
    if (found?.[2]) complaints.push({ file, row: Number(found[1]), message: found[2], line })
  }
  return complaints
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
