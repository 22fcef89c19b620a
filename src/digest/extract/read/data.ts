// Files of data: JSON, YAML, TOML, INI, CSV and `.env`, told by their outermost keys.

import { cite, type Draft, listed } from "../draft.ts"
import type { Row, Shown } from "./rows.ts"

type Key = {
  name: string
  row: Row /** keys or items one level below, where they are on lines of their own */
  children: number
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  JSON: /^(\s+)"([^"]+)"\s*:/,
  YAML: /^( *)(?:- )?("[^"]+"|[^\s#:{}[\]&*!|>'"-][^:#]*?):(?:\s|$)/,
  TOML: /^()(?:\[\[?([^\]]+)\]\]?|[\w."-]+)\s*(?:=|$)/,
  INI: /^()(?:\[([^\]]+)\]|(?:export )?([\w.-]+)\s*=)/,
}

/** What kind of data a path holds, or undefined. */
export function formatOf(path: string): string | undefined {
  if (/(?:^|[\\/])\.env[\w.]*$/.test(path)) return "INI"
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  if (/^(?:json|jsonc|json5|ipynb|webmanifest)$/.test(extension) || /(?:^|[\\/])bun\.lock$/.test(path)) return "JSON"
  if (/^ya?ml$/.test(extension)) return "YAML"
  if (extension === "toml" || /(?:Cargo|poetry|uv)\.lock$/.test(path)) return "TOML"
  if (/^(?:ini|cfg|conf|properties|editorconfig|npmrc)$/.test(extension)) return "INI"
  return /^(?:csv|tsv)$/.test(extension) ? "CSV" : undefined
}

export function digestData(shown: Shown, format: string, extent: string): Draft {
  if (format === "CSV") return digestTable(shown, extent)
  const keys = keysIn(shown.rows, format)
  const names = keys.map(({ name, children }) => (children > 1 ? `${name} (${children})` : name))
  const head = `${format}, ${extent}`
  return {
    kind: "data",
    gist: names.length > 0 ? `${head}: ${listed(names, 150 - head.length)}` : head,
    facts: (keys.length > 0
      ? [...keys.map(({ row }) => row), ...shown.rows.slice(0, keys.length < 4 ? 8 : 0)]
      : shown.rows.slice(0, 4)
    ).map((row) => cite("symbol", row, row.text.trim().replace(/,$/, ""), row.no)),
  }
}

function keysIn(rows: readonly Row[], format: string): Key[] {
  const pattern = FORMATS[format] as RegExp
  const found: { depth: number; name: string; row: Row }[] = []
  for (const row of rows) {
    const match = pattern.exec(row.text.slice(0, 300))
    if (!match) continue
    const name = match[2] ?? match[3] ?? /^[\w."-]+/.exec(row.text)?.[0] ?? ""
    // a key before the first section of TOML or INI is as much at the top as the section
    const nested =
      (format === "TOML" || format === "INI") &&
      !row.text.startsWith("[") &&
      found.some(({ row: { text } }) => text.startsWith("["))
    if (name) found.push({ depth: nested ? 1 : (match[1]?.length ?? 0), name: name.replace(/^"|"$/g, ""), row })
  }
  const top = found.reduce((least, { depth }) => Math.min(least, depth), Number.POSITIVE_INFINITY)
  const keys: Key[] = []
  let below = 0
  for (const { depth, name, row } of found) {
    const key = keys.at(-1)
    if (depth === top) {
      keys.push({ name, row, children: 0 })
      below = 0
    } else if (key) {
      if (below === 0) below = depth
      if (depth === below) key.children++
    }
  }
  return keys
}

function digestTable(shown: Shown, extent: string): Draft {
  const header = shown.rows[0]
  const columns = header?.text.split(/[,;\t]/).map((name) => name.trim()) ?? []
  const gist = `table, ${extent}: ${listed(columns, 120)}`
  return { kind: "data", gist, facts: shown.rows.slice(0, 3).map((row) => cite("symbol", row, row.text, row.no)) }
}
