// The report as the page's file holds it. The folds of a session, several hundred objects that repeat names and words, are rows
// of numbers there, in which a text is its place in a list; the page makes objects of them again.

import type { ReportData, ReportedFold, SessionReport } from "./report.ts"

export type PackedReport = Omit<ReportData, "sessions"> & { sessions: PackedSession[] }

type PackedSession = Omit<SessionReport, "folds"> & { folds: ReturnType<typeof packFolds> }

/** The fields of a fold: first the texts, then the numbers. */
const TEXTS = ["id", "side", "reason", "what", "because", "cut", "text"] as const
const NUMBERS = ["step", "call", "tokens", "textTokens"] as const
// a field of a fold that is in neither list does not compile
type Unpacked = Exclude<keyof ReportedFold, (typeof TEXTS)[number] | (typeof NUMBERS)[number]>

export function packReport(report: ReportData): PackedReport {
  const sessions = report.sessions.map((session) => ({ ...session, folds: packFolds(session.folds) }))
  return { ...report, sessions }
}

export function unpackReport(packed: PackedReport): ReportData {
  const sessions = packed.sessions.map((session) => ({ ...session, folds: unpackFolds(session.folds) }))
  return { ...packed, sessions }
}

function packFolds(folds: readonly ReportedFold[]) {
  const places = new Map<string, number>()
  const placeOf = (text: string) => {
    const place = places.get(text) ?? places.size
    places.set(text, place)
    return place
  }
  const rows = folds.map((fold) => [...TEXTS.map((name) => placeOf(fold[name])), ...NUMBERS.map((name) => fold[name])])
  return { words: [...places.keys()], rows }
}

function unpackFolds({ words, rows }: ReturnType<typeof packFolds>): ReportedFold[] {
  return rows.map((row) => {
    const texts = TEXTS.map((name, at) => [name, words[row[at] ?? -1]])
    const numbers = NUMBERS.map((name, at) => [name, row[TEXTS.length + at]])
    return Object.fromEntries([...texts, ...numbers]) as [Unpacked] extends [never] ? ReportedFold : never
  })
}
