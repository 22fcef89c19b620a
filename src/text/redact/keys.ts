// Private keys: whole blocks, blocks that lost one end, keys on one line with escaped line breaks, and single rows of a
// key, such as a quoted line. Other base64 looks the same and goes too, except certificates, public keys, signatures.

import { ACCOUNT, charsBefore, type Find, hasWords, isJumbled, type ReportSpan, reportGroups, skip } from "./value.ts"

const BEGIN =
  /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|OpenVPN Static key)[\w ]{0,9} ?-{4,5}|PuTTY-User-Key-File-\d|Private-Lines: \d+|\$ANSIBLE_VAULT;[\d.]{3};AES\d{3}\S*/g
const END = /-{4,5} ?END [A-Z0-9 ]{0,40}(?:PRIVATE KEY|OpenVPN Static key)[\w ]{0,9} ?-{4,5}|Private-MAC: *[0-9a-f]*/g
/** Certificates, public keys and signatures. */
export const PUBLIC_BEGIN =
  /-----BEGIN (?:CERT[A-Z ]{4,30}|(?:RSA |EC )?PUBLIC KEY|PGP (?:PUBLIC KEY BLOCK|SIGNATURE))-----/
const PUBLIC_BLOCK = new RegExp(`${PUBLIC_BEGIN.source}[A-Za-z0-9+/=\\s\\\\]{1,20000}(?=-----END)`, "g")
/** An RSA key of 16,384 bits has 12,700 characters. */
const MAX_BLOCK_CHARS = 20_000
/** Shorter rows cannot be distinguished from words. */
const MIN_ROW_CHARS = 12
/** Between two rows: white space, escaped line breaks, quotes, and the marks and numbers that tools put before lines. */
const BETWEEN = /(?:\n-(?!-)|[\s\\|>"'+,;]|\d{1,6}[:|→]|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{0,80})*/y
const ROW = /(?:[A-Za-z0-9+/]|\\\/){1,20000}={0,2}/y
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Base64 without a name: a long run, or a padded one. */
const RUN = /(?<![\w+/-])(?:[\w+/-]{40,}={0,2}|[A-Za-z0-9+/]{16,}={1,2}(?![\w=]))/g
/** A run of this length is redacted without padding, too. */
const LONG_RUN_CHARS = 40
/** The folders of a path whose file name looks like base64. */
const FOLDERS = /^(?:[A-Za-z][a-z_-]{1,24}\/)+/
/** A shorter run that is alone on its line. */
const ALONE = /^[ \t]*(?:\d{1,6}[:|→]?[ \t]{0,9})?([A-Za-z0-9+/]{20,39})[ \t]*$/dgm
const BREAK = /^["',]{0,2}\s*?(?:\n|\\)/
const HASH = /^sha\d{1,3}-/
/** Hashes, public keys, pictures and hosts that are known say what they are. */
const PUBLIC =
  /(?:(?:sha-?\d{1,3}|\bh1)[:=]{1,2}|(?:ssh-\w{3,8}|ecdsa-[\w-]{5,20}|sk-[\w@.-]{5,40}) |(?:integrity|content-md5|public[ _-]?key)[":= ]{1,4}|"(?:[nxy]|kid)": ?"?|data:(?:image|font|audio|video)\/[\w.+-]{2,24};base64,|\|1\|(?:[\w+/]{27}=\|)?)$/i

/** Whether what stands before a value says that it is public. */
export function isCalledPublic(text: string, at: number): boolean {
  return PUBLIC.test(charsBefore(text, at, 50))
}

export const findKeys: Find = (text, report) => {
  if (/PRIVATE KEY|Static key V1|PuTTY|Private-|\$ANSIBLE_VAULT/.test(text)) findBlocks(text, report)
  const rest = text.includes("-----BEGIN ") ? text.replace(PUBLIC_BLOCK, (block) => " ".repeat(block.length)) : text
  let done = 0
  for (const found of rest.matchAll(RUN)) {
    const folders = FOLDERS.exec(found[0])?.[0].length ?? 0
    const run = found[0].slice(folders)
    const index = found.index + folders
    if (
      index < done ||
      run.length < (run.endsWith("=") ? 16 : LONG_RUN_CHARS) ||
      HASH.test(run) ||
      !isJumbled(run) ||
      ACCOUNT.test(run) ||
      (hasWords(run) && !/\d.*=$/.test(run))
    )
      continue
    if (isCalledPublic(text, found.index)) continue
    const end = index + run.length
    done = run.length >= LONG_RUN_CHARS && BREAK.test(text.slice(end, end + 8)) ? afterRows(text, end) : end
    report(index, done)
  }
  reportGroups(rest, ALONE, report, (run) => isJumbled(run) && !hasWords(run))
}

function findBlocks(text: string, report: ReportSpan): void {
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
    // a sentence or a pattern that names both ends is not a key
    const isWhole = end !== undefined && end.index - body <= MAX_BLOCK_CHARS
    const isBlock = rows > body || begin[0].startsWith("PuTTY") || (isWhole && hasRow(text.slice(body, end.index)))
    if (!isBlock) continue
    done = isWhole ? end.to : rows
    report(begin.index, done)
  }
  looseEnds(text.length + 1)
}

/** Whether there is a row anywhere, for instance after a timestamp. */
function hasRow(text: string): boolean {
  return (text.match(/[A-Za-z0-9+/]{20,}/g) ?? []).some((run) => isJumbled(run) && !hasWords(run))
}

/** Where the rows end that begin at `at`; `at` itself when there are none. */
function afterRows(text: string, at: number): number {
  let end = at
  for (let here = at; ; ) {
    here = skip(BETWEEN, text, here)
    const row = text.slice(here, skip(ROW, text, here))
    const isLong = row.length >= MIN_ROW_CHARS && (!hasWords(row) || row.startsWith("MII"))
    // the last row may be short, but only after a long one
    if (!isLong && (end === at || !isLastRow(row))) return end
    here += row.length
    end = here
    if (!isLong) return end
  }
}

/** Where the rows begin that end before `at`, from `min` on. */
function beforeRows(text: string, at: number, min: number): number {
  let from = at
  const rows = text.slice(Math.max(min, at - MAX_BLOCK_CHARS), at).split(/([\s\\]+)/)
  for (let here = at, left = rows.length - 1; left >= 0; left--) {
    const row = rows[left] ?? ""
    here -= row.length
    if (/^(?:[\s\\]*|[|>"'+]|Line|\d{1,6}[:|→]?)$/.test(row)) continue
    const isLong = row.length >= MIN_ROW_CHARS && BASE64.test(row) && !hasWords(row)
    if (!isLong && !(from === at && isLastRow(row))) break
    from = here
  }
  return from
}

/** Base64, and not a word before or after the key. */
function isLastRow(row: string): boolean {
  return BASE64.test(row) && !/^[A-Z]?[a-z]+$/.test(row)
}
