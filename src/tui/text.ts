// Text on a terminal: how many columns it takes, how it is cut to fit, and how untrusted text is made safe to display.
// Runs on OpenCode's Bun.

import { escapeControls } from "../text/sanitize.ts"

const TAB = "    "
/**
 * OpenCode's screen draws at most 65,535 columns of a line and drops the rest; with many lines of nearly that length it may
 * draw none. Lines of 1,000 characters scroll without delay, even a million characters of them. The pattern is anchored to
 * the start of a line: without that, matching a line of 20,000 characters took half a second.
 */
const OVERLONG_LINE = /^[^\n]{30001,}/gmu
const PIECE = /.{1000}(?=.)/gsu

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Cuts to at most `width` columns, ending in `…` when something was cut. Never splits a grapheme. */
export function fit(text: string, width: number): string {
  if (width <= 0) return ""
  return Bun.stringWidth(text) <= width ? text : `${beginning(text, width - 1).trimEnd()}…`
}

/** The longest beginning that takes at most `width` columns. */
function beginning(text: string, width: number): string {
  let kept = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += Bun.stringWidth(segment)
    if (used > width) break
    kept += segment
  }
  return kept
}

/** Breaks a line at spaces into at most `rows` lines of at most `width` columns; the last line is cut to fit. */
export function wrap(text: string, width: number, rows: number): string[] {
  const lines: string[] = []
  let rest = text.trim()
  while (rest && lines.length < rows - 1 && Bun.stringWidth(rest) > width) {
    const head = beginning(rest, width)
    const space = rest[head.length] === " " ? head.length : head.lastIndexOf(" ")
    // a word that takes most of a line is broken anywhere
    const at = space > head.length / 2 ? space : head.length
    lines.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  return rest && rows > 0 ? [...lines, fit(rest, width)] : lines
}

/**
 * Text of tools and files, safe to display: what would move the cursor, change colours or reverse the writing direction
 * is shown by its code, and lines too long to be drawn are broken. Everything else is unchanged.
 */
export function visible(text: string): string {
  const plain = text.toWellFormed().replaceAll("\r\n", "\n").replaceAll("\t", TAB)
  return escapeControls(plain).replace(OVERLONG_LINE, (line) => line.replace(PIECE, "$&\n"))
}
