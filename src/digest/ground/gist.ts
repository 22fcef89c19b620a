// A gist as a model wrote it, held against the output and the arguments. It may say things in words of its own, so
// what is checked is everything in it that could be false: names, paths, numbers, quotes, outcomes, and whether it
// speaks of this output at all.

import type { DigestSource } from "../../output/digest.ts"
import { look } from "../../output/lines.ts"
import { redact } from "../../text/redact/redact.ts"
import { line } from "../../text/text.ts"
import { INSTRUCTION, REQUEST, SUMMARY_CHARS } from "../prompt.ts"
import { standsIn } from "./facts.ts"

/** Longest gist a digest may have, in characters. */
export const LONGEST_GIST = 160
/** Fewest words of a gist: fewer are a heading or a name. */
const FEWEST_WORDS = 6
/**
 * Part of the pairs of neighbouring words that must stand close to each other in the source, and how close, in
 * characters. What a 135M model says of an output without reading it ("the tool is designed to allow users to create
 * and manage their own …") has every word somewhere in 64 kB of code, but not the pairs: 0 to 0.7 against 0.8 to 1 for
 * what it took from the text.
 */
const OWN_PAIRS = 0.75
const NEAR_CHARS = 60
/** Words before a number that must be near it. */
const WORDS_BEFORE = 3
/** Places of one word that are looked at. */
const MOST_PLACES = 2000
/** What a line of code has and a sentence has not. */
const CODE = /[{};]|=>/
/** Part of a gist's words that may be said already. */
const KNOWN_WORDS = 0.75
/** A sentence this near to the longest that may be written, and without an end, was cut off. In characters. */
const LAST_WORD = 12
/** Words in a row that a gist may share with what the model was told. */
const ECHO_WORDS = 5

/**
 * Why a gist was refused: there is none, or too little of one; it repeats itself, what the model was told, what the tool
 * was asked or what code says already; it names what the source does not; it claims another outcome; it puts words
 * together that the source does not; code knows better.
 */
export type Refusal = "missing" | "echo" | "invented" | "outcome" | "foreign" | "known"

/** Of an argument, in characters: a file's whole content may be one. */
const LONGEST_ARGUMENT = 10_000

/** What a gist is checked against. */
export type Ground = {
  /** what is looked at of the output, without escapes, and the arguments */
  text: string
  lower: string
  /** the arguments alone, in lower case */
  asked: string
  failed: boolean
}

export function groundOf(source: DigestSource): Ground {
  const said = Object.entries(source.input).flatMap(([name, value]) =>
    typeof value === "string" || typeof value === "number" ? `${name} ${String(value).slice(0, LONGEST_ARGUMENT)}` : [],
  )
  const asked = [source.tool, ...said].join("\n")
  const seen = look(source.output).lines.map((line) => line.text)
  const text = [asked, ...seen].join("\n")
  const failed = source.failed || (source.exit !== undefined && source.exit !== 0)
  return { text, lower: text.toLowerCase(), asked: asked.toLowerCase(), failed }
}

/** The gist in its final form, or why it is none. `known` is what is said already: a gist has to add to it. */
export function groundGist(written: unknown, known: string, ground: Ground): { gist: string } | { refused: Refusal } {
  if (typeof written !== "string") return { refused: "missing" }
  if (/<\/?hud/i.test(written)) return { refused: "echo" }
  const gist = finished(redact(line(written)))
  const words = gist.split(" ").filter((word) => /\p{L}/u.test(word))
  if (words.length < FEWEST_WORDS || CODE.test(gist) || gist.length > LONGEST_GIST || gist.includes("[redacted]"))
    return { refused: "missing" }
  if (isEcho(gist, ground) || !addsTo(gist, known)) return { refused: "echo" }
  if (!namesIn(gist).every((name) => standsIn(ground.text, name))) return { refused: "invented" }
  if (belies(gist, ground)) return { refused: "outcome" }
  if (ownPairs(gist, ground) < OWN_PAIRS || !numbersBelong(gist, ground)) return { refused: "foreign" }
  return { gist }
}

