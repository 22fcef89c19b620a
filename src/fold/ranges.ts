// Ranges of numbers as agents write them, for lines and for steps.

import { asRecord } from "../system/values.ts"

/** Both ends are included; `to` is infinite for an open end. */
export type NumberRange = { from: number; to: number }

/** Words and signs around numbers that say nothing. */
const NOISE = /\b(?:lines?|steps?|calls?|numbers?|and)\b|[#"'`()[\]{}]/gi
/** What stands between the ends of a range. */
const DASH = /(\d)\s*(?:-|–|—|…|:|\.{2,}|\bto\b|\bthrough\b)\s*/gi
/** One number or range. Lines may be written as `L12`. */
const RANGE = /^L?(\d{1,9})(-(?:L?(\d{1,9})|end)?)?$/i

const MAX_CHARS = 4000

/**
 * The ranges in `12`, `3-41`, `3, 7-9`, `steps 3 to 41`, `30-`, or a list of these, in ascending order and merged. Undefined
 * when there is anything else in it, or nothing.
 */
export function readRanges(value: unknown): NumberRange[] | undefined {
  const given = asRecord(value)
  const list = given ? [spanText(given)] : Array.isArray(value) ? value : [value]
  const text = list.map((one) => (asRecord(one) ? spanText(asRecord(one) ?? {}) : scalarText(one))).join(",")
  if (text.length > MAX_CHARS) return
  const words = text
    .replace(NOISE, " ")
    .replace(DASH, "$1-")
    .split(/[\s,;]+/)
  const ranges = words.filter((word) => word !== "").map(readOne)
  return ranges.length > 0 && ranges.every((range) => range !== undefined) ? merged(ranges) : undefined
}

function readOne(word: string): NumberRange | undefined {
  const found = RANGE.exec(word)
  if (!found) return
  const from = Number(found[1])
  const to = found[3] !== undefined ? Number(found[3]) : found[2] === undefined ? from : Number.POSITIVE_INFINITY
  return from <= to ? { from, to } : { from: to, to: from }
}

/** A range given as an object. */
function spanText({ from, start, to, end }: Record<string, unknown>): string {
  return `${scalarText(from ?? start)}-${scalarText(to ?? end)}`
}

function scalarText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?"
}

function merged(ranges: readonly NumberRange[]): NumberRange[] {
  const out: NumberRange[] = []
  for (const range of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = out.at(-1)
    if (last && range.from <= last.to + 1) last.to = Math.max(last.to, range.to)
    else out.push({ ...range })
  }
  return out
}

export function isWithin(ranges: readonly NumberRange[], number: number): boolean {
  return ranges.some(({ from, to }) => from <= number && number <= to)
}

/** The part of the ranges that lies within another. */
export function clipped(ranges: readonly NumberRange[], within: NumberRange): NumberRange[] {
  return ranges
    .map(({ from, to }) => ({ from: Math.max(from, within.from), to: Math.min(to, within.to) }))
    .filter(({ from, to }) => from <= to)
}

/** The part of the ranges without these numbers. */
export function rangesWithout(ranges: readonly NumberRange[], numbers: Iterable<number>): NumberRange[] {
  const left = ranges.map((range) => ({ ...range }))
  for (const number of new Set(numbers)) {
    const at = left.findIndex(({ from, to }) => from <= number && number <= to)
    const range = left[at]
    if (!range) continue
    const halves = [
      { from: range.from, to: number - 1 },
      { from: number + 1, to: range.to },
    ]
    left.splice(at, 1, ...halves.filter(({ from, to }) => from <= to))
  }
  return left
}

/** Ranges named in an answer. */
const MAX_NAMED_RANGES = 20

/** As `readRanges` reads them: `3-41, 50-`. */
export function rangesText(ranges: readonly NumberRange[]): string {
  return ranges
    .map(({ from, to }) => (from === to ? `${from}` : `${from}-${to === Number.POSITIVE_INFINITY ? "" : to}`))
    .join(", ")
}

/** The same for a sentence, shortened, with its noun: `step 3`, `steps 3-41, 50`. */
export function namedRanges(ranges: readonly NumberRange[], noun: string): string {
  const [only] = ranges
  const more = ranges.length - MAX_NAMED_RANGES
  const named = `${rangesText(ranges.slice(0, MAX_NAMED_RANGES))}${more > 0 ? ` and ${more} more ranges` : ""}`
  return `${noun}${ranges.length === 1 && only?.from === only?.to ? "" : "s"} ${named}`
}
