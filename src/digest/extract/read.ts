// Files and folders that were read: code by its declarations, documents by their headings, data by its keys.

import type { View } from "../../output/lines.ts"
import { digestData, digestMarkdown, formatOf } from "./data.ts"
import { cite, type Draft, listed } from "./draft.ts"
import { declarationIn, type Language, languageOf } from "./languages.ts"
import { digestEntries } from "./search.ts"
import { extentOf, type FileRow, parseShownFile, type ShownFile } from "./shown-file.ts"

/** The output of a read tool. */
export function digestRead(view: View, input: Readonly<Record<string, unknown>>): Draft {
  const shown = parseShownFile(view, input)
  if (shown.directory) return digestEntries(shown.rows)
  return digestFile(shown, view.cut)
}

/** A file shown by a read tool or a shell command. */
export function digestFile(shown: ShownFile, cut: boolean): Draft {
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

type Declared = { name: string; rank: number; row: FileRow }

const MAX_DECLARATIONS = 400
const PREAMBLE = /^\s*(?:#|\/\/|\/?\*|--|import\b|from\b|use\b|using\b|package\b)/

/** A source file: what it declares and where. */
function digestCode(shown: ShownFile, language: Language, extent: string): Draft {
  const found: Declared[] = []
  for (const row of shown.rows) {
    const declaration = declarationIn(row.text, language)
    if (declaration && found.length < MAX_DECLARATIONS) found.push({ ...declaration, row })
  }
  const best = shortlist(found)
  const facts = best.map(({ row }) => cite("symbol", row, signature(row.text), row.no))
  const names = [
    ...new Set(
      byRank(found)
        .filter(({ rank }) => rank < 3)
        .map(({ name }) => name),
    ),
  ]
  const head = `${language.name}, ${extent}`
  if (names.length > 0) return { kind: "code", gist: `${head}: ${listed(names, 150 - head.length)}`, facts }
  // nothing declared: the first statements, or the first lines with any text
  const written = shown.rows.filter(({ text }) => /\w/.test(text))
  const statements = written.filter(({ text }) => !PREAMBLE.test(text))
  const rows = (statements.length > 0 ? statements : written).slice(0, 5)
  return {
    kind: "code",
    gist: head,
    facts: [...facts, ...rows.map((row) => cite("symbol", row, row.text.trim(), row.no))],
  }
}

/** The twelve of the highest rank, in the order of the file. */
function shortlist(found: readonly Declared[]): Declared[] {
  return byRank(found)
    .slice(0, 12)
    .sort((a, b) => a.row.no - b.row.no)
}

function byRank(found: readonly Declared[]): Declared[] {
  return found.toSorted((a, b) => a.rank - b.rank || a.row.no - b.row.no)
}

function signature(text: string): string {
  return text.trim().replace(/\s*(?:\{|=>\s*\{?|:|=|&)\s*$/, "")
}
