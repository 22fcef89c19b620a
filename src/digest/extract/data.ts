// Documents and data files: Markdown by its headings, JSON, YAML, TOML, INI, CSV and `.env` by their outermost keys.

import { type Draft, listed } from "./draft.ts"
import type { FileRow, ShownFile } from "./shown-file.ts"

type Heading = { level: number; title: string }

/** A document in Markdown: its title and its headings. */
export function digestMarkdown(shown: ShownFile, extent: string): Draft {
  const headings = headingsIn(shown.rows.map(({ text }) => text))
  const named = frontMatterTitle(shown.rows)
  const whole = shown.rows[0]?.no === 1
  const title =
    named?.text.replace(/^\w+:\s*/, "").replace(/^["']|["']$/g, "") ?? (whole ? headings[0]?.title : undefined)
  const first = shown.rows.find(({ text }) => /^[^\s#<>`|{}[\]!-]/.test(text))
  const rest = (named || !whole ? headings : headings.slice(1))
    .filter(({ level }, _, all) => level <= outlineLevel(all))
    .map((heading) => heading.title)
  const head = `${title ? `"${title.slice(0, 70)}", ` : ""}${extent}`
  return {
    kind: "document",
    gist: `${head}${rest.length > 0 ? `: ${listed(rest, 150 - head.length, "; ")}` : title || !first ? "" : `: ${first.text}`}`,
  }
}

/** The line of the front matter that names the document. */
function frontMatterTitle(rows: ShownFile["rows"]): ShownFile["rows"][number] | undefined {
  if (rows[0]?.no !== 1 || rows[0].text !== "---") return undefined
  const end = rows.findIndex(({ text }, at) => at > 0 && text === "---")
  const head = rows.slice(1, end < 0 ? 20 : end)
  return ["title", "name", "description"]
    .map((key) => head.find(({ text }) => text.startsWith(`${key}: `)))
    .find(Boolean)
}

/** The headings outside code fences. */
export function headingsIn(lines: readonly string[]): Heading[] {
  const headings: Heading[] = []
  let fence = ""
  for (const line of lines) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1]
    if (mark && (fence === "" || fence === mark)) fence = fence === "" ? mark : ""
    const found = fence === "" ? /^(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$/.exec(line) : null
    const title = found?.[2]
      ?.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[*`]+/g, "")
      .replace(/\\([^\w\s])/g, "$1")
      .trim()
    if (found?.[1] && title) headings.push({ level: found[1].length, title })
  }
  return headings
}

/** The highest level down to which there are at least three headings. */
function outlineLevel(headings: readonly Heading[]): number {
  for (const level of [1, 2, 3]) if (headings.filter((heading) => heading.level <= level).length >= 3) return level
  return 6
}

/** `children`: keys or items one level below, if they are on lines of their own. */
type Key = { name: string; children: number }

const FORMATS: Readonly<Record<string, RegExp>> = {
  JSON: /^(\s+)"([^"]+)"\s*:/,
  YAML: /^( *)(?:- )?("[^"]+"|[^\s#:{}[\]&*!|>'"-][^:#]*?):(?:\s|$)/,
  TOML: /^()(?:\[\[?([^\]]+)\]\]?|[\w."-]+)\s*(?:=|$)/,
  INI: /^()(?:\[([^\]]+)\]|(?:export )?([\w.-]+)\s*=)/,
}

/** The data format of a file by its path. Undefined for other files. */
export function formatOf(path: string): string | undefined {
  if (/(?:^|[\\/])\.env[\w.]*$/.test(path)) return "INI"
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  if (/^(?:json|jsonc|json5|ipynb|webmanifest)$/.test(extension) || /(?:^|[\\/])bun\.lock$/.test(path)) return "JSON"
  if (/^ya?ml$/.test(extension)) return "YAML"
  if (extension === "toml" || /(?:Cargo|poetry|uv)\.lock$/.test(path)) return "TOML"
  if (/^(?:ini|cfg|conf|properties|editorconfig|npmrc)$/.test(extension)) return "INI"
  return /^(?:csv|tsv)$/.test(extension) ? "CSV" : undefined
}

/** A data file: its outermost keys or its columns. */
export function digestData(shown: ShownFile, format: string, extent: string): Draft {
  if (format === "CSV") return digestTable(shown, extent)
  const keys = keysIn(shown.rows, format)
  const names = keys.map(({ name, children }) => (children > 1 ? `${name} (${children})` : name))
  const head = `${format}, ${extent}`
  return { kind: "data", gist: names.length > 0 ? `${head}: ${listed(names, 150 - head.length)}` : head }
}

function keysIn(rows: readonly FileRow[], format: string): Key[] {
  const pattern = FORMATS[format] as RegExp
  const found: { depth: number; name: string; row: FileRow }[] = []
  for (const row of rows) {
    const match = pattern.exec(row.text.slice(0, 300))
    if (!match) continue
    const name = match[2] ?? match[3] ?? /^[\w."-]+/.exec(row.text)?.[0] ?? ""
    // in TOML and INI, keys before the first section are at the top level as well
    const nested =
      (format === "TOML" || format === "INI") &&
      !row.text.startsWith("[") &&
      found.some(({ row: { text } }) => text.startsWith("["))
    if (name) found.push({ depth: nested ? 1 : (match[1]?.length ?? 0), name: name.replace(/^"|"$/g, ""), row })
  }
  const top = found.reduce((least, { depth }) => Math.min(least, depth), Number.POSITIVE_INFINITY)
  const keys: Key[] = []
  let below = 0
  for (const { depth, name } of found) {
    const key = keys.at(-1)
    if (depth === top) {
      keys.push({ name, children: 0 })
      below = 0
    } else if (key) {
      if (below === 0) below = depth
      if (depth === below) key.children++
    }
  }
  return keys
}

function digestTable(shown: ShownFile, extent: string): Draft {
  const header = shown.rows[0]
  const columns = header?.text.split(/[,;\t]/).map((name) => name.trim()) ?? []
  return { kind: "data", gist: `table, ${extent}: ${listed(columns, 120)}` }
}
