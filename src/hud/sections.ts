// The HUD's sections: what each has to say of a session, as short items. Which of them are sent is `render.ts`'s
// business. Everything quoted here was made one line, neutralised and redacted when the ledger took it in; here it loses
// the signs that set one item of a line apart from the next.

import {
  contextNow,
  contextTokens,
  type Facts,
  type Failure,
  type FileRecord,
  heatRank,
  isStale,
} from "../session/facts.ts"
import { isChangedOutside, type Signals, todosNow } from "../session/signals.ts"
import { amount, plural } from "../text/format.ts"
import { basename, dirname } from "../text/paths.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, cutMiddle, line } from "../text/sanitize.ts"

export const SECTIONS = ["context", "task", "todo", "failing", "files", "repeats", "folded", "waiting"] as const
export type SectionName = (typeof SECTIONS)[number]

export type Section = {
  name: SectionName
  /** what the items are about, the start of the line */
  label: string
  /** in order of worth; `render` may send fewer */
  items: Item[]
  join(items: readonly Item[]): string
}

/** `key` is what the item is about, `state` what it says of it: one that was sent is worth sending again in another. */
export type Item = { text: string; key: string; state: string }

/** What the HUD needs to know besides the ledger. Tokens; `contextLimit` is absent where the model is unknown. */
export type Surroundings = {
  contextLimit?: number
  /** outputs that go out folded with this request, and the tokens that leaves out */
  folded?: { outputs: number; savedTokens: number }
  /** why there is none this time, whatever there would be to say */
  held?: string
}

/** A repeat is worth a word while it is recent. */
const REPEAT_LIFE = 10
const MAX_REPEATS = 3
const MAX_FAILURES = 2
const MAX_FILES = 12
const WHOLE_PATHS = 4
const MANY_EDITS = 3
/** Calls for which a request is not repeated. */
const MOMENT = 6
/** A window that is emptier than this, in percent, is no news. */
const WORTH_TELLING = 25
/** Calls for which a failure is told after its last try: a check stays open for long, a mistyped path does not. */
const LIFE: Readonly<Record<Failure["kind"], number>> = { check: 40, command: 3, tool: 3 }

/** All sections that have something to say, in order of worth. */
export function sectionsOf(facts: Facts, signals: Signals, around: Surroundings): Section[] {
  return [
    contextSection(facts, around),
    taskSection(facts),
    todoSection(facts, signals),
    failingSection(facts),
    filesSection(facts, signals),
    repeatsSection(facts),
    foldedSection(around),
    waitingSection(facts, signals),
  ].filter((section): section is Section => section !== undefined && section.items.length > 0)
}

function contextSection(facts: Facts, { contextLimit }: Surroundings): Section | undefined {
  const now = contextNow(facts)
  if (!now) return
  const percent = contextLimit ? Math.round((100 * now.tokens) / contextLimit) : undefined
  if (percent !== undefined && percent < WORTH_TELLING && !facts.compactions) return
  const of = percent === undefined ? "" : ` of ${amount(contextLimit as number)} (${percent}%)`
  const said = [`${now.estimated ? "about " : ""}${amount(now.tokens)}${of}`]
  const { usage } = facts
  if (usage?.cacheRead) said.push(`${Math.floor((100 * usage.cacheRead) / contextTokens(usage))}% cached`)
  if (facts.compactions) said.push(facts.compactions === 1 ? "compacted once" : `compacted ${facts.compactions} times`)
  // every call moves the figure a little; a step of a twentieth of the window is news
  const step = percent === undefined ? Math.floor(now.tokens / 10_000) : Math.floor(percent / 5)
  return section("context", "context", [{ text: said.join(", "), key: "", state: `${step} ${facts.compactions}` }])
}

function taskSection(facts: Facts): Section | undefined {
  const quoted = facts.requests.flatMap((request, i) => {
    const swallowed = facts.compactions > 0 && request.call <= facts.calls - facts.callsSinceCompaction
    // what was asked a moment ago stands right above
    if (facts.calls - request.call < MOMENT && i === facts.requests.length - 1 && !swallowed) return []
    const text = `"${cutMiddle(request.text.replaceAll('"', "'"), i === 0 ? 130 : 60)}"`
    return [{ text: i === 0 ? text : `then ${text}`, key: request.text, state: "" }]
  })
  return section("task", "task", quoted, ", ")
}

function todoSection(facts: Facts, signals: Signals): Section | undefined {
  const todos = todosNow(facts, signals).filter((todo) => todo.status !== "cancelled")
  const done = todos.filter((todo) => todo.status === "completed").length
  // a list that is done has nothing more to say
  if (done === todos.length) return
  const now = todos.find((todo) => todo.status === "in_progress")
  const next = todos.find((todo) => todo.status === "pending")
  const said = now ? `, now: ${cut(now.content, 80)}` : next ? `, next: ${cut(next.content, 80)}` : ""
  const text = `${done} of ${todos.length} done${said}`
  return section("todo", "todo", [{ text, key: "", state: text }])
}

