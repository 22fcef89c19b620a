// Names in a text: paths and identifiers, the words by which an agent refers to things. Every pattern takes one pass, since
// outputs may hold lines of a million characters.

import { ESCAPE_SEQUENCE } from "./sanitize.ts"

/** Letters beyond ASCII. Most texts have none, and are searched faster without them. */
const LETTER = /[\u00c0-\u060b\u0620-\u1fff\u3041-\ud7ff\uf900-\ufaff]/
/** A run of characters that paths and identifiers consist of, with a drive's letter or an address's scheme. The slash of a closing tag is no path. */
const RUN = /(?<!<(?=\/))(?:\b(?:[A-Za-z]:|[a-z][a-z+-]{1,15}:(?=\/\/)(?:\/\/[\w.-]+:(?=\d))?))?[\w$@.~\\/-]{4,}/g
const WIDE_RUN = new RegExp(RUN.source.replace("[\\w$@", `${LETTER.source.slice(0, -1)}\\w$@`), "g")
/** Words that touch a path, in languages without blanks: 修改src/购物车.ts文件. A folder's name ends with its slash. */
const PROSE = /(?<![\w\p{L}@.~\\/-])[\p{Lo}ー]+(?=[\w@.~-]+[\\/])|(?<=\.[A-Za-z]\w{0,5})[\p{Lo}ー]+(?![\p{Lo}ー\\/])/gu
/** A name that is not ASCII as git prints it, each byte in three octal digits: `"src/\350\264\255.ts"`. */
const OCTAL = /\\3[0-7]{2}(?:\\[23][0-7]{2})+/g
const fromOctal = (bytes: string) => `${Buffer.from(bytes.match(/\d+/g)?.map((one) => Number.parseInt(one, 8)) ?? [])}`
/**
 * Line breaks and others as JSON and code write them. A single `\n` before a small letter may begin a name: `\\nas\share`.
 */
const ESCAPES =
  /^(?!\\\\[\w$.-]+\\[\w$])(?:\\+[nrt])+|(?:\\+[nrt]){2,}|(?:\\+(?:[nrt]|u[\da-f]{4}|x[\da-f]{2}))+(?![a-z])/
/** Only whole words, since half of one names nothing, and in scripts without blanks no end can be seen. Of those that begin with a digit, only the hash of a commit. */
const IDENTIFIER =
  /(?<![\w$\u00c0-\u052f\u1e00-\u1fff])(?:(?!\d)[\w$\u00c0-\u052f\u1e00-\u1fff]+|(?=\d+[a-f])[0-9a-f]{7,40}(?![\w$]))/g
/** Longer ones are data, such as a hash or a line of base64. */
const MAX_NAME_CHARS = 160
const MIN_NAME_CHARS = 5
const MIN_PATH_CHARS = 6

/** The names in a text, in the order of their first use. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>()
  // most texts have no escape sequence, and a copy of a long one takes time
  const shown = text.includes("\u001b") ? text.replace(ESCAPE_SEQUENCE, " ") : text
  // pieces of an image look like short identifiers
  const plain = shown.includes(";base64,") ? shown.replace(/;base64,[\w+/%=]*/g, " ") : shown
  const read = plain.includes("\\3") ? plain.replace(/(?<= )"(?=[ab]\/)/g, "").replace(OCTAL, fromOctal) : plain
  // git names each file of a diff twice, as a/cart.ts and b/cart.ts
  const once = read.replace(/^(?:diff --git a\/(\S+) b\/|[-+]{3} [ab]\/)/gm, " $1 ")
  // most texts are ASCII, which their length in bytes tells sooner than a pattern
  const isWide = Buffer.byteLength(once) > once.length && LETTER.test(once)
  const bare = isWide ? once.replace(PROSE, " ") : once
  for (const run of bare.match(isWide ? WIDE_RUN : RUN) ?? []) {
    if (run.length > MAX_NAME_CHARS) continue
    if (run.includes("\\")) for (const piece of run.split(ESCAPES)) addNames(names, piece)
    else addNames(names, run)
  }
  return names
}

/** Adds the names in a piece of a run, which is a path or holds identifiers. */
function addNames(names: Set<string>, piece: string): void {
  if (piece.includes("/") || piece.includes("\\")) {
    // the end of a sentence, a folder's slash and the line that grep shows around a match are no part of the name
    const path = piece.replace(/[.\\/]+$|(?<=\.[A-Za-z]\w{0,5})-\d+-.*/, "")
    if (!/[\\/]/.test(path)) addNames(names, path)
    // without a letter it is a fraction or a date, unless it is an address
    else if (path.length >= MIN_PATH_CHARS && /[A-Za-z]|^\/\/\d/.test(path)) names.add(path)
  } else if (isIdentifier(piece))
    for (const word of piece.match(IDENTIFIER) ?? [])
      if (word.length >= MIN_NAME_CHARS && isIdentifier(word) && /[^\d_$]/.test(word)) names.add(word)
}

/** Whether a word mixes cases, digits or underscores, as plain words do not. */
function isIdentifier(word: string): boolean {
  return /[a-zß-ÿа-џ][A-ZÀ-ÞА-Я]|_[^$@.~\\/-]|\w\d/.test(word)
}
