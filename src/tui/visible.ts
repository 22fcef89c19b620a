// Text of tools and files as a terminal may see it: what would move the cursor, change colours or turn the direction of
// writing is shown by a sign instead. Everything else stays as it is.

import { ACTIVE } from "../core/text.ts"

const TAB = "    "

export function visible(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replace(ACTIVE, signOf)
}

function signOf(char: string): string {
  const code = char.charCodeAt(0)
  if (char === "\t") return TAB
  // Unicode has a picture for each of the old control characters
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  return `\\u${code.toString(16).padStart(4, "0")}`
}
