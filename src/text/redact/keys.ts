// Private keys: whole blocks, blocks of which one end was cut off, keys on one line with their breaks escaped, and rows
// of one that were torn out of it, as a line that somebody quotes. A row of another's base64 is taken for one.

import { hasWords, isJumbled } from "./random.ts"
import type { Find } from "./span.ts"

const BEGIN = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20} ?-{4,5}|PuTTY-User-Key-File-\d|Private-Lines: \d+/g
const END = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20} ?-{4,5}|Private-MAC: *[0-9a-f]*/g
/** The longest block: an RSA key of 16,384 bits has 12,700 characters. */
const LONGEST = 20_000
/** Of a row that is told from a word, in characters. */
const SHORTEST = 12
/** What lies between the rows: white space, escaped breaks, the marks and numbers that tools put before lines, quotes. */
const BETWEEN = /(?:[\s\\]|[|>"'+,;]|\d{1,6}[:|→]|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{0,80})*/y
const ROW = /(?:[A-Za-z0-9+/]|\\\/){1,20000}={0,2}/y
/** Base64 by itself: a long run, or one that is padded. Hashes and public keys say what they are. */
const RUN = /(?<![\w+/-])(?:[\w+/-]{40,}={0,2}|[A-Za-z0-9+/]{16,}={1,2}(?![\w=]))/g
/** A run this long is a secret's without padding, in characters. */
const LONG = 40
/** What leads to a file whose name looks so. */
const FOLDERS = /^(?:[A-Za-z][a-z_-]{1,24}\/)+/
/** A shorter one that is all of its line. */
const ALONE = /^[ \t]*(?:\d{1,6}[:|→]?[ \t]{0,9})?([A-Za-z0-9+/]{20,39})[ \t]*$/dgm
const BREAK = /^["',]{0,2}\s*?(?:\n|\\)/
const HASH = /^sha\d{1,3}-/
const PUBLIC =
  /(?:(?:sha-?\d{1,3}|\bh1)[:=]{1,2}|(?:ssh-\w{3,8}|ecdsa-[\w-]{5,20}|sk-[\w@.-]{5,40}) |integrity[":= ]{1,4})$/i

export const findKeys: Find = (text, report) => {
  if (text.includes("PRIVATE KEY") || text.includes("PuTTY") || text.includes("Private-")) findBlocks(text, report)
  let done = 0
  for (const found of text.matchAll(RUN)) {
    const folders = FOLDERS.exec(found[0])?.[0].length ?? 0
    const run = found[0].slice(folders)
    const index = found.index + folders
    if (
      index < done ||
      run.length < (run.endsWith("=") ? 16 : LONG) ||
      HASH.test(run) ||
      !isJumbled(run) ||
      (hasWords(run) && !/\d.*=$/.test(run))
    )
      continue
    if (PUBLIC.test(text.slice(Math.max(0, index - 50), index))) continue
    const end = index + run.length
    done = run.length >= LONG && BREAK.test(text.slice(end, end + 8)) ? afterRows(text, end) : end
    report(index, done)
  }
  for (const { 1: run = "", indices } of text.matchAll(ALONE)) {
    const span = indices?.[1]
    if (span && isJumbled(run) && !hasWords(run)) report(...span)
  }
}

function findBlocks(text: string, report: Parameters<Find>[1]): void {
  const ends = [...text.matchAll(END)].map(({ index, 0: marker }) => ({ index, to: index + marker.length }))
  let next = 0
  let done = 0
  const looseEnds = (before: number) => {
    for (let end = ends[next]; end && end.index < before; end = ends[++next]) {
      const from = end.index < done ? end.index : beforeRows(text, end.index, done)
      if (from < end.index || text.startsWith("Private-MAC", from)) report(from, end.to)
      done = Math.max(done, end.to)
    }
  }
  for (const begin of text.matchAll(BEGIN)) {
    if (begin.index < done) continue
    looseEnds(begin.index)
    const body = begin.index + begin[0].length
    const end = ends[next]
    const rows = afterRows(text, body)
    // a sentence or a pattern that names both ends is no key
    const isWhole = end !== undefined && end.index - body <= LONGEST
    const isBlock = rows > body || begin[0].startsWith("PuTTY") || (isWhole && hasRow(text.slice(body, end.index)))
    if (!isBlock) continue
    done = isWhole ? end.to : rows
    report(begin.index, done)
  }
  looseEnds(text.length + 1)
}

/** Whether a row stands anywhere in it, as with a date before each. */
function hasRow(text: string): boolean {
  return (text.match(/[A-Za-z0-9+/]{20,}/g) ?? []).some((run) => isJumbled(run) && !hasWords(run))
}

/** Where the rows end that begin here; `at` itself where there are none. */
function afterRows(text: string, at: number): number {
  let end = at
  for (let here = at; ; ) {
    here += stickyLength(BETWEEN, text, here)
    const row = text.slice(here, here + stickyLength(ROW, text, here))
    const isLong = row.length >= SHORTEST && (!hasWords(row) || row.startsWith("MII"))
    // the last row is of any length, and comes after a long one
    if (!isLong && (end === at || !isLastRow(row))) return end
    here += row.length
    end = here
    if (!isLong) return end
  }
}

/** Where the rows begin that end before `at`, not before `least`. */
function beforeRows(text: string, at: number, least: number): number {
  let from = at
  const rows = text.slice(Math.max(least, at - LONGEST), at).split(/([\s\\]+)/)
  for (let here = at, left = rows.length - 1; left >= 0; left--) {
    const row = rows[left] ?? ""
    here -= row.length
    if (/^(?:[\s\\]*|[|>"'+]|Line|\d{1,6}[:|→]?)$/.test(row)) continue
    const isLong = row.length >= SHORTEST && /^[A-Za-z0-9+/]+={0,2}$/.test(row) && !hasWords(row)
    if (!isLong && !(from === at && isLastRow(row))) break
    from = here
  }
  return from
}

/** Base64, and not a word that follows or leads. */
function isLastRow(row: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(row) && !/^[A-Z]?[a-z]+$/.test(row)
}

function stickyLength(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}
