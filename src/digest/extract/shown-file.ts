// A file as a read tool shows it, reduced to rows with their line numbers: OpenCode's numbered content between tags, the
// forms of older versions and other tools, or bare text.

import { textOf, type View } from "../../output/lines.ts"
import { defined } from "../../system/values.ts"
import { plural } from "../../text/format.ts"

/** A line of the file itself. `no` is 1-based. */
export type FileRow = { readonly text: string; readonly no: number }

export type ShownFile = {
  rows: readonly FileRow[]
  path: string
  directory: boolean
  /** lines of the whole file, if the output states it */
  total?: number
}

const NUMBERED = /^ *(\d+)(?:: ?|\| ?|→|\t)(.*)$/
const TAG = /^<\/?(?:path|type|content|file|entries|system-reminder|file_content)\b[^>]*>/
const NOTE =
  /^\((?:End of file|File has more lines|Showing lines|Output capped|\d+ entries)|^\.\.\. \(\d+ more lines|^\[\d+ more lines/

/** Text of no known form is taken as bare, with lines counted from `offset`. */
export function parseShownFile(view: View, input: Readonly<Record<string, unknown>>): ShownFile {
  const path = /^<path>(.*)<\/path>$/.exec(view.lines[0] ?? "")?.[1] ?? textOf(input, "filePath", "path", "file")
  const directory = view.lines.slice(0, 3).some((text) => text === "<type>directory</type>")
  const numbered = isNumbered(view.lines)
  const offset =
    typeof input.offset === "number" && Number.isInteger(input.offset) && input.offset > 0 ? input.offset : 1
  const rows: FileRow[] = []
  let total: number | undefined
  for (const line of view.lines) {
    const note = /^\(End of file - total (\d+) lines\)|^\(Showing lines \d+-\d+ of (\d+)/.exec(line)
    if (note) total = Number(note[1] ?? note[2])
    if (/^<(?:\/(?:content|file)|system-reminder)>/.test(line)) break
    const text = line.replace(/^<(?:content|file)>(?=.)/, "")
    const found = numbered ? NUMBERED.exec(text) : undefined
    if (found) rows.push({ text: found[2] ?? "", no: Number(found[1]) })
    else if (!numbered && !TAG.test(text) && !NOTE.test(text)) rows.push({ text, no: offset + rows.length })
  }
  while (!numbered && rows.at(-1)?.text === "") rows.pop()
  return { rows, path, directory, ...defined({ total }) }
}

/** Whether lines begin with consecutive numbers, rather than with text that happens to begin with one. */
function isNumbered(lines: readonly string[]): boolean {
  let previous: number | undefined
  for (const text of lines.slice(0, 12)) {
    const found = NUMBERED.exec(text.replace(/^<(?:content|file)>/, ""))
    if (!found) continue
    const no = Number(found[1])
    if (previous !== undefined) return no === previous + 1
    previous = no
  }
  return previous !== undefined && lines.some((text) => /^<(?:content|file)>|^ *\d+→/.test(text))
}

/** Which part of the file is shown: `lines 1-60 of 266`, or `12 lines` when that is all. */
export function extentOf({ rows, total }: ShownFile, cut: boolean): string {
  const first = rows[0]?.no ?? 1
  const last = rows.at(-1)?.no ?? 0
  if (total !== undefined && first === 1 && last >= total) return plural(total, "line")
  if (total !== undefined) return `lines ${first}-${last} of ${total}`
  return first === 1 ? plural(rows.length, "line", cut) : `lines ${first}-${last}`
}
