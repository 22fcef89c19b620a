// A status in words: the rows that the panel draws and `hudfold status` prints. Each row is worth a line or is not
// there; which of them ask for attention is said by their tone.

import { amount, cutMiddle } from "../text/text.ts"
import type { Status, WriterStatus } from "./status.ts"

export type Tone = "plain" | "muted" | "good" | "warn" | "bad"

export type Row = {
  name: "context" | "cached" | "saved" | "failing" | "stale" | "folds" | "hud" | "digests"
  /** short enough for a sidebar of 38 columns */
  text: string
  tone: Tone
  /** what there is to say beyond one line: a failure each, a stale file each, a reason */
  details: readonly string[]
}

export function rowsOf(status: Status): Row[] {
  return [
    contextRow(status),
    cachedRow(status),
    savedRow(status),
    foldsRow(status),
    failingRow(status),
    staleRow(status),
    hudRow(status),
    writerRow(status.writer),
  ].filter((row) => row !== undefined)
}

/** Share of the way to OpenCode's compaction, or of the window where that never comes; 0 to 1, undefined when unknown. */
export function fullness({ context }: Status): number | undefined {
  const most = context.compactsAt ?? context.limit
  return most ? Math.min(1, context.tokens / most) : undefined
}

/** From here on the context is close to its compaction. */
const NEAR = 0.8

export function isNearlyFull(status: Status): boolean {
  return (fullness(status) ?? 0) >= NEAR
}

function contextRow(status: Status): Row {
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

function cachedRow({ context: { cachedShare } }: Status): Row | undefined {
  if (cachedShare === undefined) return
  return { name: "cached", text: `${percent(cachedShare)} from the cache`, tone: "muted", details: [] }
}

function savedRow({ saved }: Status): Row | undefined {
  const { tokens, share, usd, calls } = saved
  if (calls === 0) return
  const unsent = tokens > 0 ? `${amount(tokens)} tokens` : undefined
  if (!savesMoney(saved)) return unsent ? savedIn(`${unsent} not sent`, "muted") : undefined
  if (share < 0) return savedIn(`costs ${percent(-share)} more so far`, "muted")
  const said = [`saved ${percent(share)}`, ...(usd === undefined ? [] : [dollars(usd)]), ...(unsent ? [unsent] : [])]
  return savedIn(said.join(", "), share >= 0.01 ? "good" : "muted")
}

function savedIn(text: string, tone: Tone): Row {
  return { name: "saved", text, tone, details: [] }
}

/** Whether fewer tokens are less money. */
export function savesMoney({ billing = "tokens" }: Status["saved"]): boolean {
  return billing === "tokens"
}

function foldsRow({ folding }: Status): Row | undefined {
  const { activity, outputs, savedTokens, recalls, newest, stopped } = folding
  if (activity === "off") return
  const state = activity === "paused" ? " (paused)" : stopped === undefined ? "" : " (stopped)"
  if (outputs === 0 && !state) return
  const [last] = newest
  return {
    name: "folds",
    text: `${outputs} folded, ${amount(savedTokens)} less a call${state}`,
    tone: state ? "warn" : "plain",
    details: [
      ...(stopped === undefined ? [] : [stopped]),
      ...(last ? [`newest ${last.id} ${last.what}`] : []),
      ...(recalls ? [recalls === 1 ? "1 recall" : `${recalls} recalls`] : []),
    ],
  }
}

function failingRow({ failures }: Status): Row | undefined {
  if (failures.length === 0) return
  return {
    name: "failing",
    text: failures.length === 1 ? "1 open failure" : `${failures.length} open failures`,
    tone: "bad",
    details: failures.map(({ what, detail, times }) => `${what}${times > 1 ? ` ${times}x` : ""}: ${detail}`),
  }
}

function staleRow({ stale }: Status): Row | undefined {
  if (stale.length === 0) return
  return {
    name: "stale",
    text: stale.length === 1 ? "1 stale file" : `${stale.length} stale files`,
    tone: "warn",
    details: stale.map(({ path, why }) => `${path} ${why}`),
  }
}

function hudRow({ hud: { activity, text, tokens } }: Status): Row {
  const said = text === undefined ? "nothing to say yet" : `${tokens} tokens`
  return {
    name: "hud",
    text: activity === "on" ? `HUD ${said}` : `HUD ${activity}`,
    tone: activity === "paused" ? "warn" : "muted",
    details: [],
  }
}

/** Of a model's name, so that what it does has room beside it. */
const MODEL_NAME = 18

function writerRow(writer: WriterStatus): Row {
  const { backend, state, why, model, device, speed, waiting, working, written } = writer
  if (backend === "extract") return { name: "digests", text: "digests without a model", tone: "muted", details: [] }
  const name = cutMiddle(model ?? backend, MODEL_NAME)
  const isBad = state === "degraded" || state === "off"
  const how = state === "ready" && device !== undefined ? `on ${device}` : state
  const queue = waiting > 0 ? `, ${waiting} waiting` : working ? ", writing" : ""
  const details = [
    ...(why === undefined ? [] : [why]),
    ...(speed ? [`reads ${Math.round(speed.prefill)}, writes ${Math.round(speed.decode)} tokens/s`] : []),
    ...(name === model || model === undefined ? [] : [model]),
    ...(written ? [written === 1 ? "1 digest written" : `${written} digests written`] : []),
  ]
  return { name: "digests", text: `${name} ${how}${queue}`, tone: isBad ? "warn" : "muted", details }
}

/** As it is once the process that wrote it has ended: what is in the session stays, nobody writes digests. */
export function withoutProcess(status: Status): Status {
  const { why: _, ...writer } = status.writer
  return { ...status, writer: { ...writer, state: "idle", waiting: 0, working: false } }
}

export function percent(share: number): string {
  return `${Math.round(100 * share)}%`
}

function dollars(usd: number): string {
  return usd < 0.1 ? `$${usd.toFixed(3)}` : `$${usd.toFixed(2)}`
}
