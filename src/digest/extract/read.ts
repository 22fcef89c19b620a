// Files and folders that were read: code by its declarations, documents by their headings, data by its keys.

import type { View } from "../../output/lines.ts"
import { digestData, digestMarkdown, formatOf } from "./data.ts"
import { type Draft, listed } from "./draft.ts"
import { declarationIn, type Language, languageOf } from "./languages.ts"
import { digestEntries } from "./search.ts"
import { extentOf, parseShownFile, type ShownFile } from "./shown-file.ts"

export function digestRead(view: View, input: Readonly<Record<string, unknown>>): Draft {
  const shown = parseShownFile(view, input)
  if (shown.directory) return digestEntries(shown.rows.map(({ text }) => text))
  return digestFile(shown, view.cut)
}

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
  const program = /^#!.*\b(?:env )?(sh|bash|zsh|python3?|node|bun|ruby)\b/.exec(first[0]?.text ?? "")?.[1] ?? ""
  const shebang = languageOf(`x.${SHEBANGS[program]}`)
  if (shebang) return digestCode(shown, shebang, extent)
  const gist = first.length > 0 ? `text, ${extent}: ${first[0]?.text.trim()}` : "an empty file"
  return { kind: "document", gist }
}

/** Extensions of what these programs run. */
const SHEBANGS: Readonly<Record<string, string>> = {
  ...{ sh: "sh", bash: "sh", zsh: "sh", python: "py", python3: "py", node: "js", bun: "js", ruby: "rb" },
}
const MAX_DECLARATIONS = 400

/** A source file: what it declares. */
function digestCode(shown: ShownFile, language: Language, extent: string): Draft {
  const found = shown.rows.flatMap(({ text }) => declarationIn(text, language) ?? []).slice(0, MAX_DECLARATIONS)
  const named = found.filter(({ rank }) => rank < 3).sort((a, b) => a.rank - b.rank)
  const names = [...new Set(named.map(({ name }) => name))]
  const head = `${language.name}, ${extent}`
  return { kind: "code", gist: names.length > 0 ? `${head}: ${listed(names, 150 - head.length)}` : head }
}
