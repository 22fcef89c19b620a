// What the panel, the prompt's line and the dialogs say about a session: the wording, the width and the tone. Pure; the
// components only draw it.

import { savedTokens } from "../fold/fold.ts"
import { KEPT_WHOLE_STEPS } from "../session/steps.ts"
import type { EpisodeStatus, FoldStatus, Status } from "../status/status.ts"
import { hudWords, type PanelRow, type StatusRow, statusRows, type Tone } from "../status/words.ts"
import { amount, plural, REASON_WORDS, stepRange, stepsAndOutputs } from "../text/format.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { ListRow } from "./api-v2.ts"
import { FOLDING_OFF, type Wish } from "./switch.ts"
import { fit, visible, wrap } from "./text.ts"
import type { SessionSnapshot } from "./watch.ts"

type Span = { text: string; tone: Tone }
export type StyledLine = readonly Span[]

export type DialogText = {
  title: string
  /** displayed above the text */
  note?: string | undefined
  /** already safe for a terminal, see `visible` */
  text?: string
  /** broken anywhere rather than at spaces, as code is */
  isVerbatim?: boolean
}

/** What follows the panel's title. */
export function titleOf({ status }: SessionSnapshot): Span {
  if (!status) return { text: "", tone: "muted" }
  return { text: hudWords(status.hud), tone: status.hud.activity === "paused" ? "warn" : "muted" }
}

/** The panel's lines below its title, each at most `width` columns wide. What has nothing to say has no line. */
export function panelLines({ status }: SessionSnapshot, width: number, wanted: readonly PanelRow[]): StyledLine[] {
  if (!status) return [[{ text: fit("nothing known yet, see /hud-status", width), tone: "muted" }]]
  const rows = statusRows(status).filter(({ name }) => wanted.some((one) => one === name))
  return rows.flatMap((row) => inPanel(row, status)).flatMap((row) => rowLines(row, width))
}

/** A row as the panel has it, or none. */
function inPanel(row: StatusRow, { context, writer }: Status): StatusRow[] {
  if (row.name === "digests") return writer.backend === "extract" ? [] : [row]
  if (row.name !== "context") return [row]
  // an estimate lacks system prompt and tools, which are most of an early request
  if (context.estimated) return []
  // OpenCode's own section above says how full the context is; here that stands only where it is nearly full
  if (row.tone === "warn") return [row]
  return row.details.length > 0 ? [{ ...row, text: row.details.join(", "), details: [] }] : []
}

const isUrgent = (tone: Tone) => tone === "warn" || tone === "bad"

function rowLines({ name, text, tone, details, lines }: StatusRow, width: number): StyledLine[] {
  const head: StyledLine = isUrgent(tone)
    ? [
        { text: "• ", tone },
        { text: fit(text, width - 2), tone: "plain" },
      ]
    : [{ text: fit(text, width), tone: "muted" }]
  // of a model's details the first matters most: why it does not work, or how fast it is
  const shown = name === "digests" ? details.slice(0, 1) : details
  const [only = ""] = shown
  const below =
    shown.length === 1 ? wrap(only, width - 2, lines) : shown.slice(0, lines).map((one) => fit(one, width - 2))
  return [head, ...below.map((text): StyledLine => [{ text: `  ${text}`, tone: "muted" }])]
}

/** On narrower terminals the prompt's line shows only what is wrong. */
const MIN_COLUMNS_FOR_ALL = 100
/** On terminals narrower than this it shows nothing: OpenCode's own text there would wrap. */
const MIN_COLUMNS = 60
/** What is left to OpenCode's own text: the agent and the model. */
const OTHER_COLUMNS = 25
/** The same where all is shown, with names of a usual length: what does not fit is cut off in the middle of a word. */
const OTHER_COLUMNS_BESIDE_ALL = 44

/** One line for when the sidebar is hidden; empty when there is nothing to say. */
export function summaryOf({ status }: SessionSnapshot, terminalWidth: number): StyledLine {
  if (!status || terminalWidth < MIN_COLUMNS) return []
  const spans = statusRows(status).flatMap(({ short, tone }): Span[] =>
    short ? [{ text: short, tone: isUrgent(tone) ? tone : "muted" }] : [],
  )
  const columnsOf = (line: StyledLine) => line.reduce((sum, { text }) => sum + Bun.stringWidth(text), 0)
  const all = named(spans)
  if (terminalWidth >= Math.max(MIN_COLUMNS_FOR_ALL, columnsOf(all) + OTHER_COLUMNS_BESIDE_ALL)) return all
  let urgent = named(spans.filter(({ tone }) => tone !== "muted"))
  while (columnsOf(urgent) > terminalWidth - OTHER_COLUMNS) urgent = urgent.slice(0, -2)
  return urgent
}

