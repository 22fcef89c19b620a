// A status in words: the rows that the panel draws and `hudfold status` prints. A row with nothing to report is left out; the
// tone says which rows need attention.

import { asRecord } from "../system/values.ts"
import { amount, dollars, finePercent, percent, plural, stepsAndOutputs } from "../text/format.ts"
import { cutMiddle } from "../text/sanitize.ts"
import type { Activity, Status, Switches, WriterStatus } from "./status.ts"

export type Tone = "plain" | "muted" | "good" | "warn" | "bad"

export type StatusRow = {
  name: "context" | "cached" | "saved" | "failing" | "changed" | "edited" | "folds" | "open" | "hud" | "digests"
  /** short enough for a sidebar of 38 columns */
  text: string
  tone: Tone
  /** more than fits on one line: one entry per failure or stale file, a reason */
  details: readonly string[]
  /** how many lines of details the panel shows */
  lines: number
  /** what the line beside the prompt says of it; absent where that says nothing */
  short?: string | false
}

export function statusRows(status: Status): StatusRow[] {
  const { cachedShare } = status.context
  return [
    savedRow(status),
    contextRow(status),
    cachedShare === undefined ? undefined : rowOf("cached", `${percent(cachedShare)} of the last call cached`, "muted"),
    foldsRow(status),
    openRow(status),
    failingRow(status),
    ...staleRows(status),
    hudRow(status),
    writerRow(status.writer),
  ].filter((row) => row !== undefined)
}

/** The rows that the panel may have, by the names that the option `rows` takes. */
export const PANEL_ROWS = ["saved", "context", "cached", "folds", "failing", "changed", "edited", "digests"] as const
export type PanelRow = (typeof PANEL_ROWS)[number]

/** The rows that the panel's option names, and what is wrong with its options. A value that is not a list means all rows. */
export function readPanelRows(options: unknown): { rows: readonly PanelRow[]; problem?: string } {
  const { rows: given = PANEL_ROWS, ...others } = asRecord(options) ?? {}
  const listed: readonly unknown[] = Array.isArray(given) ? given : PANEL_ROWS
  const rows = PANEL_ROWS.filter((name) => listed.includes(name))
  const unknown = listed.filter((name) => !rows.some((row) => row === name)).map((name) => JSON.stringify(name))
  const names = Object.keys(others)
  const expected = `rows: expected a list of ${PANEL_ROWS.join(", ")}`
  if (listed !== given) return { rows, problem: `${expected}; all are shown` }
  if (unknown.length > 0) return { rows, problem: `${expected}; ignored: ${unknown.join(", ")}` }
  if (names.length === 0) return { rows }
  const problem = `the panel has no option but "rows", so ${names.join(", ")} belongs in the plugin's entry in opencode.json`
  return { rows, problem }
}

/** A row; what is not a text is no detail. */
function rowOf(
  name: StatusRow["name"],
  text: string,
  tone: Tone,
  details: readonly (string | false | undefined)[] = [],
  more: Partial<Pick<StatusRow, "lines" | "short">> = {},
): StatusRow {
  return { name, text, tone, details: details.filter((one) => typeof one === "string"), lines: 1, ...more }
}

/** Compaction is near from this share of the size at which OpenCode compacts, or of the window if that is unknown. */
const NEARLY_FULL = 0.8

function contextRow({ context }: Status): StatusRow {
  const { tokens, estimated, limit = Number.POSITIVE_INFINITY, compactsAt, compactions } = context
  const of = context.limit === undefined ? "" : ` of ${amount(limit)} (${percent(tokens / limit)})`
  const isNearlyFull = tokens / (compactsAt ?? limit) >= NEARLY_FULL
  const text = `context ${estimated ? "about " : ""}${amount(tokens)}${of}`
  const details = [
    compactsAt !== undefined && `compacts at ${amount(compactsAt)}`,
    compactions > 0 && (compactions === 1 ? "compacted once" : `compacted ${compactions} times`),
  ]
  // OpenCode itself shows the share below
  const short = isNearlyFull && `context ${percent(tokens / limit)}`
  return rowOf("context", text, isNearlyFull ? "warn" : "plain", details, { short })
}

