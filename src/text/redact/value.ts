// Values: where one begins and ends, whether it is only a placeholder or code, and whether it looks random. Every finder of
// secrets builds on these.

/** What takes the place of a secret. */
export const REDACTED = "[redacted]"

/** Reports the spans of a text that hold secrets, in any order; they may overlap. Linear in the text's length. */
export type Find = (text: string, report: ReportSpan) => void

export type ReportSpan = (from: number, to: number) => void

export type Value = {
  from: number
  to: number
  /** enclosed in quotes */
  quoted: boolean
}

/** The end of a longer value is not looked for. */
const MAX_VALUE_CHARS = 4_000
const OPENING = /(?:(?:[bBfFrRuUN]{1,2}#{0,3}|\$(?=')|\$?@)(?=["']))?(\\{0,8})(["'`]{1,3})/y
const CLOSED = /^(?:[ \t]+[+,&|.)]|[),;](?:\s|$))/
/** A quote within a string of SQL or YAML, and of a shell. */
const JOINED = /'(?:\\')?'(?=\w)/y
const BARE = /[^\s"'`<>‹]{1,4000}/y

/** The position after the sticky pattern's match at `at`; `at` itself when there is none. */
export function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

/** The characters before a position, at most so many. */
export function charsBefore(text: string, at: number, count: number): string {
  return text.slice(Math.max(0, at - count), at)
}

/** The value that begins at `at`, or undefined when this line has none. It ends with the line if its quote was cut off. */
export function valueAt(text: string, at: number, stop?: RegExp): Value | undefined {
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)
  if (opening) {
    const [whole, slashes = "", quotes = ""] = opening
    const from = at + whole.length
    // two quotes are an empty value, three open a string of several lines; one may end a string: `"bad key: " + error`
    if (quotes.length === 2 || CLOSED.test(text.slice(from, from + 20))) return undefined
    // a template does not end with its line, so the end of one would take the code after it for its value
    if (quotes === "`" && isWithinTemplate(text, at)) return undefined
    const to = closingAt(text, from, slashes.length, quotes)
    return from < to ? { from, to, quoted: true } : undefined
  }
  BARE.lastIndex = at
  const bare = BARE.exec(text)?.[0].slice(0, MAX_VALUE_CHARS)
  if (!bare) return undefined
  const cut = stop ? bare.search(stop) : -1
  const value = trimmed(cut < 0 ? bare : bare.slice(0, cut))
  // `sk-...` in an example
  if (value.length < 8 && bare.startsWith("...", value.length)) return undefined
  return { from: at, to: at + value.length, quoted: false }
}

/** How far before a value a template is looked for. */
const MAX_TEMPLATE_CHARS = 200

/** Whether a template was opened before it in the line and not closed. */
function isWithinTemplate(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - MAX_TEMPLATE_CHARS), at)
  return before.slice(before.lastIndexOf("\n") + 1).split("`").length % 2 === 0
}

/** Where the quoted string ends: at the same quote after as many backslashes, else with the line. */
function closingAt(text: string, from: number, slashes: number, quotes: string): number {
  const quote = quotes[0] as string
  const end = Math.min(text.length, from + MAX_VALUE_CHARS)
  for (let at = from, run = 0; at < end; at++) {
    const char = text[at]
    if (char === "\n" && quotes.length === 1 && quote !== "`") return at
    const goesOn = char === "'" && run <= slashes ? skip(JOINED, text, at) : at
    if (goesOn > at) at = goesOn - 1
    else if (char === quote && run <= slashes && (quotes.length === 1 || text.startsWith(quotes, at))) return at - run
    run = char === "\\" ? run + 1 : 0
  }
  return end
}

/** What is shorter than this before a comma is part of the value. */
const MIN_PAIR_CHARS = 3

