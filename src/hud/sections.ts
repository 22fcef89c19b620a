// The HUD's sections: what each says about a session, as short items. `render.ts` decides which of them are sent. Quoted
// text was reduced to one line, neutralised and redacted when the ledger read it. Here the characters that separate items
// are removed from it.

import {
  contextNow,
  type Facts,
  type Failure,
  isCompacted,
  type KnownFile,
  namesDeleted,
  onDisk,
  type Signals,
  stateOf,
} from "../session/facts.ts"
import { groupBy } from "../system/values.ts"
import { amount, stepsAndOutputs } from "../text/format.ts"
import { basename } from "../text/paths.ts"
import { redactLine } from "../text/redact/redact.ts"
import { cut, cutMiddle } from "../text/sanitize.ts"
import { estimateTokens } from "../text/tokens.ts"

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
  contextLimit?: number | undefined
  /** steps and outputs that this request sends folded, and the tokens that saves */
  folded?: { steps: number; outputs: number; savedTokens: number }
  /** estimated tokens of the messages as they are sent; absent: the size of the whole context */
  sentTokens?: number
  /** set when no HUD is to be sent: the reason */
  withheld?: string | undefined
  /**
   * set while nothing is folded and the request is not large, so that the newest messages still show most of the lines. `brief`:
   * these lines are left out. `files first`: they come after the files, since with folding off the HUD is all that the plugin adds
   */
  early?: "files first" | "brief" | undefined
}

// Lengths and ages without a source are guesses: what reads well, within a budget that cuts from the end.

const MAX_REPEAT_AGE = 10
const MAX_REPEATS = 3
/** More would leave no room for the sections after them (decision 036). */
const MAX_FILES = 16
/** Sections of an early HUD: what the newest messages do not show, or what only counting shows. */
const EARLY_SECTIONS: readonly SectionName[] = ["files", "waiting", "repeats"]
/** Calls after which the newest messages no longer show a failure. */
const MIN_FAILURE_AGE = 10
/** Calls after a request during which it is not repeated. */
const MIN_REQUEST_AGE = 6
/** The context's size is shown from this share of the window on. */
const MIN_CONTEXT_PERCENT = 25
/**
 * Calls for which a failure is shown after its last attempt: a check stays relevant longer than a mistyped path. The facts keep
 * one that is no check for some calls more (`DROPPED_AFTER_CALLS`), for a compaction that comes just then.
 */
const SHOWN_FAILURE_CALLS: Readonly<Record<Failure["kind"], number>> = { check: 40, command: 3, tool: 3 }

/** All sections that have content, the most important first. */
export function sectionsOf(facts: Facts, signals: Signals, context: HudContext): Section[] {
  const { early } = context
  const [failure] = openFailures(facts, signals)
  const failing = failingSection(failure)
  const todo = todoSection(facts)
  const files = filesSection(facts, signals, early === "brief")
  const isOld = failure !== undefined && facts.calls - failure.last >= MIN_FAILURE_AGE
  const task = taskSection(facts)
  // a compaction has just removed the request
  let first = isCompacted(facts, facts.calls) ? [failing, todo, task, files] : [failing, todo, files]
  if (early === "files first") first = isOld ? [failing, files, todo] : [files, failing, todo]
  const last = [contextSection(facts, context), repeatsSection(facts), foldedSection(context)]
  return [...new Set([...first, waitingSection(facts, signals), task, ...last])]
    .filter((section): section is Section => section !== undefined && section.items.length > 0)
    .filter(({ name }) => early !== "brief" || EARLY_SECTIONS.includes(name))
}

