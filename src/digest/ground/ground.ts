// Makes a digest from what a model wrote about an output, if the output and the arguments support it. The model may use its own
// words, so the check covers everything in them that could be false: names, paths, numbers, quotes, outcomes, and whether they
// are about this output at all.

import { cleanDigest, type DigestSource, MAX_DIGEST_CHARS } from "../../output/digest.ts"
import { viewOf } from "../../output/lines.ts"
import { redactLine } from "../../text/redact/redact.ts"
import { REDACTED } from "../../text/redact/value.ts"
import { cut } from "../../text/sanitize.ts"
import { INSTRUCTION, MAX_SUMMARY_CHARS, REQUEST } from "../prompt.ts"

/** Fewer words are a heading or a name. */
const MIN_WORDS = 6
/**
 * The share of pairs of neighbouring words that must also be neighbours in the source, within `MAX_NEIGHBOUR_CHARS`. A summary
 * that a 135M model makes up ("the tool is designed to allow users to create and manage their own …") has every word somewhere
 * in 64 kB of code, but not the pairs: its share is 0 to 0.7, that of a summary taken from the text 0.8 to 1.
 */
const MIN_PAIR_SHARE = 0.75
const MAX_NEIGHBOUR_CHARS = 60
/** Words before a number that must be near it in the source too. */
const WORDS_BEFORE_NUMBER = 3
/** Occurrences of one word that are considered. */
const MAX_OCCURRENCES = 2000
/** Occurs in lines of code, not in sentences. */
const CODE = /[{};]|=>/
/** An unfinished sentence this close to the length limit was cut off. */
const MAX_LAST_WORD_CHARS = 12
/** A run of so many words that also occurs in the prompt was copied from it. */
const ECHO_WORDS = 5

/** The digest made of a model's summary of an output; undefined if there is none, or if the output does not support it. */
export function ground(written: string | undefined, source: DigestSource, extracted: string): string | undefined {
  const summary = written === undefined ? undefined : groundedSummary(written, source)
  return summary === undefined ? undefined : cleanDigest(withHead(extracted, summary))
}

/** The model's summary after the head of the extract, which says what the output is. */
function withHead(extracted: string, summary: string): string {
  const head = /^(?:"[^"]{3,80}"(?:, [^:;…]{3,30})?|[^:;…]{3,60})(?=[:;] |$)/.exec(extracted)?.[0]
  const digest = head === undefined ? summary : `${head}: ${summary}`
  return digest.length <= MAX_DIGEST_CHARS ? digest : cut(digest, MAX_DIGEST_CHARS).replace(/\s+\S*…$/, "…")
}

/** An argument may be the whole content of a file. */
const MAX_ARGUMENT_CHARS = 10_000

type Evidence = ReturnType<typeof evidenceOf>

/** What a summary is checked against. */
function evidenceOf(source: DigestSource) {
  const args = Object.entries(source.input).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number"
      ? `${name} ${String(value).slice(0, MAX_ARGUMENT_CHARS)}`
      : [],
  )
  const call = [source.tool, ...args].join("\n")
  const text = [call, ...viewOf(source.output).lines].join("\n")
  return {
    /** the arguments and the visible part of the output, without escapes */
    text,
    /** the same in lower case */
    lower: text.toLowerCase(),
    /** only the tool and its arguments, in lower case */
    call: call.toLowerCase(),
  }
}

/** The summary in its final form; undefined where the source does not support it. */
function groundedSummary(written: string, source: DigestSource): string | undefined {
  const summary = finished(redactLine(written))
  const words = summary.split(" ").filter((word) => /\p{L}/u.test(word))
  if (words.length < MIN_WORDS || CODE.test(summary) || summary.length > MAX_DIGEST_CHARS || summary.includes(REDACTED))
    return
  const evidence = evidenceOf(source)
  const isGrounded =
    !isEcho(summary, evidence) &&
    termsIn(summary).every((term) => occursIn(evidence.text, term)) &&
    !inventsOutcome(summary, evidence) &&
    !inventsNegation(summary, evidence) &&
    pairShare(summary, evidence) >= MIN_PAIR_SHARE &&
    numbersBelong(summary, evidence)
  return isGrounded ? summary : undefined
}

