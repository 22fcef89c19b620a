// A file or folder that was read: told by what it declares, its headings or its keys, with line numbers.

import { plural } from "../../../output/checks/report.ts"
import type { View } from "../../../output/lines.ts"
import { cite, type Draft } from "../draft.ts"
import { digestEntries } from "../search/paths.ts"
import { digestCode } from "./code.ts"
import { digestData, formatOf } from "./data.ts"
import { languageOf } from "./languages.ts"
import { digestMarkdown } from "./markdown.ts"
import { rowsOf, type Shown } from "./rows.ts"

export function digestRead(view: View, input: Readonly<Record<string, unknown>>): Draft {
  const shown = rowsOf(view, input)
  if (shown.directory) return digestEntries(shown.rows)
  return digestFile(shown, view.cut)
}

/** The same for a file shown by a shell command. */
export function digestFile(shown: Shown, cut: boolean): Draft {
  const extent = extentOf(shown, cut)
  const language = languageOf(shown.path)
  if (language) return digestCode(shown, language, extent)
  const format = formatOf(shown.path)
  if (format) return digestData(shown, format, extent)
  if (/\.(?:md|mdx|markdown|mdc|rst|adoc)$|(?:README|CHANGELOG|LICENSE)$/i.test(shown.path))
    return digestMarkdown(shown, extent)
  if (/^\s*[{[]/.test(shown.rows[0]?.text ?? "")) return digestData(shown, "JSON", extent)
  const first = shown.rows.filter(({ text }) => /\w/.test(text))
  const shebang = languageOf(
    /^#!.*\b(?:env )?(sh|bash|zsh|python3?|node|bun|ruby)\b/
      .exec(first[0]?.text ?? "")?.[1]
      ?.replace(/^(?:sh|bash|zsh)$/, "x.sh")
      .replace(/^python3?$/, "x.py")
      .replace(/^(?:node|bun)$/, "x.js")
      .replace(/^ruby$/, "x.rb") ?? "",
  )
  if (shebang) return digestCode(shown, shebang, extent)
  const gist = first.length > 0 ? `text, ${extent}: ${first[0]?.text.trim()}` : "an empty file"
  return { kind: "document", gist, facts: first.slice(0, 6).map((row) => cite("symbol", row, row.text.trim(), row.no)) }
}

/** Which lines one has seen: `lines 1-60 of 266`, or `12 lines` when that is all there is. */
function extentOf({ rows, total }: Shown, cut: boolean): string {
  const first = rows[0]?.no ?? 1
  const last = rows.at(-1)?.no ?? 0
  if (total !== undefined && first === 1 && last >= total) return plural(total, "line")
  if (total !== undefined) return `lines ${first}-${last} of ${total}`
  return first === 1 ? plural(rows.length, "line", cut) : `lines ${first}-${last}`
}