function contextSection(facts: Facts, { contextLimit, folded }: HudContext): Section | undefined {
  const now = contextNow(facts, folded)
  if (!now) return
  const percent = contextLimit ? Math.round((100 * now.tokens) / contextLimit) : undefined
  if (percent !== undefined && percent < MIN_CONTEXT_PERCENT && !facts.compactions) return
  const of = contextLimit ? ` of ${amount(contextLimit)} (${percent}%)` : ""
  // right after a compaction, system prompt and tools are missing in the estimate
  const isKnown = facts.usage || facts.compactions === 0 || facts.callsSinceCompaction > 0
  const words = isKnown ? [`${now.estimated ? "about " : ""}${amount(now.tokens)}${of}`] : []
  if (facts.compactions) words.push(facts.compactions === 1 ? "compacted once" : `compacted ${facts.compactions} times`)
  // the size changes a little with every call; only a step of a twentieth of the window is a change of state
  const step = percent === undefined ? Math.floor(now.tokens / 10_000) : Math.floor(percent / 5)
  return listed("context", [{ text: words.join(", "), key: "", state: `${step} ${facts.compactions}` }])
}

/** Characters of a quoted text: fewer where each takes a token, as in Chinese, since a line that does not fit is left out. */
const roomFor = (text: string, max: number) =>
  Math.min(max, Math.floor((28 * text.length) / (estimateTokens(text) || 1)))

function taskSection(facts: Facts): Section | undefined {
  const [first, newest = first] = facts.requests
  if (!first || !newest) return
  // a recent request is right above in the context, and without it an older one would read like what is wanted now
  if (facts.calls - newest.call < MIN_REQUEST_AGE && !isCompacted(facts, first.call)) return
  const quoted = facts.requests.map((request, i) => {
    const room = roomFor(request.text, i === 0 ? 80 : 60)
    // what is wanted is more often said first
    return `"${cutMiddle(request.text.replaceAll('"', "'"), room, Math.floor(room / 3))}"`
  })
  const text = quoted.join(", then ")
  return listed("task", [{ text, key: text, state: "" }])
}

function todoSection(facts: Facts): Section | undefined {
  const todos = facts.todos.filter((todo) => todo.status !== "cancelled")
  const done = todos.filter((todo) => todo.status === "completed").length
  // also true of an empty list
  if (done === todos.length) return
  const now = todos.find((todo) => todo.status === "in_progress")
  const shown = now ?? todos.find((todo) => todo.status === "pending")
  const current = shown ? `, ${now ? "now" : "next"}: ${cut(shown.content, roomFor(shown.content, 80))}` : ""
  const text = `${done} of ${todos.length} done${current}`
  return listed("todo", [{ text, key: "", state: text }])
}

/** Failures that are still open and recent, the latest first. */
export function openFailures(facts: Facts, signals: Signals): Failure[] {
  return [...facts.failures.values()]
    .reverse()
    .filter((failure) => facts.calls - failure.last < SHOWN_FAILURE_CALLS[failure.kind])
    .filter((failure) => !namesDeleted(failure, facts, signals))
}

/** The folders of the file that a failure begins with. With them there would be no room for the message. */
const FOLDERS = /(?<=^(?:\d+ failed: )?)[^\s:]*\/(?=[^\s/:]+\.\w+(?::\d+)? )/

/** One is shown, since more leave no room for the rest. */
function failingSection(failure: Failure | undefined): Section | undefined {
  if (!failure) return
  const { key, detail, kind, since, times } = failure
  const when = times > 1 ? `since call ${since}, ${times} times` : `at call ${since}`
  const text = `${asCode(key)} ${when}: ${cut(detail.replace(FOLDERS, ""), 50).replaceAll("`", "'")}`
  return listed("failing", [{ text, key, state: `${kind} ${detail}` }])
}

function asCode(key: string): string {
  return `\`${cutMiddle(key, 45).replaceAll("`", "'")}\``
}

/** The checks that failed by an earlier HUD, and have passed since. Other failures may only have been given up. */
export function settledSection(facts: Facts, reported: ReadonlyMap<string, string>): Section {
  const checks = [...reported].filter(([key, state]) => key.startsWith("failing ") && state.startsWith("check "))
  const settled = checks.map(([key]) => key.slice("failing ".length)).filter((key) => !facts.failures.has(key))
  const items = settled.map((key) => ({ text: asCode(key), key, state: "settled" }))
  return { ...listed("failing", items), label: "no longer failing" }
}

