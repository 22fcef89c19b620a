// Names in a text: paths and identifiers, the words by which an agent refers to things.

/** A path of either platform, or a word of at least five characters; not the end of a tag. */
const NAME = /(?<!<)(?:\b[A-Za-z]:)?[\w$@.~-]*(?:[\\/][\w$@.~-]+)+|[A-Za-z_$][\w$]{4,}/g
/** Longer ones are data, such as a hash or a line of base64. */
const MAX_NAME_CHARS = 160
const MIN_PATH_CHARS = 6

/** The names in a text, and how often each occurs. */
export function namesIn(text: string): Map<string, number> {
  const names = new Map<string, number>()
  for (const [found] of text.matchAll(NAME)) {
    // the end of a sentence is no part of a path
    const word = found.replace(/\.+$/, "")
    if (word.length > MAX_NAME_CHARS || !isName(word)) continue
    names.set(word, (names.get(word) ?? 0) + 1)
  }
  return names
}

/** Whether a word is a path, or mixes cases, digits or underscores, as plain words do not. */
function isName(word: string): boolean {
  if (/[\\/]/.test(word)) return word.length >= MIN_PATH_CHARS
  return /[a-z][A-Z]|_\w|\w\d/.test(word)
}

/** A word with an extension: what a file is called, whatever folder it is in. */
const FILE_NAME = /[\w$@~-][\w$@.~-]*\.[A-Za-z]\w{0,9}/g

/** The names of the files that a text mentions, without their folders. */
export function fileNamesIn(text: string): Set<string> {
  const names = new Set<string>()
  for (const [name] of text.matchAll(FILE_NAME)) names.add(name)
  return names
}