/** Without what only introduces it, and without a last sentence that the answer's length has cut. */
function finished(written: string): string {
  const gist = written.replace(INTRODUCTION, "").replace(/\s\d[.)]$|[\s"'`“‘([{,;:]+$/, "")
  if (written.length < SUMMARY_CHARS - LAST_WORD || /[.!?]$/.test(gist)) return gist
  const end = gist.lastIndexOf(". ")
  return end > SUMMARY_CHARS / 4 ? gist.slice(0, end + 1).replace(/\s\d\.$/, "") : gist.replace(/[\s,;:]+\S*$/, "…")
}

/** Everything in the gist that is no plain word: it must stand in the source as it is. */
function namesIn(gist: string): string[] {
  const quoted = [...gist.matchAll(/"([^"]+)"|`([^`]+)`|“([^”]+)”|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu)].map(
    (found) => (found[1] ?? found[2] ?? found[3] ?? found[4] ?? "").trim(),
  )
  const words = gist
    .split(/[\s"`“”‘’]+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}./~@$_-]+|[^\p{L}\p{N}/_)]+$/gu, "").replace(/^'|'s?$/g, ""))
    .map((word) => (/\(\)?$/.test(word) || !word.includes("(") ? word.replace(/\(?\)$/, "") : word))
    .filter(isName)
  return [...quoted, ...words].filter((name) => name !== "")
}

/** A path, an identifier or a number; not a word, a word with a hyphen, or one at the start of a sentence. */
function isName(word: string): boolean {
  return (
    /\d/.test(word) ||
    /[/\\_$@=#<>{}[\]()|]|::|->|\p{L}\.\p{L}/u.test(word) ||
    /\p{Ll}\p{Lu}|^\p{Lu}{2,}$/u.test(word) ||
    /^[.~-]/.test(word)
  )
}

const NEGATED =
  /\b(?:no|zero|without(?: any)?|0|not?|never)\s+(?:\p{L}+\s+)?(?:errors?|failures?|failed|fail|issues?|problems?|warnings?)\b/giu
const FAILURE =
  /\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash\w*|broke(?:n)?|exception|unsuccessful\w*|not found|denied)\b/i
const SUCCESS = /\b(?:pass(?:es|ed|ing)?|succe\w+|complete[sd]?|finished|all good|fixed|works?)\b/i

/** Whether the gist claims a success where there was none, or an outcome that nothing in the source speaks of. */
function belies(gist: string, { failed, lower }: Ground): boolean {
  const rest = gist.replace(NEGATED, " ")
  const failure = FAILURE.exec(rest)
  const success = SUCCESS.exec(rest)
  if (failed) return !failure && (success !== null || rest !== gist)
  return [success, failure].some((claim) => claim && !lower.includes(stem(claim[0].toLowerCase())))
}

const INTRODUCTION =
  /^(?:\d[.)] )?(?:(?:this|the|here is the) (?:(?:tool|command)(?:'s)? )?(?:output|text|summary)(?: above)? (?:shows|says|is about|describes|contains|includes|lists|provides|states|indicates|displays)(?: that)?:? )?/i

/** Words that say nothing of what was seen. */
const EMPTY = new Set(
  "the and for with this that these those from into onto over under about which what when where been being were have has had does did are was will would can could should shall there their them then than its also only each every some any all both other another such more most very just show shows showing shown list lists listing listed contain contains containing contained include includes including included display displays describe describes described provide provides provided give gives given indicate indicates return returns returned say says print prints printed output outputs result results tool tools command commands content contents information details following several various multiple used using file files line lines data text code".split(
    " ",
  ),
)

/** The part of the gist's pairs of words that the source has near each other, by their stems; 0 when it has none. */
function ownPairs(gist: string, { lower }: Ground): number {
  const words = contentOf(gist)
  const places = words.map((word) => placesOf(stem(word), lower))
  const near = places.slice(1).filter((after, at) => areNear(places[at] ?? [], after))
  return words.length < 2 ? 0 : near.length / (words.length - 1)
}

/**
 * Whether every number stands where the words before it stand. Small models join what is near in twos: of "a code that
 * does not exist: 404 … too many requests: 429" one made "a code that does not exist is answered with status 429".
 */
function numbersBelong(gist: string, { lower }: Ground): boolean {
  const words = wordsOf(gist).filter((word) => /\d/.test(word) || (word.length > 2 && !EMPTY.has(word)))
  return words.every((word, at) => {
    if (!/\d/.test(word)) return true
    const before = words.slice(Math.max(0, at - WORDS_BEFORE), at).map((one) => placesOf(stem(one), lower))
    return placesOf(word, lower).some((place) => before.every((places) => areNear([place], places)))
  })
}

function addsTo(gist: string, known: string): boolean {
  const words = contentOf(gist)
  const said = known.toLowerCase()
  return words.filter((word) => said.includes(stem(word))).length <= words.length * KNOWN_WORDS
}

function contentOf(gist: string): string[] {
  return wordsOf(gist).filter((word) => word.length > 2 && !EMPTY.has(word))
}

function placesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(part, at + 1))
    places.push(at)
  return places
}

/** Both ascending. */
function areNear(ones: readonly number[], others: readonly number[]): boolean {
  let at = 0
  for (const one of ones) {
    while (at < others.length && (others[at] as number) < one - NEAR_CHARS) at++
    if (at < others.length && (others[at] as number) <= one + NEAR_CHARS) return true
  }
  return false
}

/** Enough of a word to know it in another form: `failing`, `failed`. */
function stem(word: string): string {
  return word.length <= 4 ? word : word.slice(0, Math.max(4, word.length - 3))
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const TOLD = ` ${wordsOf(`${INSTRUCTION} ${REQUEST}`).join(" ")} `

/** Whether the gist is what the model was told or the tool was asked over again, or the same words again and again. */
function isEcho(gist: string, { asked }: Ground): boolean {
  if (asked.includes(gist.toLowerCase().replace(/[.…]$/, ""))) return true
  const words = wordsOf(gist)
  if (words.some((word, at) => word.length > 5 && words.indexOf(word) !== at && words.lastIndexOf(word) !== at))
    return true
  const pairs = words.slice(1).map((word, at) => `${words[at]} ${word}`)
  if (pairs.length - new Set(pairs).size > pairs.length / 5) return true
  for (let at = 0; at + ECHO_WORDS <= words.length; at++)
    if (TOLD.includes(` ${words.slice(at, at + ECHO_WORDS).join(" ")} `)) return true
  return false
}