/** Removes a phrase that only introduces the summary, and a last sentence that the length limit has cut off. */
function finished(written: string): string {
  const summary = written.replace(INTRODUCTION, "").replace(/\s\d[.)]$|[\s"'`“‘([{,;:]+$/, "")
  if (written.length < MAX_SUMMARY_CHARS - MAX_LAST_WORD_CHARS || /[.!?]$/.test(summary)) return summary
  const end = summary.lastIndexOf(". ")
  return end > MAX_SUMMARY_CHARS / 4
    ? summary.slice(0, end + 1).replace(/\s\d\.$/, "")
    : summary.replace(/[\s,;:]+\S*$/, "…")
}

/** Whether the text occurs in the output, and not only as part of longer words or numbers: `12` in `3.12` is not 12. */
function occursIn(output: string, text: string): boolean {
  const WORD = "[\\p{L}\\p{N}_]"
  const edge = new RegExp(WORD, "u")
  const isDigit = (char = "") => /\d/.test(char)
  const before = (edge.test(text[0] ?? "") ? `(?<!${WORD})` : "") + (isDigit(text[0]) ? "(?<!\\d[.,])" : "")
  const after = (edge.test(text.at(-1) ?? "") ? `(?!${WORD})` : "") + (isDigit(text.at(-1)) ? "(?![.,]\\d)" : "")
  return new RegExp(before + text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") + after, "u").test(output)
}

/** Everything in the summary that is not a plain word. It must occur in the source verbatim. */
function termsIn(summary: string): string[] {
  const quoted = [
    ...summary.matchAll(/"([^"]+)"|`([^`]+)`|“([^”]+)”|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu),
  ].map((found) => (found[1] ?? found[2] ?? found[3] ?? found[4] ?? "").trim())
  const words = summary
    .split(/[\s"`“”‘’]+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}./~@$_-]+|[^\p{L}\p{N}/_)]+$/gu, "").replace(/^'|'s?$/g, ""))
    .map((word) => (/\(\)?$/.test(word) || !word.includes("(") ? word.replace(/\(?\)$/, "") : word))
    .filter(isTerm)
  return [...quoted, ...words].filter((term) => term !== "")
}

/** Whether it is a path, an identifier or a number, rather than a word, hyphenated or capitalized words included. */
function isTerm(word: string): boolean {
  return (
    /\d/.test(word) ||
    /[/\\_$@=#<>{}[\]()|]|::|->|\p{L}\.\p{L}/u.test(word) ||
    /\p{Ll}\p{Lu}|^\p{Lu}{2,}$/u.test(word) ||
    /^[.~-]/.test(word)
  )
}

const OUTCOME =
  /\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash\w*|broke(?:n)?|exception|unsuccessful\w*|not found|denied|pass(?:es|ed|ing)?|succe\w+|complete[sd]?|finished|all good|fixed|works?)\b/gi

/** Whether the summary speaks of an outcome that the source does not mention. */
function inventsOutcome(summary: string, { lower }: Evidence): boolean {
  return [...summary.toLowerCase().matchAll(OUTCOME)].some(([word]) => !lower.includes(stem(word)))
}

const NEGATION = /\b(?:not|no|never|none|nothing|without|cannot|\w+n['’]t)\b/g

/** Whether the summary negates a word that the source has no negation near. */
function inventsNegation(summary: string, { lower }: Evidence): boolean {
  const places = Array.from(lower.matchAll(NEGATION), ({ index }) => index)
  return [...summary.toLowerCase().matchAll(NEGATION)].some(({ 0: found, index }) => {
    const negated = wordsOf(summary.slice(index + found.length)).find(saysSomething)
    return negated !== undefined && !areNear(places, occurrencesOf(stem(negated), lower))
  })
}

const INTRODUCTION =
  /^(?:\d[.)] )?(?:(?:this|the|here is the) (?:(?:tool|command)(?:'s)? )?(?:output|text|summary)(?: above)? (?:shows|says|is about|is|describes|contains|includes|lists|provides|states|indicates|displays)(?: that)?:? )?/i

/** Words that carry no information about an output. */
const STOP_WORDS = new Set(
  "the and for with this that these those from into onto over under about which what when where been being were have has had does did are was will would can could should shall there their them then than its also only each every some any all both other another such more most very just show shows showing shown list lists listing listed contain contains containing contained include includes including included display displays describe describes described provide provides provided give gives given indicate indicates return returns returned say says print prints printed output outputs result results tool tools command commands content contents information details following several various multiple used using file files line lines data text code".split(
    " ",
  ),
)

/** The share of the summary's pairs of neighbouring words that are near each other in the source, by their stems. */
function pairShare(summary: string, { lower }: Evidence): number {
  const words = wordsOf(summary).filter(saysSomething)
  const places = words.map((word) => occurrencesOf(stem(word), lower))
  const near = places.slice(1).filter((after, at) => areNear(places[at] ?? [], after))
  return words.length < 2 ? 0 : near.length / (words.length - 1)
}

/**
 * Whether every number is near the words before it in the source too. Small models mix up facts that are near each other: "a
 * code that does not exist: 404 … too many requests: 429" became "a code that does not exist is answered with status 429".
 */
function numbersBelong(summary: string, { lower }: Evidence): boolean {
  const words = wordsOf(summary).filter((word) => /\d/.test(word) || saysSomething(word))
  return words.every((word, at) => {
    if (!/\d/.test(word)) return true
    const before = words.slice(Math.max(0, at - WORDS_BEFORE_NUMBER), at).map((one) => occurrencesOf(stem(one), lower))
    return occurrencesOf(word, lower).some((place) => before.every((places) => areNear([place], places)))
  })
}

const saysSomething = (word: string) => word.length > 2 && !STOP_WORDS.has(word)

function occurrencesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0 && places.length < MAX_OCCURRENCES; at = text.indexOf(part, at + 1))
    places.push(at)
  return places
}

/** Whether a position in one list is near one in the other. Both are ascending. */
function areNear(ones: readonly number[], others: readonly number[]): boolean {
  let at = 0
  for (const one of ones) {
    while (at < others.length && (others[at] as number) < one - MAX_NEIGHBOUR_CHARS) at++
    if (at < others.length && (others[at] as number) <= one + MAX_NEIGHBOUR_CHARS) return true
  }
  return false
}

/** Enough of a word to recognize its other forms: `failing`, `failed`. */
function stem(word: string): string {
  return word.length <= 4 ? word : word.slice(0, Math.max(4, word.length - 3))
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const PROMPT_WORDS = ` ${wordsOf(`${INSTRUCTION} ${REQUEST}`).join(" ")} `

/** Whether the summary repeats the prompt, the arguments or itself. */
function isEcho(summary: string, { call }: Evidence): boolean {
  if (call.includes(summary.toLowerCase().replace(/[.…]$/, ""))) return true
  const words = wordsOf(summary)
  if (words.some((word, at) => word.length > 5 && words.indexOf(word) !== at && words.lastIndexOf(word) !== at))
    return true
  const pairs = words.slice(1).map((word, at) => `${words[at]} ${word}`)
  if (pairs.length - new Set(pairs).size > pairs.length / 5) return true
  const runs = words.slice(ECHO_WORDS - 1).map((_, at) => words.slice(at, at + ECHO_WORDS).join(" "))
  return runs.some((run) => PROMPT_WORDS.includes(` ${run} `))
}
