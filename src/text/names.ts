// Names in a text: paths and identifiers, the words by which an agent refers to things. Every pattern takes one pass, since
// outputs may hold lines of a million characters.

/** A run of characters that paths and identifiers consist of, with a drive's letter; not the end of a tag. */
const RUN = /(?<!<)(?:\b[A-Za-z]:)?[\w$@.~\\/-]{4,}/g
const IDENTIFIER = /[A-Za-z_$][\w$]*/g
/** Longer ones are data, such as a hash or a line of base64. */
const MAX_NAME_CHARS = 160
const MIN_NAME_CHARS = 5
const MIN_PATH_CHARS = 6

/** The names in a text, in the order of their first use. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>()
  for (const run of text.match(RUN) ?? []) {
    if (run.length > MAX_NAME_CHARS) continue
    if (/[\\/]/.test(run)) {
      // the end of a sentence or a folder's slash is no part of the name
      const path = run.replace(/[.\\/]+$/, "")
      if (path.length >= MIN_PATH_CHARS && /[\\/]/.test(path)) names.add(path)
    } else if (isIdentifier(run))
      for (const word of run.match(IDENTIFIER) ?? [])
        if (word.length >= MIN_NAME_CHARS && isIdentifier(word)) names.add(word)
  }
  return names
}

/** Whether a word mixes cases, digits or underscores, as plain words do not. */
function isIdentifier(word: string): boolean {
  return /[a-z][A-Z]|_\w|\w\d/.test(word)
}
