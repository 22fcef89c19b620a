// The HUD's sections: what each says about a session, as short items. `render.ts` decides which of them are sent. Quoted
// text was reduced to one line, neutralised and redacted when the ledger read it. Here the characters that separate items
// are removed from it.

import type { Usage } from "../session/conversation.ts"
import {
  contextNow,
  contextTokens,
  type Facts,
  type Failure,
  type FileRecord,
  heatRank,
  isChangedByOthers,
  isChangedOutside,
  type Signals,
  todosNow,
} from "../session/facts.ts"
import { amount, stepsAndOutputs } from "../text/format.ts"
import { basename, dirname } from "../text/paths.ts"
import { redactLine } from "../text/redact/redact.ts"
import { cut, cutMiddle } from "../text/sanitize.ts"

export const SECTIONS = ["context", "task", "todo", "failing", "files", "repeats", "folded", "waiting"] as const
export type SectionName = (typeof SECTIONS)[number]

export type Section = {
  name: SectionName
  /** start of the line */
  label: string
  /** the most important first; fewer may be sent */
  items: Item[]
  join(items: readonly Item[]): string
}

/** `key` is the item's subject, `state` what it says about it: a sent item is sent again when its state has changed. */
export type Item = { text: string; key: string; state: string }

/** What the HUD shows or depends on beside the facts and signals. */
export type HudContext = {
  /** in tokens; absent when the model is unknown */
  contextLimit?: number
  /** steps and outputs that this request sends folded, and the tokens that saves */
  folded?: { steps: number; outputs: number; savedTokens: number }
  /** estimated tokens of the messages as they are sent; absent: the size of the whole context */
  sentTokens?: number
  /** what the last call would have used, when a session that ran without the plugin is replayed */
  usage?: Usage
  /** set when no HUD is to be sent: the reason */
  held?: string
  /** the request holds every message in full and is not large: only what the newest messages do not show is said */
  early?: boolean
}

/** Calls for which a repeat is mentioned. */
const MAX_REPEAT_AGE = 10
const MAX_REPEATS = 3
const MAX_FAILURES = 1
const MAX_FILES = 16
/** Sections of an early HUD: what the newest messages do not show, or what only counting shows. */
const EARLY_SECTIONS: readonly SectionName[] = ["failing", "files", "waiting", "repeats"]
/** Calls after its last attempt from which an early HUD says that something fails. */
const MIN_EARLY_FAILURE_AGE = 10
/** Edits of a file from which their number is shown. */
const MIN_EDITS_SHOWN = 3
/** Calls after a request during which it is not repeated. */
const MIN_REQUEST_AGE = 6
/** The context's size is shown from this share of the window on. */
const MIN_CONTEXT_PERCENT = 25
/** Calls for which a failure is shown after its last attempt: a check stays relevant longer than a mistyped path. */
const MAX_FAILURE_AGE: Readonly<Record<Failure["kind"], number>> = { check: 40, command: 3, tool: 3 }

/** All sections that have content, the most important first. */
export function sectionsOf(facts: Facts, signals: Signals, around: HudContext): Section[] {
  return [
    failingSection(facts, around.early ? MIN_EARLY_FAILURE_AGE : 0),
    filesSection(facts, signals, around.early === true),
    todoSection(facts, signals),
    waitingSection(facts, signals),
    taskSection(facts),
    contextSection(facts, around),
    repeatsSection(facts),
    foldedSection(around),
  ]
    .filter((section): section is Section => section !== undefined && section.items.length > 0)
    .filter(({ name }) => !around.early || EARLY_SECTIONS.includes(name))
}

function contextSection(recorded: Facts, { contextLimit, usage: replayed }: HudContext): Section | undefined {
  const facts = replayed ? { ...recorded, usage: replayed } : recorded
  const now = contextNow(facts)
  if (!now) return
  const percent = contextLimit ? Math.round((100 * now.tokens) / contextLimit) : undefined
  if (percent !== undefined && percent < MIN_CONTEXT_PERCENT && !facts.compactions) return
  const of = percent === undefined ? "" : ` of ${amount(contextLimit as number)} (${percent}%)`
  const words = [`${now.estimated ? "about " : ""}${amount(now.tokens)}${of}`]
  const { usage } = facts
  if (usage?.cacheRead) words.push(`${Math.floor((100 * usage.cacheRead) / contextTokens(usage))}% cached`)
  if (facts.compactions) words.push(facts.compactions === 1 ? "compacted once" : `compacted ${facts.compactions} times`)
  // the size changes a little with every call; only a step of a twentieth of the window is a change of state
  const step = percent === undefined ? Math.floor(now.tokens / 10_000) : Math.floor(percent / 5)
  return section("context", "context", [{ text: words.join(", "), key: "", state: `${step} ${facts.compactions}` }])
}

