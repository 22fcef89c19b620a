// The text sent instead of a folded output: one line, worded the same everywhere, without a tag that a model might
// copy.

import { groundExtracted } from "../digest/ground/ground.ts"
import { digestLine } from "../digest/ground/line.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import type { ToolEvent } from "../session/event.ts"
import { redactNamed } from "../session/normalize.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line, oneLine } from "../text/sanitize.ts"
import type { Fold } from "./fold.ts"
import type { NeedKind } from "./need.ts"

/** Tokens of the words around a digest. */
const FRAME_TOKENS = 8
/** A digest's size in tokens: a base plus a share of the output, enough to show what a recall would return. */
const BASE_TOKENS = 10
const SHARE = 1 / 64
const MAX_TOKENS = 96

/** The value of a search or a listing is the places it names, so their digests get more room. */
const PLACES_BASE_TOKENS = 16
const PLACES_SHARE = 1 / 32
const PLACES: ReadonlySet<NeedKind> = new Set(["matches", "listing", "page"])
const MAX_PLACES_TOKENS = 160

/** The expected tokens of a fold of an output of this size, before its digest is known. */
export function foldTokens(tokens: number, needKind: NeedKind): number {
  return FRAME_TOKENS + digestTokens(tokens, needKind)
}

function digestTokens(tokens: number, needKind: NeedKind): number {
  const places = PLACES.has(needKind)
  return Math.round(
    places
      ? Math.min(MAX_PLACES_TOKENS, PLACES_BASE_TOKENS + tokens * PLACES_SHARE)
      : Math.min(MAX_TOKENS, BASE_TOKENS + tokens * SHARE),
  )
}

/** What a fold's line says of the output beside its digest. */
export type FoldedOutput = { needKind: NeedKind; by?: ToolEvent; tokens: number }

/** The line sent instead of an output, such as `folded r12 · read · TypeScript, 189 lines: openStore, closeStore`. */
export function outputWords(
  id: string,
  { needKind, by, tokens }: FoldedOutput,
  source: DigestSource,
  digest: Digest,
): string {
  const note = noteOf(needKind, by)
  const room = digestTokens(tokens, needKind)
  const said = note
    ? `${note} · ${digestLine({ ...groundExtracted(digest, source), facts: [] }, BASE_TOKENS)}`
    : digest.kind === "results"
      ? digestLine(addresses(digest, source), room)
      : digestLine(groundExtracted(digest, source), room)
  const tool = cut(line(source.tool), 60).replaceAll("·", ".") || "a tool"
  return `folded ${id} · ${escapeFolds(`${tool} · ${said || "no output"}`)}`
}

/** Keeps a digest from reading like a fold: its source may contain folds, or text that looks like one. */
function escapeFolds(said: string): string {
  return oneLine(said).replace(/\b(folded|recalled)(?= r\d)/gi, "$1:")
}

/** Which other output in the context replaces this one. */
function noteOf(needKind: NeedKind, by: ToolEvent | undefined): string | undefined {
  if (needKind === "superseded") return `superseded by a later ${by?.tool ?? "read"} of the file`
  if (needKind === "repeated") return "same output as the later call with these arguments"
  return needKind === "duplicate" ? "same output as the earlier call with these arguments" : undefined
}

/** Reduces a digest of search results to what cannot be guessed: their addresses. */
function addresses(digest: Digest, source: DigestSource): Digest {
  const facts = digest.facts.filter(
    ({ type, text }) => type === "path" && source.output.includes(text) && redact(text) === text,
  )
  return { ...digest, gist: /^[^:]*/.exec(digest.gist)?.[0] ?? "results", facts }
}

/** Characters kept of each long text in a failed call's arguments; texts up to twice that length stay whole. */
const HEAD_CHARS = 120
/** Longest fold text accepted from a store; a call may have many arguments. */
const MAX_TEXT_CHARS = 100_000
/** Arguments nested deeper than this are not folded. */
const MAX_DEPTH = 50

/**
 * The arguments of a failed call with long texts cut, as JSON; undefined when there is no long text. Names and short
 * values stay, because they say what was tried. Secrets are redacted, because a fold is stored.
 */
export function inputWords(id: string, input: Readonly<Record<string, unknown>>): string | undefined {
  let isCut = false
  let isTooDeep = false
  const shorten = (value: unknown, name: string, depth = 0): unknown => {
    if (typeof value === "string" && value.length <= 2 * HEAD_CHARS) return redactNamed(name, value)
    if (typeof value === "string") {
      isCut = true
      // redacted before it is cut, so that no half of a secret remains at the cut
      return `${cut(redactNamed(name, cut(value, 3 * HEAD_CHARS)), HEAD_CHARS)} [folded ${id}: ${value.length - HEAD_CHARS} more characters of a call that failed]`
    }
    if (typeof value !== "object" || value === null) return value
    if (depth === MAX_DEPTH) isTooDeep = true
    if (isTooDeep) return value
    if (Array.isArray(value)) return value.map((one) => shorten(one, name, depth + 1))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, name, depth + 1)]))
  }
  const short = shorten(input, "")
  return isCut && !isTooDeep ? JSON.stringify(short) : undefined
}

/**
 * Whether a fold's text can have been written by this file. The original is not at hand to compare with, and the store
 * may have been written by other software.
 */
export function isFoldText({ id, side, text }: Pick<Fold, "id" | "side" | "text">): boolean {
  if (!/^r[1-9]\d{0,14}$/.test(id) || text.length > MAX_TEXT_CHARS) return false
  if (side === "output") return text.startsWith(`folded ${id} · `) && oneLine(text) === text
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === "object" && input !== null && !Array.isArray(input)
  } catch {
    return false
  }
}