/** The least loss that `finePercent` shows. */
const MIN_LOSS = 0.0005

/** Half of the recorded sessions that were folded were first folded between these calls, see docs/savings.md. */
export const FIRST_FOLD = { from: 10, to: 30 }

/** Whether it is folded when that pays, which it never does where requests are billed. */
const isWatching = ({ folding: { activity, stopped }, saved: { billing } }: Status) =>
  activity === "on" && stopped === undefined && billing !== "requests"

function savedRow(status: Status): StatusRow | undefined {
  const { folding } = status
  const { tokens, share, usd, paidUsd, freeReads, calls, subagentCalls, billing } = status.saved
  if (calls === 0) return
  // what rounds to nothing is no loss
  const lost = share <= -MIN_LOSS ? finePercent(-share) : undefined
  const isFolded = folding.steps + folding.outputs > 0
  const unsent = tokens > 0 ? `${amount(tokens)} tokens` : undefined
  const unbilled = unsent ? `${unsent} not sent` : billing === "requests" && "billed by requests, nothing to save"
  if (billing !== "tokens") return unbilled ? rowOf("saved", unbilled, "muted") : undefined
  if (!isFolded && share < 0.01 && isWatching(status))
    return rowOf("saved", "watching; nothing folded yet", "muted", [
      status.calls < FIRST_FOLD.to
        ? `usually begins at call ${FIRST_FOLD.from} to ${FIRST_FOLD.to}`
        : "a cut would not pay yet",
      lost && `its own text has cost ${lost} so far`,
    ])
  if (lost) {
    const why = isFolded ? "cuts have not paid back yet" : "its own text costs a little"
    return rowOf("saved", `cost ${lost} more so far`, "muted", [why], { short: share <= -0.01 && `cost ${lost} more` })
  }
  // a model without a price counts for the share alone, so that the two may differ
  const isMoney = usd !== undefined && usd > 0
  // of the $0 that OpenCode shows no share is saved
  const unpriced = usd === undefined && unbilled
  const saved = unpriced || `saved ${percent(share)}`
  const said = [saved, ...(isMoney ? [dollars(usd)] : []), ...(unsent && !unpriced ? [unsent] : [])]
  const details = [
    unpriced && `saved ${percent(share)}, counted in fresh input tokens: OpenCode has no price for the model`,
    isMoney && paidUsd !== undefined && `paid ${dollars(paidUsd)} of ${dollars(paidUsd + usd)}`,
    isMoney && freeReads && "OpenCode has no price for cached tokens and counts them as free",
    subagentCalls !== undefined && `with ${plural(subagentCalls, "call")} of subagents`,
  ]
  // OpenCode's own section says what was paid
  const more = { lines: 0, short: share >= 0.01 && saved }
  return rowOf("saved", said.join(", "), share >= 0.01 ? "good" : "muted", details, more)
}

function foldsRow(status: Status): StatusRow | undefined {
  const { activity, outputs, steps, savedTokens, recalls, stopped } = status.folding
  if (activity === "off") return
  const state = activity === "paused" ? "paused" : stopped === undefined ? "" : "stopped"
  const counts = stepsAndOutputs({ steps, outputs })
  if (counts === "" && !state) return
  // in a sidebar there is no room for more when both are folded
  const saved = savedTokens > 0 ? `, ${amount(savedTokens)} less${steps > 0 && outputs > 0 ? "" : " a call"}` : ""
  // the state comes first: the end of a line may be cut
  const text = state ? `folding ${state}: ${counts || "nothing folded"}` : `${counts} folded${saved}`
  const details = [stopped, recalls > 0 && plural(recalls, "recall")]
  const short = state ? `folding ${state}` : `${counts} folded`
  return rowOf("folds", text, state ? "warn" : "plain", details, { short })
}

const MAX_REASONS = 5
const MAX_OPEN = 3

