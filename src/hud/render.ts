// Sections → the HUD's text, within a budget of tokens. A section that does not fit is trimmed to its worthiest items
// or dropped whole; the order of worth is the order of the sections.

import { oneLine } from "../text/sanitize.ts"
import { estimateTokens } from "../text/tokens.ts"
import type { Item, Section } from "./sections.ts"

const OPEN = "<hud>"
const CLOSE = "</hud>"

export type Hud = {
  text: string
  /** estimated tokens of `text`, line by line */
  tokens: number
  /** what was said of what, see `saying`: a sticky slot need not say it again */
  said: ReadonlyMap<string, string>
}

/** Tokens of the frame: tags, attribution, line breaks. */
const FRAME = 16

/**
 * The HUD as one block of plain text, or undefined when nothing fits. `call` is the call it goes out with, 1-based.
 * With `since`, the text says that it holds only what changed since that call.
 */
export function render(
  sections: readonly Section[],
  budgetTokens: number,
  call: number,
  since?: number,
): Hud | undefined {
  let left = budgetTokens - FRAME
  const lines: string[] = []
  const said = new Map<string, string>()
  for (const section of sections) {
    const fitted = fit(section, left)
    if (!fitted) continue
    left -= fitted.tokens
    lines.push(fitted.line)
    for (const item of section.items.slice(0, fitted.count)) said.set(saying(section, item), item.state)
  }
  if (!lines.length) return
  return { text: block(lines, call, since), tokens: budgetTokens - left, said }
}

/** Characters of a HUD; the largest budget comes to a tenth of it. */
const LONGEST = 100_000

/** Whether a text is a HUD as this file writes them: one of a store may be another's. */
export function isHud(text: string): boolean {
  if (text.length > LONGEST) return false
  const [open, head = "", ...lines] = text.split("\n")
  const isHead = /^status by hudfold, call \d+(?:, changes since call \d+)?$/.test(head)
  return open === OPEN && isHead && lines.pop() === CLOSE && lines.every((one) => one !== "" && oneLine(one) === one)
}

/** A HUD with nothing to say. */
export function frame(call: number): Hud {
  return { text: block([], call), tokens: FRAME, said: new Map() }
}

function block(lines: readonly string[], call: number, since?: number): string {
  const head = `status by hudfold, call ${call}${since === undefined ? "" : `, changes since call ${since}`}`
  return [OPEN, head, ...lines, CLOSE].join("\n")
}

/** What an item is about, unlike any other of another section. */
function saying(section: Section, item: Item): string {
  return `${section.name} ${item.key}`
}

/** Sections with only the items that say something else than was said; a section without any is gone. */
export function onlyNew(sections: readonly Section[], said: ReadonlyMap<string, string>): Section[] {
  return sections
    .map((section) => ({
      ...section,
      items: section.items.filter((item) => said.get(saying(section, item)) !== item.state),
    }))
    .filter((section) => section.items.length > 0)
}

/** As many of the section's items as fit, by halving: a list is long or short, seldom in between. */
function fit(section: Section, budgetTokens: number): { line: string; tokens: number; count: number } | undefined {
  const measure = (count: number) => {
    const more = section.items.length - count
    const rest = more && section.name === "files" ? `, ${more} more` : ""
    // once more, for what was put together of harmless pieces, and for what came from a store
    const line = oneLine(`${section.label} ${section.join(section.items.slice(0, count))}${rest}`)
    return { line, tokens: estimateTokens(line) + 1, count }
  }
  const all = measure(section.items.length)
  if (all.tokens <= budgetTokens) return all
  let low = 0
  let high = section.items.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (measure(middle).tokens <= budgetTokens) low = middle
    else high = middle - 1
  }
  return low > 0 ? measure(low) : undefined
}
