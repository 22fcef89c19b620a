// Renders sections as the HUD's text, within a token budget. Sections and their items come in order of importance; a
// section that does not fit is cut to its first items or left out.

import { oneLine } from "../text/sanitize.ts"
import { cutToTokens, estimateTokens } from "../text/tokens.ts"
import type { Item, Section } from "./sections.ts"

const OPEN = "<hud>"
const CLOSE = "</hud>"

export type Hud = {
  text: string
  /** estimated tokens of `text`, summed by line */
  tokens: number
  /** state of each item in the text, by `itemKey`: a sticky slot does not repeat it */
  reported: ReadonlyMap<string, string>
}

/**
 * The HUD as one block of plain text; undefined when nothing fits. `call` is the call it is sent with, 1-based. With
 * `since`, the text states that it contains only changes since that call.
 */
export function renderHud(sections: readonly Section[], budgetTokens: number, call: number, since?: number) {
  let left = budgetTokens - tokensOf(framed([], call, since))
  const lines: string[] = []
  const reported = new Map<string, string>()
  for (const section of sections) {
    const fitted = fitting(section, left)
    if (!fitted) continue
    left -= fitted.tokens
    lines.push(fitted.line)
    for (const item of section.items.slice(0, fitted.count)) reported.set(itemKey(section, item), item.state)
  }
  if (!lines.length) return
  return { text: framed(lines, call, since).join("\n"), tokens: budgetTokens - left, reported }
}

/** Ten times the size of a HUD with the largest budget. */
const MAX_HUD_CHARS = 100_000

/** Whether a text has the form of a HUD. The content of a store is not trusted. */
export function isHud(text: string): boolean {
  if (text.length > MAX_HUD_CHARS) return false
  const [open, head = "", ...lines] = text.split("\n")
  const isHead = /^hudfold status, call \d+(?:, changes since call \d+)?$/.test(head)
  return open === OPEN && isHead && lines.pop() === CLOSE && lines.every((one) => one !== "" && oneLine(one) === one)
}

export function emptyHud(call: number): Hud {
  const lines = framed([], call)
  return { text: lines.join("\n"), tokens: tokensOf(lines), reported: new Map() }
}

function framed(lines: readonly string[], call: number, since?: number): string[] {
  const changes = since === undefined ? "" : `, changes since call ${since}`
  return [OPEN, `hudfold status, call ${call}${changes}`, ...lines, CLOSE]
}

function tokensOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + estimateTokens(line) + 1, 0)
}

function itemKey(section: Section, item: Item): string {
  return `${section.name} ${item.key}`
}

/** The sections reduced to the items whose state differs from the reported one; empty sections are removed. */
export function onlyNew(sections: readonly Section[], reported: ReadonlyMap<string, string>): Section[] {
  return sections.flatMap((section) => {
    const items = section.items.filter((item) => reported.get(itemKey(section, item)) !== item.state)
    return items.length > 0 ? [{ ...section, items }] : []
  })
}

/** The beginning of the line about failures, with at least one character of the first reason. */
const REASON_BEGUN = /^failing `[^`]*` [^:]*: ./

/** The section's line with as many items as fit. */
function fitting(section: Section, budgetTokens: number) {
  let fitted: { line: string; tokens: number; count: number } | undefined
  for (let count = 1; count <= section.items.length; count++) {
    // sanitised again, since harmless pieces may combine into markup, and some come from a store
    const whole = oneLine(`${section.label} ${section.join(section.items.slice(0, count))}`)
    // three tokens less, since the estimate for the beginning of a line may be higher than its share of the whole
    const shorter = tokensOf([whole]) > budgetTokens ? cutToTokens(whole, budgetTokens - 3) : whole
    // what fails matters most, so its line is cut where others are left out
    const line = REASON_BEGUN.test(shorter) ? shorter : whole
    const tokens = tokensOf([line])
    if (tokens > budgetTokens) break
    fitted = { line, tokens, count }
  }
  return fitted
}