/** With our name, since OpenCode and other plugins write on the same line. */
function named(spans: readonly Span[]): StyledLine {
  return spans.flatMap((span, at): StyledLine => [{ text: at === 0 ? "hudfold " : " · ", tone: "muted" }, span])
}

/** The panel learns about the plugin from the status file alone, so it cannot tell why there is none. */
const UNKNOWN = [
  "Nothing is known about this session here. That is normal before its first call. If it stays so:",
  "- the plugin is not in opencode.json, or its options say `enabled: false`",
  "- its state is not kept on disk (`store.enabled: false`, or the disk cannot be written)",
  "- OpenCode's server runs on another machine or with another data folder",
  "`hudfold doctor` checks all but the last.",
].join("\n")

/** The HUD that the next request would carry. */
export function hudDialog({ status }: SessionSnapshot): DialogText {
  const title = "HUD of the next request"
  if (!status) return { title, note: UNKNOWN }
  const { activity, text, tokens } = status.hud
  if (activity === "off") return { title, note: "None: the HUD is off by the plugin's options, or for this agent." }
  if (activity === "paused") return { title, note: "None: the HUD is paused in this session; /hud-resume resumes it." }
  if (text === undefined)
    return { title, note: "None yet: there is nothing to say that the newest messages do not show." }
  return { title, note: `as of now, ${tokens} tokens`, text: visible(text) }
}

/** Everything known about a session, row by row with the details. */
export function statusDialog({ status }: SessionSnapshot): DialogText {
  const title = "opencode-hudfold"
  if (!status) return { title, note: UNKNOWN }
  const rows = statusRows(status).flatMap(({ text, details }) => [text, ...details.map((detail) => `  ${detail}`)])
  const model = status.model === undefined ? "" : ` on ${status.model}`
  const calls = plural(status.calls, "call")
  return { title: `${title} ${status.plugin}`, note: `${calls}${model}`, text: visible(rows.join("\n")) }
}

/** Why there is no list of folds; undefined where there is one. */
export function whyNoFolds(status: Status | undefined): string | undefined {
  if (!status) return UNKNOWN
  const { activity, newest, episodes, kept } = status.folding
  // the list would offer to fold steps, and nothing would be folded
  if (activity === "off") return FOLDING_OFF
  return newest.length + episodes.length + kept.newest.length > 0 ? undefined : "There is nothing to fold yet."
}

/** A step that is sent as it is. */
type KeptStatus = Status["folding"]["kept"]["newest"][number]

/** The value of a row in the list of folds. */
export type FoldedThing = FoldStatus | EpisodeStatus | KeptStatus

/** Rows of the steps that are not folded, below those that are. */
export function keptRows({ kept, newest }: Status["folding"]): ListRow<FoldedThing>[] {
  const listed = new Set(newest.map(({ messageID }) => messageID))
  return kept.newest.flatMap((step) => {
    // a step with a folded output is in the list already
    if (listed.has(step.messageID)) return []
    const title = `step ${step.step} ${step.what}`
    const footer = `${amount(step.tokens)} tokens`
    return [{ title, description: step.why ?? "settled", footer, category: "Not folded", value: step }]
  })
}

/** What can be done with a folded output or step. */
export function foldActions(fold: FoldStatus): ListRow<"show" | "unfold" | "pin">[] {
  const more = `${amount(savedTokens(fold))} tokens more`
  const size = `${amount(fold.tokens)} tokens`
  return [
    { title: "Open", description: `the original, ${size}, and why it was folded`, value: "show" },
    { title: "Unfold", description: `whole in the next ${KEPT_WHOLE_STEPS} calls, ${more}`, value: "unfold" },
    { title: "Pin", description: `whole for the rest of the session, ${more}`, value: "pin" },
  ]
}

export function keptActions(isKept: boolean): ListRow<Wish>[] {
  return [
    { title: "Fold now", description: "with the next request, whether it pays or not", value: "fold" },
    isKept
      ? { title: "Release", description: "let it be folded when that pays", value: "release" }
      : { title: "Pin", description: "never fold it in this session", value: "pin" },
  ]
}

