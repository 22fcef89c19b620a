// The report as the page's file holds it. The folds of a session, several hundred objects that repeat names and words, are
// columns there; the page makes objects of them again.

import type { Reason } from "../fold/fold.ts"
import type { ReportData, ReportedFold, SessionReport } from "./report.ts"

export type PackedReport = Omit<ReportData, "sessions"> & { sessions: PackedSession[] }

type PackedSession = Omit<SessionReport, "folds"> & { folds: PackedFolds }

/** One entry per fold, except `words`. */
type PackedFolds = {
  ids: string[]
  /** 1 for a step, 0 for an output */
  isStep: number[]
  steps: number[]
  calls: number[]
  reasons: Reason[]
  whats: string[]
  /** indices into `words` */
  because: number[]
  cuts: number[]
  words: string[]
  texts: string[]
  tokens: number[]
  textTokens: number[]
}

export function packReport(report: ReportData): PackedReport {
  const sessions = report.sessions.map((session) => ({ ...session, folds: packFolds(session.folds) }))
  return { ...report, sessions }
}

export function unpackReport(packed: PackedReport): ReportData {
  const sessions = packed.sessions.map((session) => ({ ...session, folds: unpackFolds(session.folds) }))
  return { ...packed, sessions }
}

function packFolds(folds: readonly ReportedFold[]): PackedFolds {
  const words = new Map<string, number>()
  const placeOf = (text: string) => {
    const place = words.get(text) ?? words.size
    words.set(text, place)
    return place
  }
  const because = folds.map(({ because }) => placeOf(because))
  const cuts = folds.map(({ cut }) => placeOf(cut))
  return {
    ids: folds.map(({ id }) => id),
    isStep: folds.map(({ side }) => (side === "step" ? 1 : 0)),
    steps: folds.map(({ step }) => step),
    calls: folds.map(({ call }) => call),
    reasons: folds.map(({ reason }) => reason),
    whats: folds.map(({ what }) => what),
    because,
    cuts,
    words: [...words.keys()],
    texts: folds.map(withoutNumbers),
    tokens: folds.map(({ tokens }) => tokens),
    textTokens: folds.map(({ textTokens }) => textTokens),
  }
}

function unpackFolds(packed: PackedFolds): ReportedFold[] {
  return packed.ids.map((id, at): ReportedFold => {
    const step = packed.steps[at] ?? 0
    const wordsAt = (places: readonly number[]) => packed.words[places[at] ?? -1] ?? ""
    return {
      id,
      side: packed.isStep[at] ? "step" : "output",
      step,
      call: packed.calls[at] ?? 0,
      reason: packed.reasons[at] ?? "pays",
      what: packed.whats[at] ?? "",
      because: wordsAt(packed.because),
      cut: wordsAt(packed.cuts),
      text: withNumbers(packed.texts[at] ?? "", step),
      tokens: packed.tokens[at] ?? 0,
      textTokens: packed.textTokens[at] ?? 0,
    }
  })
}

/** No line of a fold begins with it. */
const UNNUMBERED = "\t"

/** The lines without the step's number, which no two folds have in common. */
function withoutNumbers({ text, step }: ReportedFold): string {
  const number = `${step} `
  return text
    .split("\n")
    .map((line) => (line.startsWith(number) ? line.slice(number.length) : `${UNNUMBERED}${line}`))
    .join("\n")
}

function withNumbers(text: string, step: number): string {
  return text
    .split("\n")
    .map((line) => (line.startsWith(UNNUMBERED) ? line.slice(UNNUMBERED.length) : `${step} ${line}`))
    .join("\n")
}
