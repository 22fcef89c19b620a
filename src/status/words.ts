// A status in words: the rows that the panel draws and `hudfold status` prints. A row with nothing to report is left out; the
// tone says which rows need attention.

import { amount, dollars, percent, plural, stepRange, stepsAndOutputs } from "../text/format.ts"
import { cutMiddle } from "../text/sanitize.ts"
import type { Status, WriterStatus } from "./status.ts"

export type Tone = "plain" | "muted" | "good" | "warn" | "bad"

export type StatusRow = {
  name: "context" | "cached" | "saved" | "failing" | "changed" | "edited" | "folds" | "open" | "hud" | "digests"
  /** short enough for a sidebar of 38 columns */
  text: string
  tone: Tone
  /** more than fits on one line: one entry per failure or stale file, a reason */
  details: readonly string[]
}

export function statusRows(status: Status): StatusRow[] {
  return [
    savedRow(status),
    contextRow(status),
    cachedRow(status),
    foldsRow(status),
    openRow(status),
    failingRow(status),
    staleRow(status, "changed on disk since read", { name: "changed", text: "changed on disk", tone: "warn" }),
    staleRow(status, "edited since read", { name: "edited", text: "edited since read", tone: "muted" }),
    hudRow(status),
    writerRow(status.writer),
  ].filter((row) => row !== undefined)
}

/** Compaction is near from this share of the size at which OpenCode compacts, or of the window if that is unknown. */
const NEARLY_FULL = 0.8

export function isNearlyFull({ context: { tokens, compactsAt, limit } }: Status): boolean {
  const most = compactsAt ?? limit
  return most ? tokens / most >= NEARLY_FULL : false
}

function contextRow(status: Status): StatusRow {
  const { tokens, estimated, limit, compactsAt, compactions } = status.context
  const of = limit === undefined ? "" : ` of ${amount(limit)} (${percent(tokens / limit)})`
  const details = [
    ...(compactsAt === undefined ? [] : [`compacts at ${amount(compactsAt)}`]),
    ...(compactions ? [compactions === 1 ? "compacted once" : `compacted ${compactions} times`] : []),
  ]
  return {
    name: "context",
    text: `${estimated ? "about " : ""}${amount(tokens)}${of}`,
    tone: isNearlyFull(status) ? "warn" : "plain",
    details,
  }
}

function cachedRow({ context: { cachedShare } }: Status): StatusRow | undefined {
  if (cachedShare === undefined) return
  return { name: "cached", text: `${percent(cachedShare)} cached`, tone: "muted", details: [] }
}

/** The call at which recorded sessions are first folded, in the median. */
const FIRST_FOLD = 20

function savedRow({ saved, folding }: Status): StatusRow | undefined {
  const { tokens, share, usd, paidUsd, calls, subagentCalls } = saved
  if (calls === 0) return
  const isFolded = folding.steps + folding.outputs > 0
  if (!isFolded && share < 0.01 && folding.activity === "on" && savesMoney(saved))
    return {
      ...savedIn("watching; nothing folded yet", "muted"),
      details: [
        calls < FIRST_FOLD ? `usually pays from about step ${FIRST_FOLD}` : "a cut would not pay yet",
        ...(share < 0 ? [`its own text has cost ${percent(-share)} so far`] : []),
      ],
    }
  const unsent = tokens > 0 ? `${amount(tokens)} tokens` : undefined
  if (!savesMoney(saved)) return unsent ? savedIn(`${unsent} not sent`, "muted") : undefined
  if (share < 0) {
    const why = isFolded ? "the last cut has not paid back yet" : "its own text costs a little"
    return { ...savedIn(`cost ${percent(-share)} more so far`, "muted"), details: [why] }
  }
  const said = [`saved ${percent(share)}`, ...(usd === undefined ? [] : [dollars(usd)]), ...(unsent ? [unsent] : [])]
  const paid =
    usd === undefined || paidUsd === undefined ? [] : [`paid ${dollars(paidUsd)} of ${dollars(paidUsd + usd)}`]
  const whose = subagentCalls === undefined ? [] : [`with ${plural(subagentCalls, "call")} of subagents`]
  return { ...savedIn(said.join(", "), share >= 0.01 ? "good" : "muted"), details: [...paid, ...whose] }
}

function savedIn(text: string, tone: Tone): StatusRow {
  return { name: "saved", text, tone, details: [] }
}

/** Whether sending fewer tokens saves money. */
export function savesMoney({ billing = "tokens" }: Status["saved"]): boolean {
  return billing === "tokens"
}