export function foldTitle({ kind, step, id, what }: FoldStatus): string {
  return kind === "step" ? `step ${step} ${what}` : `${id} ${what}`
}

function whyFolded({ because, cutBecause }: FoldStatus): string {
  return cutBecause === "" ? because : `${because}; ${cutBecause}`
}

/** One row for each folded output and each episode, the last folded first. */
export function foldRows({ newest, episodes }: Status["folding"]): ListRow<FoldedThing>[] {
  const outputs = newest.map((fold) => ({ call: fold.call, row: foldRow(`${fold.id} ${fold.what}`, fold) }))
  const records = episodes.map((episode) => {
    const { from, to, count, steps } = episode
    const last = steps.toSorted((a, b) => b.call - a.call)[0]
    const title = `${stepRange(from, to)} · ${plural(count, "step")}`
    const description = last ? `${REASON_WORDS[last.reason]}: ${last.cutBecause}` : ""
    return { call: last?.call ?? 0, row: { title, description, footer: less(episode.savedTokens), value: episode } }
  })
  return [...records, ...outputs].sort((a, b) => b.call - a.call).map(({ row }) => row)
}

/** The rows of one episode: its record, then its steps. */
export function episodeRows(episode: EpisodeStatus): ListRow<FoldStatus | "show" | "unfold" | "pin">[] {
  const { record, steps, count } = episode
  const left = count - steps.length
  const sent = `what is sent instead${left > 0 ? `; the first ${left} are not listed here` : ""}`
  const size = record === "" ? "" : `${amount(tokensOfLength(record.length))} tokens`
  const first = { title: "The record", description: sent, footer: size, value: "show" } as const
  if (steps.length === 0) return [first]
  const footer = `${amount(steps.reduce((sum, step) => sum + savedTokens(step), 0))} more`
  const all = plural(steps.length, "step")
  return [
    first,
    { title: `Unfold ${all}`, description: `whole in the next ${KEPT_WHOLE_STEPS} calls`, footer, value: "unfold" },
    { title: `Pin ${all}`, description: "whole for the rest of the session", footer, value: "pin" },
    ...steps.map((fold) => foldRow(`${fold.step} ${fold.what}`, fold)),
  ]
}

const less = (saved: number) => (saved > 0 ? `${amount(saved)} less` : "")

function foldRow(title: string, fold: FoldStatus): ListRow<FoldStatus> {
  return { title, description: whyFolded(fold), footer: less(savedTokens(fold)), value: fold }
}

/** The row with as much of its description as there is room for, in columns; OpenCode writes it right after the title. */
export function fitRow<T>(row: ListRow<T>, room: number): ListRow<T> {
  const { title, description, footer = "" } = row
  const left = room - Bun.stringWidth(title) - Bun.stringWidth(footer)
  return { ...row, description: fit(`· ${description}`, left) }
}

export function listTitle({ steps, outputs, newest, episodes }: Status["folding"]): string {
  const listed = newest.length + episodes.reduce((sum, { count }) => sum + count, 0)
  const all = stepsAndOutputs({ steps, outputs })
  return all === "" ? "Folds" : `Folded: ${all}${steps + outputs > listed ? " (the newest)" : ""}`
}

/** An original, as a dialog shows it; undefined when it no longer exists. */
export function originalDialog(fold: FoldStatus, original: string | undefined): DialogText {
  const { kind, id, call, reason } = fold
  const title = foldTitle(fold)
  if (original === undefined) return { title, note: "The original no longer exists: it was reverted or removed." }
  const note = `${kind} ${kind === "step" ? `${id} ` : ""}folded since call ${call}, ${REASON_WORDS[reason]}: ${whyFolded(fold)}`
  const empty = original === "" ? "; it is empty" : ""
  return { title, note: `${note}${empty}`, text: visible(original), isVerbatim: true }
}

export function recordDialog({ from, to, count, savedTokens, record }: EpisodeStatus): DialogText {
  const old = record === "" ? "; too old to be kept here, `hudfold inspect --request` prints it" : ""
  const note = `sent instead of ${plural(count, "step")}; saves ${amount(savedTokens)} tokens a call${old}`
  return { title: `Record of ${stepRange(from, to)}`, note, text: visible(record) }
}
