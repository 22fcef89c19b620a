// Making foreign text safe to quote on one line: tool outputs, file names, todo items and user text are data, and
// nothing in them may close the HUD, open a tag, break the line or hide behind invisible characters.

import { withoutTags } from "./markers.ts"

/** All that Unicode says to show as nothing: zero-width signs, marks of direction, variation selectors, tag characters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu
/** Control characters and line separators; what shows as nothing all the same; what is no character. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u2800\ufff0-\uffff]/gu
/** Marks upon marks: no writing has more on one letter, and a terminal draws them over its neighbours. */
const PILED = /(\p{M}{4})\p{M}+/gu
/**
 * What a terminal would act on: control characters but the line feed, the marks that turn the direction of writing, and
 * line separators that are no line feed. For texts that are shown as they are, and not made one line.
 */
export const ACTIVE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const ANSI = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b(?:\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** Characters beyond this are never looked at when a single line is made, whatever is asked for. */
const SCAN = 1000

/** NUL and lone surrogates replaced by U+FFFD, so that the text survives SQLite, JSON and every provider. */
export function wellFormed(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\u0000") ? whole.replaceAll("\u0000", "\ufffd") : whole
}

/**
 * One printable line: escapes and invisible characters gone, white space folded, tags and chat-template tokens
 * neutralised, see `withoutTags`. Reads at most the first 1,000 characters.
 */
export function line(text: string): string {
  return oneLine(text.slice(0, SCAN))
}

/** As `line`, of all of it. A line made so stays as it is. */
export function oneLine(text: string): string {
  const seen = text
    .toWellFormed()
    .replace(ANSI, "")
    // not a space: a word in two halves is not known for what it is, a secret least of all
    .replace(INVISIBLE, "")
    .replace(UNSEEN, " ")
    .replace(PILED, "$1")
    .replace(/\s+/g, " ")
    .trim()
  return withoutTags(seen)
}

/** Cuts to at most `max` characters, the last being `…` when something was cut; never splits a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`.replace(/\s+…$/, "…")
}

/** Like `cut`, but keeps both ends: what names a file or a command is often at its end. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const tail = Math.floor((max - 1) / 2)
  return `${text.slice(0, max - 1 - tail)}…${text.slice(text.length - tail)}`.toWellFormed()
}

/**
 * The same text in memory of its own. What is cut out of a text refers to it, however short: kept as it is, a line of an
 * output of 10 MB keeps the 10 MB. By way of JSON, since engines see through every cheaper way of copying a string.
 */
export function own(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}

/** 950, 8.7k, 87k, 1.2M */
export function amount(tokens: number): string {
  if (tokens < 1000) return `${Math.round(tokens)}`
  if (tokens < 9_950) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1e6).toFixed(1)}M`
}

/** How long ago, in the largest unit that is not zero. */
export function ago(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ]
  const [size, name] = units.find(([size]) => ms >= size) ?? [1000, "second"]
  const count = Math.max(0, Math.floor(ms / size))
  return `${count} ${name}${count === 1 ? "" : "s"} ago`
}
