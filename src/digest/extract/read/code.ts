// A source file: what it declares and where.

import { cite, type Draft, listed } from "../draft.ts"
import { declarationIn, type Language } from "./languages.ts"
import type { Row, Shown } from "./rows.ts"

type Found = { name: string; rank: number; row: Row }

const MAX_FOUND = 400
const ASIDE = /^\s*(?:#|\/\/|\/?\*|--|import\b|from\b|use\b|using\b|package\b)/

export function digestCode(shown: Shown, language: Language, extent: string): Draft {
  const found: Found[] = []
  for (const row of shown.rows) {
    const declaration = declarationIn(row.text, language)
    if (declaration && found.length < MAX_FOUND) found.push({ ...declaration, row })
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
  // nothing declared: the first statements, or failing that the first words
  const written = shown.rows.filter(({ text }) => /\w/.test(text))
  const statements = written.filter(({ text }) => !ASIDE.test(text))
  const rows = (statements.length > 0 ? statements : written).slice(0, 5)
  return {
    kind: "code",
    gist: head,
    facts: [...facts, ...rows.map((row) => cite("symbol", row, row.text.trim(), row.no))],
  }
}

/** The twelve that say most, told in the file's order. */
function shortlist(found: readonly Found[]): Found[] {
  return byRank(found)
    .slice(0, 12)
    .sort((a, b) => a.row.no - b.row.no)
}

function byRank(found: readonly Found[]): Found[] {
  return found.toSorted((a, b) => a.rank - b.rank || a.row.no - b.row.no)
}

function signature(text: string): string {
  return text.trim().replace(/\s*(?:\{|=>\s*\{?|:|=|&)\s*$/, "")
}
