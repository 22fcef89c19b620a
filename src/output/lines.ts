// How an output is looked at: as lines, its head and its tail only, without escape sequences, and never longer than
// a pattern can be run over safely. Every line keeps its raw form, so that what is said of it can be quoted verbatim.

/** `text` is what a reader sees, `raw` what the tool wrote. Both are cut at LINE_CHARS. */
export type Line = { readonly text: string; readonly raw: string }

/** `cut`: the middle of the output was left out, so counts over `lines` are lower bounds. */
export type View = { readonly lines: readonly Line[]; readonly cut: boolean }

const HEAD_CHARS = 64 * 1024
const TAIL_CHARS = 64 * 1024
const LINE_CHARS = 1000
/** OpenCode cuts an output at 2000 lines: more come only from tools that do their own cutting */
const SIDE_LINES = 2000

const ESCAPE = /[\x1b\x9b](?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_a-z])/g
const UNPRINTABLE = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/

/** Looks at the first and the last 64 kB of an output, 2000 lines of each; lines the cut runs through are dropped. */
export function look(output: string): View {
  if (output.length <= HEAD_CHARS + TAIL_CHARS) {
    const lines = toLines(output)
    if (lines.length <= 2 * SIDE_LINES) return { lines, cut: false }
    return { lines: lines.slice(0, SIDE_LINES).concat(lines.slice(-SIDE_LINES)), cut: true }
  }
  const head = output.slice(0, HEAD_CHARS)
  const tail = output.slice(-TAIL_CHARS)
  const headEnd = head.lastIndexOf("\n")
  const tailStart = tail.indexOf("\n")
  const first = toLines(headEnd < 0 ? head : head.slice(0, headEnd)).slice(0, SIDE_LINES)
  const last = tailStart < 0 ? [] : toLines(tail.slice(tailStart + 1)).slice(-SIDE_LINES)
  return { lines: first.concat(last), cut: true }
}

/** Looks at the last `chars` of an output only; a line the cut runs through is dropped unless it is the only one. */
export function lookAtTail(output: string, chars: number): View {
  if (output.length <= chars) return { lines: toLines(output), cut: false }
  const tail = output.slice(-chars)
  const start = tail.indexOf("\n")
  const lines = toLines(start < 0 || start === tail.length - 1 ? tail : tail.slice(start + 1))
  return { lines: lines.slice(-SIDE_LINES), cut: true }
}

/** The lines of a text, with their escapes taken out and progress overwritten by `\r` reduced to what stayed. */
export function toLines(output: string): Line[] {
  const plain = !/[\x1b\x9b\r]/.test(output)
  const lines: Line[] = []
  for (const whole of output.split("\n")) {
    const raw = whole.length > LINE_CHARS ? trimBroken(whole.slice(0, LINE_CHARS)) : whole
    lines.push(plain ? { text: raw, raw } : { text: printed(raw), raw })
  }
  if (lines.at(-1)?.text === "") lines.pop()
  return lines
}

/**
 * A span of the line as it was written, at most `max` characters: `wanted` if it stands there unbroken, else its
 * longest part between escapes and control characters. Undefined when nothing is left worth quoting.
 */
export function quote(line: Line, wanted: string = line.text, max = 200): string | undefined {
  const text = trimBroken(wanted.slice(0, max)).trim()
  if (text !== "" && !UNPRINTABLE.test(text) && line.raw.includes(text)) return text
  let best = ""
  for (const part of line.raw.replace(ESCAPE, "\n").split(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/)) {
    const trimmed = part.trim()
    if (trimmed.length > best.length && wanted.includes(trimmed)) best = trimmed
  }
  best = trimBroken(best.slice(0, max)).trim()
  return best.length > 2 ? best : undefined
}

/** A text on one line, without control characters, at most `max` characters, with an ellipsis where it was cut. */
export function clip(text: string, max = 160): string {
  const line = text
    .slice(0, max * 4)
    .replace(ESCAPE, "")
    .replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ")
    .trim()
  return line.length <= max ? line : `${trimBroken(line.slice(0, max - 1)).trimEnd()}…`
}

/** A property of tool arguments when it is a string, else "". */
export function textOf(input: unknown, ...keys: string[]): string {
  if (typeof input !== "object" || input === null) return ""
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? (input as Record<string, unknown>)[key] : undefined
    if (typeof value === "string" && value !== "") return value
  }
  return ""
}

function printed(raw: string): string {
  const text = raw.replace(ESCAPE, "").replace(/\r+$/, "")
  const back = text.lastIndexOf("\r")
  return back < 0 ? text : text.slice(back + 1)
}

/** A cut through a surrogate pair leaves half of it, which no encoder accepts. */
function trimBroken(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