function taskSection(facts: Facts): Section | undefined {
  const quoted = facts.requests.flatMap((request, i) => {
    const compacted = facts.compactions > 0 && request.call <= facts.calls - facts.callsSinceCompaction
    // a recent request is right above in the context
    if (facts.calls - request.call < MIN_REQUEST_AGE && i === facts.requests.length - 1 && !compacted) return []
    const text = `"${cutMiddle(request.text.replaceAll('"', "'"), i === 0 ? 80 : 60)}"`
    return [{ text: i === 0 ? text : `then ${text}`, key: request.text, state: "" }]
  })
  return section("task", "task", quoted, ", ")
}

function todoSection(facts: Facts, signals: Signals): Section | undefined {
  const todos = todosNow(facts, signals).filter((todo) => todo.status !== "cancelled")
  const done = todos.filter((todo) => todo.status === "completed").length
  // also true of an empty list
  if (done === todos.length) return
  const now = todos.find((todo) => todo.status === "in_progress")
  const next = todos.find((todo) => todo.status === "pending")
  const current = now ? `, now: ${cut(now.content, 80)}` : next ? `, next: ${cut(next.content, 80)}` : ""
  const text = `${done} of ${todos.length} done${current}`
  return section("todo", "todo", [{ text, key: "", state: text }])
}

/** Failures that are still open and recent, the latest first. */
export function openFailures(facts: Facts): Failure[] {
  return [...facts.failures.values()]
    .reverse()
    .filter((failure) => facts.calls - failure.last < MAX_FAILURE_AGE[failure.kind])
}

/** `minAge`: calls since the last attempt. */
function failingSection(facts: Facts, minAge: number): Section | undefined {
  const items = openFailures(facts)
    .filter(({ last }) => facts.calls - last >= minAge)
    .slice(0, MAX_FAILURES)
    .map((failure) => {
      const since =
        failure.times > 1 ? ` since call ${failure.since}, ${failure.times} times` : ` at call ${failure.since}`
      return {
        text: `${command(failure.key)}${since}: ${cut(failure.detail, 50).replaceAll("`", "'")}`,
        key: failure.key,
        state: failure.detail,
      }
    })
  return section("failing", "failing", items, "; ")
}

function command(key: string): string {
  return `\`${cutMiddle(key, 45).replaceAll("`", "'")}\``
}

/** Failures that an earlier HUD reported and that are no longer open. */
export function settledSection(facts: Facts, reported: ReadonlyMap<string, string>): Section {
  const failures = [...reported.keys()].flatMap((key) =>
    key.startsWith("failing ") ? key.slice("failing ".length) : [],
  )
  const settled = failures.filter((key) => !facts.failures.has(key))
  const items = settled.map((key) => ({ text: command(key), key, state: "settled" }))
  return section("failing", "no longer failing", items)
}

/** The files the agent is most likely to use next, grouped by what happened to them; early only those that others changed. */
function filesSection(facts: Facts, signals: Signals, isEarly: boolean): Section {
  const known = [...facts.files.values()]
  // of equals the one used last comes first
  const likely = known
    .map((file) => ({ file, rank: heatRank(file) }))
    .reverse()
    .sort((a, b) => b.rank - a.rank)
  const named = likely.filter(
    // the root folder has no name to show
    ({ file }) => basename(file.path) !== "" && (!isEarly || (!file.deleted && isChangedByOthers(file, signals))),
  )
  const items = named.slice(0, MAX_FILES).map(({ file }) => {
    const group = groupOf(file, signals)
    const times = file.edits >= MIN_EDITS_SHOWN ? ` ${file.edits}x` : ""
    return { text: `${quotedPath(file.path)}${times}`, key: file.path, state: group }
  })
  /** The shortest end of a path that no other known file has too. */
  const shown = new Map(items.map(({ key }) => [key, SHOWN_PARTS.find((parts) => isOnlyOne(endOf(key, parts), known))]))
  return { name: "files", label: "files", items, join: (items) => joinFiles(items, (path) => shown.get(path)) }
}

