// What goes out in a folded output's place: one line, the same wording everywhere, with no tag that a model might copy.

import type { Digest, DigestSource } from "../digest.ts"
import { digestLine } from "../ground/line.ts"
import { seal } from "../ground.ts"
import { cut } from "../text.ts"
import type { Account } from "./need.ts"

/** Tokens of the words around a digest. */
const FRAME = 8
/** A digest's share of what it stands for: enough to know what was there, and what it would be asked back for. */
const BASE = 12
const SHARE = 1 / 48
const MOST = 96

/** The size of what an output of this size is folded to, in tokens, before its digest is known. */
export function foldTokens(tokens: number, account: Account): number {
  return FRAME + digestTokens(tokens, account)
}

function digestTokens(tokens: number, account: Account): number {
  const places = PLACES.has(account)
  return Math.round(
    places ? Math.min(MOST_PLACES, PLACES_BASE + tokens * PLACES_SHARE) : Math.min(MOST, BASE + tokens * SHARE),
  )
}

/** Of what was searched or listed the places are the use of it: they get more room, and stand in full. */
const PLACES_BASE = 30
const PLACES_SHARE = 1 / 16
const PLACES: ReadonlySet<Account> = new Set(["matches", "listing", "page"])
const MOST_PLACES = 160

const NOTES: Partial<Readonly<Record<Account, string>>> = {
  superseded: "superseded, the file was seen again later",
  repeated: "same output as the later call with these arguments",
  again: "same output as the earlier call with these arguments",
}

/** The line in an output's place, as `folded r12 · read · TypeScript, 189 lines: openStore, closeStore`. */
export function outputWords(
  id: string,
  account: Account,
  tokens: number,
  source: DigestSource,
  digest: Digest,
): string {
  return `folded ${id} · ${source.tool} · ${said(account, digestTokens(tokens, account), source, digest)}`
}

function said(account: Account, room: number, source: DigestSource, digest: Digest): string {
  const note = NOTES[account]
  if (note !== undefined) return `${note} · ${digestLine(digest, BASE)}`
  if (digest.kind === "results") return addresses(digest, room)
  return digestLine(seal(digest, source), room)
}

/** Of search results what cannot be guessed: their addresses. */
function addresses(digest: Digest, room: number): string {
  const found = digest.facts.filter(({ type }) => type === "path")
  const head = /^[^:]*/.exec(digest.gist)?.[0] ?? "results"
  return digestLine({ ...digest, gist: head, facts: found }, room)
}

/** Characters kept of each long text among the arguments of a failed call; one of less than twice that stays whole. */
const HEAD = 120

/**
 * The arguments of a failed call with its long texts cut; undefined when there is none. Names and short values stay: they
 * say what was tried.
 */
export function inputWords(id: string, input: Readonly<Record<string, unknown>>): string | undefined {
  let isCut = false
  const shorten = (value: unknown): unknown => {
    if (typeof value === "string" && value.length > 2 * HEAD) {
      isCut = true
      return `${cut(value, HEAD)} [folded ${id}: ${value.length - HEAD} more characters of a call that failed]`
    }
    if (Array.isArray(value)) return value.map(shorten)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one)]))
  }
  const short = shorten(input)
  return isCut ? JSON.stringify(short) : undefined
}