function foldsRow(status: Status): StatusRow | undefined {
  const { activity, outputs, steps, savedTokens, recalls, stopped } = status.folding
  if (activity === "off") return
  const state = activity === "paused" ? "paused" : stopped === undefined ? "" : "stopped"
  const counts = stepsAndOutputs({ steps, outputs })
  if (counts === "" && !state) return
  // in a sidebar there is no room for more when both are folded
  const saved = `${amount(savedTokens)} less${steps > 0 && outputs > 0 ? "" : " a call"}`
  const newest = newestFold(status)
  return {
    name: "folds",
    // the state comes first: the end of a line may be cut
    text: state ? `folding ${state}: ${counts || "nothing folded"}` : `${counts} folded, ${saved}`,
    tone: state ? "warn" : "plain",
    details: [
      ...(stopped === undefined ? [] : [stopped]),
      ...(newest === undefined ? [] : [`newest ${newest}`]),
      ...(recalls ? [plural(recalls, "recall")] : []),
    ],
  }
}

function newestFold({ folding: { newest, episodes } }: Status): string | undefined {
  const [output] = newest
  const [episode] = episodes
  const lastCut = episode?.steps.at(-1)?.call ?? 0
  if (episode && lastCut >= (output?.call ?? 0)) return stepRange(episode.from, episode.to)
  return output && `${output.id} ${output.what}`
}

const MAX_REASONS = 5
const MAX_OPEN = 3

/** What is not folded yet, and why. */
function openRow({ folding }: Status): StatusRow | undefined {
  const { open, settled, reasons, newest } = folding.kept
  if (folding.activity === "off" || open + settled === 0) return
  const waiting = settled > 0 ? `, ${settled} settled until folding pays` : ""
  const missed = folding.missed.map(({ shows, times }) => `${SHOWN[shows] ?? shows}${times > 1 ? ` ${times}x` : ""}`)
  return {
    name: "open",
    text: `${plural(open, "step")} open${waiting}`,
    tone: "muted",
    details: [
      ...reasons.slice(0, MAX_REASONS).map(({ why, steps }) => `${steps}: ${why}`),
      ...newest.flatMap(({ step, what, why }) => (why ? [`step ${step} ${what}: ${why}`] : [])).slice(0, MAX_OPEN),
      ...(missed.length > 0 ? [`kept longer after misses: ${missed.join(", ")}`] : []),
    ],
  }
}

/** Words for the kinds of outputs. */
const SHOWN: Readonly<Record<string, string>> = {
  file: "files",
  matches: "searches",
  listing: "listings",
  run: "commands",
  page: "web pages",
  recalled: "recalls",
  answer: "answers",
  change: "edits",
  other: "other tools",
}

function failingRow({ failures }: Status): StatusRow | undefined {
  if (failures.length === 0) return
  return {
    name: "failing",
    text: plural(failures.length, "open failure"),
    tone: "bad",
    details: failures.map(({ what, detail, times }) => `${what}${times > 1 ? ` ${times}x` : ""}: ${detail}`),
  }
}

/** A warning only for files that others changed, not for those that the agent edited itself. */
function staleRow(
  { stale }: Status,
  why: Status["stale"][number]["why"],
  row: Omit<StatusRow, "details">,
): StatusRow | undefined {
  const files = stale.filter((file) => file.why === why)
  if (files.length === 0) return
  return { ...row, text: `${plural(files.length, "file")} ${row.text}`, details: files.map(({ path }) => path) }
}

function hudRow({ hud: { activity, text, tokens } }: Status): StatusRow {
  const said = text === undefined ? "nothing to say yet" : `${tokens} tokens`
  return {
    name: "hud",
    text: activity === "on" ? `HUD ${said}` : `HUD ${activity}`,
    tone: activity === "paused" ? "warn" : "muted",
    details: [],
  }
}

/** Short enough to leave room for the state after the name. */
const MAX_MODEL_NAME_CHARS = 18

function writerRow(writer: WriterStatus): StatusRow {
  const { backend, state, why, model, device, speed, waiting, working, written } = writer
  if (backend === "extract") return { name: "digests", text: "digests without a model", tone: "muted", details: [] }
  const name = cutMiddle(model ?? backend, MAX_MODEL_NAME_CHARS)
  const isBad = state === "degraded" || state === "off"
  const how = state === "ready" && device !== undefined ? `on ${device}` : state
  const queue = waiting > 0 ? `, ${waiting} waiting` : working ? ", writing" : ""
  const details = [
    ...(why === undefined ? [] : [why]),
    ...(speed ? [`reads ${Math.round(speed.prefill)}, writes ${Math.round(speed.decode)} tokens/s`] : []),
    ...(name === model || model === undefined ? [] : [model]),
    ...(written ? [`${plural(written, "digest")} written`] : []),
  ]
  return { name: "digests", text: `${name} ${how}${queue}`, tone: isBad ? "warn" : "muted", details }
}

/** The status once the process that wrote it has ended: the session is unchanged, and nothing writes digests. */
export function withoutProcess(status: Status): Status {
  const { why: _, ...writer } = status.writer
  return { ...status, writer: { ...writer, state: "idle", waiting: 0, working: false } }
}
