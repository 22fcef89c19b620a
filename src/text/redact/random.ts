// Whether a value looks as if drawn at random, by how its characters are spread and how often their class changes.

/**
 * Bits a character. 3.5 is gitleaks' bound for values beside a telling name; hexadecimal has no more than 4, and 3 is
 * truffleHog's bound for it.
 */
const LEAST_ENTROPY = 3.5
const LEAST_HEX_ENTROPY = 3
const UUID = /^\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?$/i
const HEX = /^[0-9a-f]+$/i
const CONSTANT = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
/** Words as code and prose have them; a row of random letters has few of them. */
const WORDS = /[A-Za-z][a-z]{3,}|[A-Z]{4,}/g
const VOWEL = /[aeiouy]/i
const CONSONANTS = /[^aeiouy]{4}/i
/** Part of a value that may be words. */
const MOST_WORDS = 0.6
/** Of random base64 two neighbours in three differ in class; of names written in camel case one in four. */
const LEAST_CHANGES = 0.3
/** Part of such a run that is of one case: two fifths at random, four deviations below that at 40 characters. */
const LEAST_OF_CASE = 0.1

/** Shannon entropy, in bits a character. */
export function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const one of value) counts.set(one, (counts.get(one) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** For a value of 10 characters and more beside a name that may be a secret's: not words, not an id, not a path. */
export function isRandom(value: string): boolean {
  if (value.length < 10 || !/[A-Za-z]/.test(value) || UUID.test(value) || CONSTANT.test(value)) return false
  if (!/\d/.test(value) && !(value.length >= 16 && isJumbled(value))) return false
  if (HEX.test(value)) return value.length >= 16 && entropyOf(value) >= LEAST_HEX_ENTROPY
  const words = value.match(WORDS)?.reduce((sum, word) => sum + word.length, 0) ?? 0
  // ten characters have no more than 3.32 bits each, and seldom as many
  return (
    words < value.length * MOST_WORDS && entropyOf(value) >= Math.min(LEAST_ENTROPY, 0.85 * Math.log2(value.length))
  )
}

/** Whether most of the value is words. */
export function hasWords(value: string): boolean {
  let letters = 0
  for (const [word] of value.matchAll(WORDS)) if (VOWEL.test(word) && !CONSONANTS.test(word)) letters += word.length
  return letters >= value.length * MOST_WORDS
}

/** For a run of base64 with no name beside it: its letters and digits follow each other as they do at random. */
export function isJumbled(run: string): boolean {
  let changes = 0
  let pairs = 0
  let upper = 0
  let lower = 0
  let last = 0
  for (let at = 0; at < run.length; at++) {
    const code = run.charCodeAt(at)
    const kind = code >= 97 && code <= 122 ? 1 : code >= 65 && code <= 90 ? 2 : code >= 48 && code <= 57 ? 3 : 0
    if (kind === 0) continue
    if (kind === 1) lower++
    else if (kind === 2) upper++
    if (last !== 0) {
      pairs++
      if (kind !== last) changes++
    }
    last = kind
  }
  const least = run.length * LEAST_OF_CASE
  return upper >= least && lower >= least && changes >= pairs * LEAST_CHANGES
}