/** Without punctuation of the sentence or statement around it, such as a bracket that was opened before the value. */
function trimmed(bare: string): string {
  // the next pair of a list, a connection string or an object
  const next = bare.search(/[;,](?=$|[\s"'`[{(]|(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})[\w .-]{0,40}[=:])/)
  let value = next < MIN_PAIR_CHARS ? bare : bare.slice(0, next)
  for (;;) {
    const last = value.at(-1) ?? ""
    const opening = { ")": "(", "]": "[", "}": "{" }[last]
    if (opening === undefined ? !/[,;:.?…\\。，]/.test(last) : value.includes(opening)) return value
    value = value.slice(0, -1)
  }
}

/** A reference, a placeholder or a pattern: something that is filled in elsewhere. */
const PLACEHOLDER = new RegExp(
  `^(?:${[
    "\\$\\{\\{?[^}]*\\}?\\}?",
    "\\$\\(.*\\)?",
    "\\$+[A-Za-z_]\\w*(?:[.:\\[][\\w.\\]'\":>-]*)?",
    "\\$\\d?",
    "%[A-Za-z_]\\w*%",
    // directives of format strings; a password may hold a percent sign as well
    "(?:0x|[A-Za-z]{2,20}[-_=:.])?%(?:\\(\\w{1,30}\\))?[-+#0]{0,2}\\d{0,2}[sdvqrx](?:[-_:./,]?%(?:\\(\\w{1,30}\\))?[-+#0]{0,2}\\d{0,2}[sdvqrx])*",
    "#[0-9a-f]{3,8}",
    "0x[0-9a-f]{1,4}",
    "@[A-Za-z_.]+@?",
    "#?\\{(?!\\w{2,12}\\}[\\w$+/]{4})\\{?.*",
    // Laravel's rules for a field of a form
    "(?:required|nullable|sometimes)\\|.*",
    "(?:[<([]|\\.[*+]).*",
    "[\\w-]{0,16}(?:[*•·●]{3,}|\\.{3}|x{8,})\\w{0,4}",
    "[*•·●x.X_#?-]+",
    "[`'\"]?(?:\\$\\{[^}]*\\}[^A-Za-z0-9$]*)+",
    "[\\^~<>=v]{0,2}\\d+\\.\\d+\\.[\\dx*]+(?:-[a-z]+(?:\\.\\d+)?)?",
    "…+",
    // a tag of YAML
    "!{1,2}[A-Za-z_]+(?:[.:/ \\t].*)?",
    "[&:]\\w+",
    "(?:string|id|int|float|boolean)!",
    "(?:redacted|masked|hidden|omitted|removed|sensitive|filtered|secret|password|passwd|token|placeholder|changeme|change[-_]me|todo|tbd|example|dummy|none|null|nil|undefined|true|false|yes|no|on|off|unset|empty|string|str|text|number|int|integer|bool|boolean|bytes|any|object|unknown|void|required|optional|default|[bs]crypt|argon2(?:id?|d)?|pbkdf2|md5|sha-?\\d{1,3}|[hr]s256)",
    "(?:your|my|some|the|replace|insert|enter|put)[-_ ][A-Za-z_ -]+",
    "\\(?(?:known after apply|sensitive value|sensitive)\\)?",
  ].join("|")})$`,
  "i",
)

export function isPlaceholder(value: string): boolean {
  return value.length > 0 && value.length < 400 && PLACEHOLDER.test(value)
}

/** Reports a span if it holds a value that is neither a placeholder nor redacted already. */
export function valueReporter(text: string, report: ReportSpan): ReportSpan {
  return (from, to) => {
    const value = text.slice(from, to)
    if (!value.includes(REDACTED) && !isPlaceholder(value)) report(from, to)
  }
}

/** Reports the first group that a match has, if `isFound` is true of its text and its number. The pattern has flag `d`. */
export function reportGroups(
  text: string,
  pattern: RegExp,
  report: ReportSpan,
  isFound: (value: string, group: number) => boolean = () => true,
): void {
  for (const match of text.matchAll(pattern)) {
    const group = match.findIndex((value, at) => at > 0 && value !== undefined)
    const [from, to] = match.indices?.[group] ?? [0, 0]
    if (group > 0 && isFound(match[group] as string, group)) report(from, to)
  }
}

/** What source code has in the place of a literal value: a call, a member, a type, an operator. */
const CODE =
  /^(?:(?:await|new|typeof|return|void|yield|not|in|if|else|async|function|class|require|import|export|from|as|is|lambda)$|[&*!~]?[A-Za-z_$][\w$]*(?:(?:\?\.|::|->|\.|!\.)[A-Za-z_$#][\w$]*)+[!?;,)\]]*$|[&*!~]?[A-Za-z_$][\w$.:<>?-]{0,80}[([<{]|[A-Za-z_$][\w$.]{0,80}(?:[|&]{2}|[)}\]]{1,8}[(,;:])|=>|\(|\[|\{|\/\^|[|&]{2}|\?\?|[\w.]+\[|[A-Z][\w.]*<|\||\d*\/\*|\/\S*\/[dgimsuvy]*[;,)]*$)/

/** Words and a number, which no member is called. */
const MEMBER_AND_NUMBER =
  /^[a-z]+\.[a-z]+[-_]?\d{3,}$|^[A-Za-z]+(?:\.[A-Za-z]+)*\.\d{2,4}$|^[A-Za-z]{3,}\d{2,4}\.[A-Za-z]$/

/** What an object and its member look like. */
const MEMBER = /^(?=.{8,40}$)[A-Za-z\d]{2,20}\.[A-Za-z\d]{2,20}$/
/** A capital that begins no word: `dRDg.iMmKII`. */
const ODD_CAPITAL =
  /[a-z][A-Z]{2}[a-z](?![a-z])|(?:^|\.)[A-Z]{2}[b-df-hj-np-tv-xz]{2}|[a-z][A-Z][b-df-hj-np-tv-xz]{0,2}[A-Z](?![A-Z])/

export function isCode(value: string): boolean {
  if (!CODE.test(value) || MEMBER_AND_NUMBER.test(value)) return false
  return !(MEMBER.test(value) && (!isWordlike(value) || ODD_CAPITAL.test(value)))
}

/** A file name, a version, a word with dots or dashes: what follows a word that does not introduce a header. */
export function isName(value: string): boolean {
  return /^(?:[A-Za-z][\w-]*\.[A-Za-z]{1,5}|v?\d[\d.]*|[A-Za-z][a-z]*(?:[-_./:][A-Za-z]+)*\d{0,2}[.:]?)$/.test(value)
}

/**
 * Bits a character. 3.5 is gitleaks' threshold for values beside a name that suggests a secret. Hexadecimal has at most
 * 4, and 3 is truffleHog's threshold for it.
 */
const MIN_ENTROPY = 3.5
const MIN_HEX_ENTROPY = 3
/** The public address of an account or a contract of Ethereum. */
export const ACCOUNT = /^0x[\da-f]{40}$/i
export const UUID = /^\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?$/i
const HEX = /^[0-9a-f]+$/i
const CONSTANT = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
/** Words as in code and prose; random letters rarely form them. */
const WORDS = /[A-Za-z][a-z]{3,}|[A-Z]{4,}/g
const VOWEL = /[aeiouy]/i
const CONSONANTS = /[^aeiouy]{4}/i
/** Share of a random value that may be words. */
const MAX_WORDS = 0.6
/** In random base64 two of three neighbours differ in class (lower case, upper case, digit); in camelCase one of four. */
const MIN_CHANGES = 0.3
/** Share of each case in such a run: two fifths at random, which at 40 characters is four standard deviations more. */
const MIN_OF_CASE = 0.1

/** Shannon entropy, in bits a character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** For a value beside a name that may be a secret's: at least 10 characters, and not words, an id or a path. */
export function isRandom(value: string): boolean {
  if (value.length < 10 || !/[A-Za-z]/.test(value) || UUID.test(value) || CONSTANT.test(value)) return false
  if (!/\d/.test(value) && !(value.length >= 16 && isJumbled(value))) return false
  if (HEX.test(value)) return value.length >= 16 && entropyOf(value) >= MIN_HEX_ENTROPY
  const words = value.match(WORDS)?.join("").length ?? 0
  // ten characters have at most 3.32 bits each, and rarely that many
  return words < value.length * MAX_WORDS && entropyOf(value) >= Math.min(MIN_ENTROPY, 0.85 * Math.log2(value.length))
}

/** Whether most of the value is words. */
export function hasWords(value: string): boolean {
  const words = value.match(WORDS)?.filter((word) => VOWEL.test(word) && !CONSONANTS.test(word)) ?? []
  return words.join("").length >= value.length * MAX_WORDS
}

/** For a run of base64 without a name beside it: cases and digits alternate as often as in random base64. */
export function isJumbled(run: string): boolean {
  const count = (pattern: RegExp) => run.match(pattern)?.length ?? 0
  const minOfCase = run.length * MIN_OF_CASE
  if (count(/[a-z]/g) < minOfCase || count(/[A-Z]/g) < minOfCase) return false
  const signs = run.replace(/[^A-Za-z\d]+/g, "")
  const pieces = signs.match(/[a-z]+|[A-Z]+|\d+/g) ?? []
  return pieces.length - 1 >= (signs.length - 1) * MIN_CHANGES
}

/**
 * How rarely a letter follows another in words of code and prose, counted over recorded sessions: one digit of base 36 for
 * each pair from `aa` to `zz`, in steps of two fifths of a bit.
 */
const RARITY =
  "xb9bphdqcsh7c8xcq8a6efjmfm8khk7jsk8gn6gs8isaah8jssfs" +
  "8wer8rw8brabpr5lwbg7crrrhwaihe4khn5ilekkalucakbhpnjp" +
  "bha7feflkppbd8kdi67blehcks9sss78ns5nsajs7isahcasssds" +
  "9jls5jb98sscg9bns8blanssgn6lnl4sss7ssgfh7jnbiadssses" +
  "dfaccdcytymbc48fpda9qcyiye9kkk4kkkckkkkk8dkk7k6kfkkk" +
  "dfpf4egp6ppbjcggjp6fepgpdp7kid6joq6wj8nl8iwoddchmw8w" +
  "6cmm5mou7mogbl97uudkcmuuouala99e5lamhikfcjsk87feosks" +
  "efccngfngkgaa5dbx7bcadcklq8nkh7nkeavn8km8av6cacvmpjv" +
  "kkkkkkkkkkkckkkkkkkk1kfkkk8ked4ifq7xfgdf8hxdabdgjxds" +
  "dpam6jra7wgfhjcbnm959lhnfw9ofk5kqb5sxemnalx9addxjqcx" +
  "bbbecgdpcuu9b6hau888ppukup7rir2mkr6rrrmrbrrkjmjrrmkr" +
  "6qqg6qqa7qiek97kq9aikqiiqqbo8i7ioi7ooiioi5ogg6ooo8go" +
  "dbde9gjo8ooba9a7og8coocogd7mmm2mmm6mmhmmbmmmdmhmmmff"
/** Words have 9.5 at most, with one exception in a hundred; random letters have 15, and less than this one time in a hundred. */
const MAX_RARITY = 11.2
/** Below this there are too few pairs to tell. */
const MIN_PAIRS = 5
const A = 97
const RARITIES = Uint8Array.from(RARITY, (digit) => Number.parseInt(digit, 36))

/**
 * Whether the letters of a value follow each other as in words. Pairs across a word's boundary, such as a change from lower
 * to upper case, do not count. True for values of few letters.
 */
export function isWordlike(value: string): boolean {
  const { sum, pairs, words } = pairsOf(value)
  // many "words" of one or two letters are not words
  if (words >= 4 && pairs < 1.5 * words) return false
  return pairs < MIN_PAIRS || sum <= MAX_RARITY * pairs
}

/** The average rarity of the value's pairs of letters; see `RARITY`. */
export function rarityOf(value: string): number {
  const { sum, pairs } = pairsOf(value)
  return sum / Math.max(1, pairs)
}

const letterAt = (word: string, at: number) => (word.charCodeAt(at) | 32) - A

/** A change from lower to upper case begins a word, one from upper to lower case does not. */
function pairsOf(value: string): { sum: number; pairs: number; words: number } {
  const words = value.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? []
  let sum = 0
  for (const word of words)
    for (let at = 1; at < word.length; at++) sum += RARITIES[26 * letterAt(word, at - 1) + letterAt(word, at)] ?? 0
  return { sum, pairs: words.join("").length - words.length, words: words.length }
}