/** What is not folded yet, and why. */
function openRow(status: Status): StatusRow | undefined {
  const { folding } = status
  const { open, settled, reasons, newest } = folding.kept
  if (folding.activity === "off" || open + settled === 0) return
  const waits = isWatching(status) ? " and waiting until folding pays" : ""
  const waiting = settled > 0 ? `, ${settled} settled${waits}` : ""
  return rowOf("open", `${plural(open, "step")} open${waiting}`, "muted", [
    ...reasons.slice(0, MAX_REASONS).map(({ why, steps }) => `${plural(steps, "step")}: ${why}`),
    ...newest.flatMap(({ step, what, why }) => (why ? [`step ${step} ${what}: ${why}`] : [])).slice(0, MAX_OPEN),
  ])
}

function failingRow({ failures }: Status): StatusRow | undefined {
  if (failures.length === 0) return
  const details = failures.map(({ what, detail, times }) => `${what}${times > 1 ? ` ${times}x` : ""}: ${detail}`)
  const more = { lines: 2, short: `${plural(failures.length, "command")} failed` }
  return rowOf("failing", plural(failures.length, "open failure"), "bad", details, more)
}

/** A warning only for files that others changed, not for those that the agent edited itself. */
function staleRows({ stale }: Status): (StatusRow | undefined)[] {
  const row = (name: "changed" | "edited", why: Status["stale"][number]["why"], said: string, tone: Tone) => {
    const paths = stale.flatMap((file) => (file.why === why ? [file.path] : []))
    const files = plural(paths.length, "file")
    const short = name === "changed" && `${files} changed`
    return paths.length === 0 ? undefined : rowOf(name, `${files} ${said}`, tone, paths, { short })
  }
  return [
    row("changed", "changed on disk since read", "changed on disk", "warn"),
    row("edited", "edited since read", "edited since read", "muted"),
  ]
}

/** The HUD's size, or why there is none. */
export function hudWords({ activity, text, tokens }: Status["hud"]): string {
  return activity !== "on" ? activity : text === undefined ? "nothing to say yet" : `${tokens} tokens`
}

function hudRow({ hud }: Status): StatusRow {
  const isPaused = hud.activity === "paused"
  const text = `HUD ${hudWords(hud)}`
  return rowOf("hud", text, isPaused ? "warn" : "muted", [], { short: isPaused && text })
}

/** Short enough to leave room for the state after the name. */
const MAX_MODEL_NAME_CHARS = 18

function writerRow(writer: WriterStatus): StatusRow {
  const { backend, state, why, model, device, speed, waiting, working, written } = writer
  if (backend === "extract") return rowOf("digests", "digests without a model", "muted")
  const name = cutMiddle(model ?? backend, MAX_MODEL_NAME_CHARS)
  const isBad = state === "degraded" || state === "off"
  const how = state === "ready" && device !== undefined ? `on ${device}` : state
  const queue = waiting > 0 ? `, ${waiting} waiting` : working ? ", writing" : ""
  const details = [
    why,
    speed && `reads ${Math.round(speed.prefill)}, writes ${Math.round(speed.decode)} tokens/s`,
    name !== model && model,
    written > 0 && `${plural(written, "digest")} written`,
  ]
  return rowOf("digests", `${name} ${how}${queue}`, isBad ? "warn" : "muted", details, { lines: 2 })
}

/** The status with the user's switches applied, since the next request obeys those and not the status written before. */
export function withSwitches(status: Status, { hud, folding }: Switches): Status {
  const now = (activity: Activity, wanted: "on" | "paused") => (activity === "off" ? "off" : wanted)
  return {
    ...status,
    hud: { ...status.hud, activity: now(status.hud.activity, hud) },
    folding: { ...status.folding, activity: now(status.folding.activity, folding) },
  }
}

/** The status once the process that wrote it has ended: the session is unchanged, and nothing writes digests. */
export function withoutProcess(status: Status): Status {
  const { why: _, ...writer } = status.writer
  return { ...status, writer: { ...writer, state: "idle", waiting: 0, working: false } }
}