/** Whether only one of the files has a path with this end. */
function isOnlyOne(end: string, files: readonly FileRecord[]): boolean {
  let found = 0
  for (const { path } of files)
    if (path.endsWith(end) && (path.length === end.length || path[path.length - end.length - 1] === "/") && ++found > 1)
      return false
  return true
}

/** Parts of a path that are shown: the name, or the name and its folder. If another file ends so too, the whole path is. */
const SHOWN_PARTS = [1, 2]

function endOf(path: string, parts = Number.POSITIVE_INFINITY): string {
  let at = path.length
  for (let left = parts; left > 0; left--) {
    at = at > 0 ? path.lastIndexOf("/", at - 1) : -1
    if (at < 0) return path
  }
  return path.slice(at + 1)
}

/** A path, in quotes if it contains spaces or characters that separate paths in a list. */
function quotedPath(path: string): string {
  const text = redactLine(path)
  return /^(?:[A-Z]:)?[^\s"'`,;:{}]+$/.test(text) ? text : `"${text.replaceAll('"', "'")}"`
}

const isQuoted = (text: string) => text.startsWith('"')

function groupOf(file: FileRecord, signals: Signals): string {
  if (file.deleted) return "deleted"
  if (isChangedOutside(file, signals)) return "changed on disk since read"
  return file.edits ? "edited" : "read"
}

/** `edited: a.ts 3x, src/{b.ts, c.ts}` */
function joinFiles(items: readonly Item[], shownParts: (path: string) => number | undefined): string {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const text = isQuoted(item.text) ? item.text : endOf(item.text, shownParts(item.key))
    groups.set(item.state, [...(groups.get(item.state) ?? []), { ...item, text }])
  }
  return [...groups].map(([group, members]) => `${group}: ${joinPaths(members)}`).join("; ")
}

function repeatsSection(facts: Facts): Section {
  const items = [...facts.repeats.values()]
    .filter((repeat) => repeat.times > 1 && facts.calls - repeat.last < MAX_REPEAT_AGE)
    .reverse()
    .slice(0, MAX_REPEATS)
    .map((repeat) => {
      const text = `${item(cutMiddle(repeat.what, 70))} ${repeat.times}x`
      return {
        text: repeat.gist ? `${text} (${item(cut(repeat.gist, 80))})` : text,
        key: repeat.what,
        state: String(repeat.times),
      }
    })
  return section("repeats", "same result again", items, "; ")
}

/** Text without the separator of items. */
const item = (text: string) => text.replace(/;(?=\s|$)/g, ",")

/** Only the numbers and the tokens: the ids are in the digest lines, the steps' numbers in the records. */
function foldedSection({ folded }: HudContext): Section | undefined {
  const counts = folded ? stepsAndOutputs(folded) : ""
  if (!folded || counts === "") return
  const text = `${counts}, ${amount(folded.savedTokens)} tokens, see hud_recall`
  return section("folded", "folded", [{ text, key: "", state: "" }])
}

function waitingSection(facts: Facts, signals: Signals): Section | undefined {
  const items = [
    ...facts.running.map((event) => `${item(`${event.tool || "a tool"} ${cutMiddle(event.input, 50)}`)} running`),
    ...[...signals.permissions.values()].map((what) => `permission for ${item(cutMiddle(what, 50))}`),
  ]
  return section(
    "waiting",
    "waiting",
    items.slice(0, 3).map((text) => ({ text, key: text, state: "" })),
    "; ",
  )
}

function section(name: SectionName, label: string, items: Item[], separator = ", "): Section {
  return { name, label, items, join: (items) => items.map(({ text }) => text).join(separator) }
}

/** Groups paths by folder, `src/{a.ts 3x, b.ts}`, in the order of first appearance. */
function joinPaths(items: readonly Item[]): string {
  const folders = new Map<string, string[]>()
  for (const { text } of items) {
    const folder = isQuoted(text) ? "" : dirname(text)
    folders.set(folder, [...(folders.get(folder) ?? []), folder ? text.slice(folder.length + 1) : text])
  }
  return [...folders]
    .flatMap(([folder, names]) => {
      if (!folder) return names
      return names.length === 1 ? `${folder}/${names[0]}` : `${folder}/{${names.join(", ")}}`
    })
    .join(", ")
}
