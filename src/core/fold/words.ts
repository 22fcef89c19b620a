// What goes out in a folded output's place: one line, the same wording everywhere, with no tag that a model might copy.

import type { Digest, DigestSource } from "../digest.ts"
import type { ToolEvent } from "../event.ts"
import { digestLine } from "../ground/line.ts"
import { seal } from "../ground.ts"
import { redact } from "../redact.ts"
import { cut, line } from "../text.ts"
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
    ? `${note} · ${digestLine({ ...seal(digest, source), facts: [] }, BASE)}`
    : digest.kind === "results"
      ? digestLine(addresses(digest), room)
      : digestLine(seal(digest, source), room)
  return `folded ${id} · ${cut(line(source.tool), 60)} · ${said}`
}

/** What has taken the output's place in the context. */
function noteOf(standing: Standing, by: ToolEvent | undefined): string | undefined {
  if (standing === "superseded") return `superseded by a later ${by?.tool ?? "read"} of the file`
  if (standing === "repeated") return "same output as the later call with these arguments"
  return standing === "again" ? "same output as the earlier call with these arguments" : undefined
}

/** Of search results what cannot be guessed: their addresses. */
function addresses(digest: Digest): Digest {
  const facts = digest.facts.filter(({ type, text }) => type === "path" && redact(text) === text)
  return { ...digest, gist: /^[^:]*/.exec(digest.gist)?.[0] ?? "results", facts }
}

/** Characters kept of each long text among the arguments of a failed call; one of less than twice that stays whole. */
const HEAD = 120

/**
 * The arguments of a failed call with its long texts cut, and without secrets, since a fold is stored; undefined when
 * there is no long text. Names and short values stay: they say what was tried.
 */
export function inputWords(id: string, input: Readonly<Record<string, unknown>>): string | undefined {
  let isCut = false
  const shorten = (value: unknown, name: string): unknown => {
    if (typeof value === "string" && value.length <= 2 * HEAD) return redactNamed(name, value)
    if (typeof value === "string") {
      isCut = true
      // redacted before it is cut: of a secret that lies across the cut no half is left
      return `${cut(redactNamed(name, cut(value, 3 * HEAD)), HEAD)} [folded ${id}: ${value.length - HEAD} more characters of a call that failed]`
    }
    if (Array.isArray(value)) return value.map((one) => shorten(one, name))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one, name)]))
  }
  const short = shorten(input, "")
  return isCut ? JSON.stringify(short) : undefined
}

/** The value of an argument without secrets; the name may be what says that it is one. */
function redactNamed(name: string, value: string): string {
  const named = redact(`${name}=${value}`)
  return named.startsWith(`${name}=`) ? named.slice(name.length + 1) : redact(value)
}
