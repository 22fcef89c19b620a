// What goes out in a folded output's place: one line, the same wording everywhere, with no tag that a model might copy.

import { groundExtracted } from "../digest/ground/ground.ts"
import { digestLine } from "../digest/ground/line.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import type { ToolEvent } from "../session/event.ts"
import { redactNamed } from "../session/withheld.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line, oneLine } from "../text/sanitize.ts"
import type { Fold } from "./fold.ts"
import type { Standing } from "./need.ts"
import type { Decision } from "./plan.ts"

/** Tokens of the words around a digest. */
const FRAME = 8
/** A digest's share of what it stands for: enough to know what was there, and what it would be asked back for. */
const BASE = 10
const SHARE = 1 / 64
const MOST = 96

/** Of what was searched or listed the places are the use of it: they get more room. */
const PLACES_BASE = 16
const PLACES_SHARE = 1 / 32
const PLACES: ReadonlySet<Standing> = new Set(["matches", "listing", "page"])
const MOST_PLACES = 160

/** The size of what an output of this size is folded to, in tokens, before its digest is known. */
export function foldTokens(tokens: number, standing: Standing): number {
  return FRAME + digestTokens(tokens, standing)
}

function digestTokens(tokens: number, standing: Standing): number {
  const places = PLACES.has(standing)
  return Math.round(
    places ? Math.min(MOST_PLACES, PLACES_BASE + tokens * PLACES_SHARE) : Math.min(MOST, BASE + tokens * SHARE),
  )
}

/** The line in an output's place, as `folded r12 · read · TypeScript, 189 lines: openStore, closeStore`. */
export function outputWords(
  id: string,
  { standing, by, tokens }: Pick<Decision, "standing" | "by" | "tokens">,
  source: DigestSource,
  digest: Digest,
): string {
  const note = noteOf(standing, by)
  const room = digestTokens(tokens, standing)
  const said = note
    ? `${note} · ${digestLine({ ...groundExtracted(digest, source), facts: [] }, BASE)}`
    : digest.kind === "results"
      ? digestLine(addresses(digest, source), room)
      : digestLine(groundExtracted(digest, source), room)
  const tool = cut(line(source.tool), 60).replaceAll("·", ".") || "a tool"
  return `folded ${id} · ${quoted(`${tool} · ${said || "no output"}`)}`
}

/** What a digest says cannot read like a fold: its source may be a text that was folded, or looks so. */
function quoted(said: string): string {
  return oneLine(said).replace(/\b(folded|recalled)(?= r\d)/gi, "$1:")
}

/** What has taken the output's place in the context. */
function noteOf(standing: Standing, by: ToolEvent | undefined): string | undefined {
  if (standing === "superseded") return `superseded by a later ${by?.tool ?? "read"} of the file`
  if (standing === "repeated") return "same output as the later call with these arguments"
  return standing === "again" ? "same output as the earlier call with these arguments" : undefined
}

/** Of search results what cannot be guessed: their addresses. */
function addresses(digest: Digest, source: DigestSource): Digest {
  const facts = digest.facts.filter(
    ({ type, text }) => type === "path" && source.output.includes(text) && redact(text) === text,
  )
  return { ...digest, gist: /^[^:]*/.exec(digest.gist)?.[0] ?? "results", facts }
}

/** Characters kept of each long text among the arguments of a failed call; one of less than twice that stays whole. */
const HEAD = 120
/** Characters of a fold's text; arguments may be many. */
const LONGEST_TEXT = 100_000
/** Arguments nested deeper than this are left as they are. */
const DEEPEST = 50

/**
 * The arguments of a failed call with its long texts cut, and without secrets, since a fold is stored; undefined when
 * there is no long text. Names and short values stay: they say what was tried.
 */
export function inputWords(id: string, input: Readonly<Record<string, unknown>>): string | undefined {
  let isCut = false
  let isTooDeep = false
  const shorten = (value: unknown, name: string, depth = 0): unknown => {
    if (typeof value === "string" && value.length <= 2 * HEAD) return redactNamed(name, value)
    if (typeof value === "string") {
      isCut = true
      // redacted before it is cut: of a secret that lies across the cut no half is left
      return `${cut(redactNamed(name, cut(value, 3 * HEAD)), HEAD)} [folded ${id}: ${value.length - HEAD} more characters of a call that failed]`
    }
    if (typeof value !== "object" || value === null) return value
    if (depth === DEEPEST) isTooDeep = true
    if (isTooDeep) return value
    if (Array.isArray(value)) return value.map((one) => shorten(one, name, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, name, depth + 1)]))
  }
  const short = shorten(input, "")
  return isCut && !isTooDeep ? JSON.stringify(short) : undefined
}

/**
 * Whether a fold's text is one that this file wrote, as far as can be told without the original: a store may have been
 * written by somebody else.
 */
export function isFoldText({ id, side, text }: Pick<Fold, "id" | "side" | "text">): boolean {
  if (!/^r[1-9]\d{0,14}$/.test(id) || text.length > LONGEST_TEXT) return false
  if (side === "output") return text.startsWith(`folded ${id} · `) && oneLine(text) === text
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === "object" && input !== null && !Array.isArray(input)
  } catch {
    return false
  }
}
