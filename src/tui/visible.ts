// Text of tools and files as a terminal may see it: what would move the cursor, change colours or turn the direction of
// writing is shown by a sign instead, and a line too long to be drawn is broken. Everything else stays as it is.

import { ACTIVE } from "../text/text.ts"

const TAB = "    "
/**
 * OpenCode's screen draws 65,535 columns of a line, two at most for a letter, and nothing of its rest. Of many lines near
 * that it may draw none at all; a million letters in lines of a thousand it scrolls at once.
 * Looked for from a line's start only: tried at each of its letters, a line of 20,000 took half a second.
 */
const TOO_LONG = /^[^\n]{30001,}/gmu
const PIECE = /.{1000}(?=.)/gsu

export function visible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(ACTIVE, signOf)
    .replace(TOO_LONG, (line) => line.replace(PIECE, "$&\n"))
}

function signOf(char: string): string {
  const code = char.charCodeAt(0)
  if (char === "\t") return TAB
  // Unicode has a picture for each of the old control characters
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `\\u${code.toString(16).padStart(4, "0")}`
}