/** The files, those used last first, grouped by what happened to them; early only those that others changed. */
function filesSection(facts: Facts, signals: Signals, isEarly: boolean): Section {
  // the root folder has no name to show
  const known = [...facts.files.values()].filter(({ path }) => path !== "" && !path.endsWith("/")).reverse()
  const named = groupBy(known, ({ path }) => basename(path))
  const items = known
    .filter((file) => !isEarly || onDisk(file, signals) === "changed")
    .slice(0, MAX_FILES)
    .map((file) => {
      const shown = redactLine(file.path)
      const path = shown === file.path ? shortest(file.path, named) : shown
      // in quotes where it contains spaces or characters that separate paths in a list
      const text = /^(?:[A-Z]:)?[^\s"'`,;:{}]+$/.test(path) ? path : `"${path.replaceAll('"', "'")}"`
      return { text, key: file.path, state: stateOf(file, signals) }
    })
  return { ...listed("files", items), join: joinFiles }
}

/** The shortest end of a path that no other known path has too. `named`: the files by name. */
function shortest(path: string, named: ReadonlyMap<string, readonly KnownFile[]>): string {
  const parts = path.split("/")
  const others = (named.get(basename(path)) ?? []).filter((other) => other.path !== path)
  // without its first slash, an absolute path would be another one
  for (let from = parts.length - 1; from > (parts[0] === "" ? 1 : 0); from--) {
    const end = parts.slice(from).join("/")
    if (!others.some((other) => `/${other.path}`.endsWith(`/${end}`))) return end
  }
  return path
}

/** `edited: a.ts, b.ts; read: c.ts` */
function joinFiles(items: readonly Item[]): string {
  const groups = groupBy(items, ({ state }) => state)
  return [...groups].map(([group, files]) => `${group}: ${files.map(({ text }) => text).join(", ")}`).join("; ")
}

function repeatsSection(facts: Facts): Section {
  const items = [...facts.results.values()]
    .filter((repeat) => repeat.times > 1 && facts.calls - repeat.last < MAX_REPEAT_AGE)
    .reverse()
    .slice(0, MAX_REPEATS)
    .map(({ what, times }) => ({ text: `${listItem(cutMiddle(what, 70))} ${times}x`, key: what, state: String(times) }))
  return { ...listed("repeats", items, "; "), label: "same result again" }
}

/** The text as an item of a list that is separated by semicolons. */
const listItem = (text: string) => text.replace(/;(?=\s|$)/g, ",")

/** Only the numbers and the tokens: the ids are in the digest lines, the steps' numbers in the records. */
function foldedSection({ folded }: HudContext): Section | undefined {
  const counts = folded ? stepsAndOutputs(folded) : ""
  if (!folded || counts === "") return
  // after an undo, all that is left may be a step whose record is longer than it was
  const saved = folded.savedTokens > 0 ? `, ${amount(folded.savedTokens)} tokens` : ""
  const text = `${counts}${saved}, see hud_recall`
  return listed("folded", [{ text, key: "", state: "" }])
}

function waitingSection(facts: Facts, signals: Signals): Section | undefined {
  const items = [
    ...facts.running.map((event) => `${listItem(`${event.tool || "a tool"} ${cutMiddle(event.summary, 50)}`)} running`),
    ...[...signals.permissions.values()].map((what) => `permission for ${listItem(cutMiddle(what, 50))}`),
  ]
  const shown = items.slice(0, 3).map((text) => ({ text, key: text, state: "" }))
  return listed("waiting", shown, "; ")
}

function listed(name: SectionName, items: Item[], separator = ", "): Section {
  return { name, label: name, items, join: (items) => items.map(({ text }) => text).join(separator) }
}
