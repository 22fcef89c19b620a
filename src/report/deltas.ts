// Delta encoding for texts that differ little from one to the next, such as the HUDs of a session: 500 HUDs of 600 characters
// take about 40 kB.

/**
 * The number of an unchanged line of the previous text; a previous line with its first `start` and last `end` characters kept
 * around `middle`; or a new line.
 */
export type LineDelta = number | string | [line: number, start: number, end: number, middle: string]

/** null if there is no text. */
export type TextDelta = LineDelta[] | null

/** With fewer characters in common, a reference is not worthwhile. */
const MIN_COMMON_CHARS = 12

export function deltasOf(texts: Iterable<string | undefined>): TextDelta[] {
  let before: string[] = []
  return Array.from(texts, (text) => {
    if (text === undefined) return null
    const lines = text.split("\n")
    const delta = lines.map((line) => deltaOf(line, before))
    before = lines
    return delta
  })
}

export function textsOf(deltas: readonly TextDelta[]): (string | undefined)[] {
  let before: readonly string[] = []
  return deltas.map((delta) => {
    if (delta === null) return undefined
    const lines = delta.map((line) => lineOf(line, before))
    before = lines
    return lines.join("\n")
  })
}

function deltaOf(line: string, before: readonly string[]): LineDelta {
  const same = before.indexOf(line)
  if (same >= 0) return same
  // each line of the HUD begins with the name of its section
  const name = line.slice(0, line.indexOf(" ") + 1)
  const at = name === "" ? -1 : before.findIndex((one) => one.startsWith(name))
  const other = before[at]
  if (other === undefined) return line
  let start = 0
  while (start < line.length && line[start] === other[start]) start++
  const maxEnd = Math.min(line.length, other.length) - start
  let end = 0
  while (end < maxEnd && line.at(-1 - end) === other.at(-1 - end)) end++
  return start + end < MIN_COMMON_CHARS ? line : [at, start, end, line.slice(start, line.length - end)]
}

function lineOf(delta: LineDelta, before: readonly string[]): string {
  if (typeof delta === "string") return delta
  if (typeof delta === "number") return before[delta] ?? ""
  const [at, start, end, middle] = delta
  const other = before[at] ?? ""
  return other.slice(0, start) + middle + other.slice(other.length - end)
}
