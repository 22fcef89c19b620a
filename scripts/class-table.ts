// The classes of docs/reliability.md as a table: cases, passed cases and duration.

import { CLASSES, type Class, classOf } from "./classes.ts"
import { type FileOutcome, sum } from "./junit.ts"

export type Row = { name: string; proves: string; cases: number; passed: number; skipped: number; seconds: number }

export function rowOf({ name, proves }: Class, outcomes: readonly FileOutcome[]): Row {
  const { passed, failed, skipped, seconds } = sum(outcomes)
  return { name, proves, cases: passed + failed, passed, skipped, seconds }
}

/** The table of a complete run as plain text, one line per class. */
export function classTable(outcomes: readonly FileOutcome[]): string {
  const rows = CLASSES.map((one) =>
    rowOf(
      one,
      outcomes.filter((outcome) => classOf(outcome) === one),
    ),
  )
  const cells = rows.map(({ name, cases, passed, seconds }) => [
    name,
    `${cases}`,
    `${passed}`,
    `${Math.round(seconds)} s`,
  ])
  return table([["class", "cases", "passed", "time"], ...cells])
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const padded = (row: readonly string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
  return rows.map((row) => `${padded(row).join("  ")}\n`).join("")
}
