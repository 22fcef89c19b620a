// Ranges of numbers, of lines and of steps: as agents write them, and as answers and records do.

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
 * The ranges of numbers from 1 on in `12`, `3-41`, `3, 7-9`, `steps 3 to 41`, `30-`, or a list of these, in ascending order
 * and merged. Undefined when there is anything else in it, or nothing.
 */
export function readRanges(value: unknown): NumberRange[] | undefined {
  const text = (Array.isArray(value) ? value : [value]).map((one) => scalar(one) ?? "?").join(",")
  if (text.length > MAX_CHARS) return
  const words = text
    .replace(NOISE, " ")
    .replace(DASH, "$1-")
    .split(/[\s,;]+/)
  const ranges = words.filter((word) => word !== "").map(readOne)
  if (!ranges.every((range) => range !== undefined)) return
  const counted = ranges.filter(({ to }) => to >= 1).map(({ from, to }) => ({ from: Math.max(1, from), to }))
  return counted.length > 0 ? merged(counted) : undefined
}

function readOne(word: string): NumberRange | undefined {
  const found = RANGE.exec(word)
  if (!found) return
  const from = Number(found[1])
  const to = found[3] !== undefined ? Number(found[3]) : found[2] === undefined ? from : Number.POSITIVE_INFINITY
  return from <= to ? { from, to } : { from: to, to: from }
}

/** Text or a number, as text. */
export function scalar(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined
}

/** The same numbers in as few ranges as there can be, in ascending order. */
export function merged(ranges: readonly NumberRange[]): NumberRange[] {
  const out: NumberRange[] = []
  for (const range of ranges.toSorted((one, other) => one.from - other.from)) {
    const last = out.at(-1)
    if (last && range.from <= last.to + 1) last.to = Math.max(last.to, range.to)
    else out.push({ ...range })
  }
  return out
}

export function rangesOf(numbers: readonly number[]): NumberRange[] {
  return merged(numbers.map((number) => ({ from: number, to: number })))
}

export function isWithin(ranges: readonly NumberRange[], number: number): boolean {
  return ranges.some(({ from, to }) => from <= number && number <= to)
}

const MAX_NAMED_RANGES = 20

/** As `readRanges` reads them: `3-41, 50-`. */
export function rangesText(ranges: readonly NumberRange[]): string {
  return ranges.map(rangeText).join(", ")
}

function rangeText({ from, to }: NumberRange): string {
  return from === to ? `${from}` : `${from}-${to === Number.POSITIVE_INFINITY ? "" : to}`
}

/** The steps of a record, oldest first: `3-41`, whether or not each was sent. Where messages were deleted: `9-12,11-15`. */
export function recordedSteps(steps: readonly number[]): string {
  const ranges: NumberRange[] = []
  for (const step of steps) {
    const last = ranges.at(-1)
    if (last && step >= last.to) last.to = step
    else ranges.push({ from: step, to: step })
  }
  return ranges.map(rangeText).join(",")
}

/** The same of steps, shortened, for a sentence: `step 3`, `steps 3-41, 50`. */
export function namedSteps(ranges: readonly NumberRange[]): string {
  const [only] = ranges
  const more = ranges.length - MAX_NAMED_RANGES
  const named = `${rangesText(ranges.slice(0, MAX_NAMED_RANGES))}${more > 0 ? ` and ${more} more ranges` : ""}`
  return `step${ranges.length === 1 && only?.from === only?.to ? "" : "s"} ${named}`
}