/** Failures that nothing has settled and that are not yet history, the latest first. */
export function openFailures(facts: Facts): Failure[] {
  return [...facts.failures.values()].reverse().filter((failure) => facts.calls - failure.last < LIFE[failure.kind])
}

function failingSection(facts: Facts): Section | undefined {
  const items = openFailures(facts)
    .slice(0, MAX_FAILURES)
    .map((failure) => {
      const since =
        failure.times > 1 ? ` since call ${failure.since}, ${failure.times} times` : ` at call ${failure.since}`
      return {
        text: `${command(failure.key)}${since}: ${cut(failure.detail, 110).replaceAll("`", "'")}`,
        key: failure.key,
        state: failure.detail,
      }
    })
  return section("failing", "failing", items, "; ")
}

function command(key: string): string {
  return `\`${cutMiddle(key, 60).replaceAll("`", "'")}\``
}

/** Of failures that were told, those that are open no more: who was told must hear that too. */
export function settledSection(facts: Facts, said: ReadonlyMap<string, string>): Section {
  const told = [...said.keys()].filter((key) => key.startsWith("failing ")).map((key) => key.slice("failing ".length))
  const settled = told.filter((key) => !facts.failures.has(key))
  const items = settled.map((key) => ({ text: command(key), key, state: "settled" }))
  return section("failing", "no longer failing", items)
}

/** The files the agent is likely to touch next, told apart by whether it has seen what is in them now. */
function filesSection(facts: Facts, signals: Signals): Section {
  const hottest = highest(facts.files.values(), MAX_FILES, heatRank)
  const items = hottest.map((file) => {
    const group = groupOf(file, signals)
    const times = file.edits >= MANY_EDITS ? ` ${file.edits}x` : ""
    return { text: `${named(file.path)}${times}`, key: file.path, state: group }
  })
  return { name: "files", label: "files", items, join: joinFiles }
}

/** A path; in quotes where it has spaces or signs that a list of paths is written with. */
function named(path: string): string {
  const text = redact(line(path))
  return /^(?:[A-Z]:)?[^\s"'`,;:{}]+$/.test(text) ? text : `"${text.replaceAll('"', "'")}"`
}

const isQuoted = (text: string) => text.startsWith('"')

/** The few of many with the highest rank, highest first; of equals the later. */
function highest<T>(all: Iterable<T>, most: number, rankOf: (one: T) => number): T[] {
  const kept: { one: T; rank: number }[] = []
  for (const one of all) {
    const rank = rankOf(one)
    if (kept.length === most && rank < (kept.at(-1)?.rank ?? 0)) continue
    const at = kept.findIndex((other) => rank >= other.rank)
    kept.splice(at < 0 ? kept.length : at, 0, { one, rank })
    if (kept.length > most) kept.pop()
  }
  return kept.map(({ one }) => one)
}

function groupOf(file: FileRecord, signals: Signals): string {
  if (file.deleted) return "deleted"
  if (isChangedOutside(file, signals)) return "changed on disk since read"
  if (isStale(file)) return "edited since read"
  if (!file.edits) return "read"
  return file.reads ? "read since edit" : "written"
}

/** `edited since read: src/{a.ts 3x, b.ts}; read: c.md`. Past the first few a file's name must do, where it is one. */
function joinFiles(items: readonly Item[]): string {
  const groups = new Map<string, Item[]>()
  const nameOf = (text: string) => (isQuoted(text) ? text : basename(text))
  const names = items.map((item) => nameOf(item.text))
  items.forEach((item, i) => {
    const unique = names.indexOf(names[i] ?? "") === names.lastIndexOf(names[i] ?? "")
    const whole = i < WHOLE_PATHS || isQuoted(item.text)
    const text = whole ? item.text : unique ? basename(item.text) : item.text.split("/").slice(-2).join("/")
    groups.set(item.state, [...(groups.get(item.state) ?? []), { ...item, text }])
  })
  return [...groups].map(([group, members]) => `${group}: ${joinPaths(members)}`).join("; ")
}

function repeatsSection(facts: Facts): Section {
  const items = [...facts.repeats.values()]
    .filter((repeat) => repeat.times > 1 && facts.calls - repeat.last < REPEAT_LIFE)
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

/** Without what sets items apart. */
const item = (text: string) => text.replace(/;(?=\s|$)/g, ",")

/** The ids stand where the outputs stood, so that here a word will do. */
function foldedSection({ folded }: Surroundings): Section | undefined {
  if (!folded?.outputs) return
  const outputs = plural(folded.outputs, "output")
  const text = `${outputs}, ${amount(folded.savedTokens)} tokens, see hud_recall`
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

function section(name: SectionName, label: string, items: Item[], join: string | Section["join"] = ", "): Section {
  return {
    name,
    label,
    items,
    join: typeof join === "string" ? (items) => items.map((item) => item.text).join(join) : join,
  }
}

/** Paths of one folder share it, `src/{a.ts 3x, b.ts}`; folders and files keep the order of their first. */
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
