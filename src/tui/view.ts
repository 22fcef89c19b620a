// What the panel and the prompt's line show of a status, as lines of spans: which words, how wide, in which tone. Pure;
// the components only draw it.

import type { Activity, Status } from "../status/status.ts"
import { isNearlyFull, percent, type Row, rowsOf, savesMoney, type Tone } from "../status/words.ts"
import { amount } from "../text/text.ts"
import { bar, type Cells, sparkline } from "./meter.ts"
import type { Seen } from "./watch.ts"
import { fit, widthOf, wrap } from "./width.ts"

/** A tone of the words, or a part of the meter. */
export type Ink = Tone | "track" | "mark"
export type Span = { text: string; ink: Ink; on?: "fill" | "track" }
export type Line = readonly Span[]

/** The status as the user has switched it since it was written: that is what the next request goes by. */
export function statusNow({ status, switches }: Seen): Status | undefined {
  if (!status) return
  const now = (activity: Activity, wanted: "on" | "paused") => (activity === "off" ? "off" : wanted)
  return {
    ...status,
    hud: { ...status.hud, activity: now(status.hud.activity, switches.hud) },
    folding: { ...status.folding, activity: now(status.folding.activity, switches.folding) },
  }
}

/** What stands behind the panel's title. */
export function titleOf(seen: Seen): Span {
  const status = statusNow(seen)
  if (!status) return { text: "", ink: "muted" }
  const { activity, text, tokens } = status.hud
  if (activity !== "on") return { text: activity, ink: activity === "paused" ? "warn" : "muted" }
  if (seen.status?.hud.activity === "paused") return { text: "from the next request on", ink: "muted" }
  return { text: text === undefined ? "nothing to say yet" : `${tokens} tokens`, ink: "muted" }
}

/** Calls that the trend looks back, a column each. */
const TREND_COLUMNS = 24

/** Lines below a row that the panel has room for. */
const BELOW: Partial<Record<Row["name"], number>> = { failing: 2, stale: 1, folds: 1, digests: 2 }

/** The panel below its title, each line at most `width` columns wide. */
export function panelLines(seen: Seen, width: number): Line[] {
  const status = statusNow(seen)
  if (!status) return [[{ text: fit("nothing known yet, see /hud-status", width), ink: "muted" }]]
  const rows = rowsOf(status).filter(({ name }) => name !== "context" && name !== "hud")
  return [...contextLines(status, width), ...rows.flatMap((row) => rowLines(row, width))]
}

function contextLines(status: Status, width: number): Line[] {
  const { tokens, estimated, limit, compactsAt, trend } = status.context
  if (!isReported(status)) return [[{ text: fit("context known after the first call", width), ink: "muted" }]]
  const size = `${estimated ? "about " : ""}${amount(tokens)}${limit === undefined ? " tokens" : ` of ${amount(limit)}`}`
  const room = Math.min(TREND_COLUMNS, width - widthOf(size) - 2)
  const line: Span[] = [{ text: fit(size, width), ink: "muted" }]
  if (trend.length > 1 && room >= 4) {
    const drawn = sparkline(trend, room, compactsAt ?? limit)
    line.push({ text: drawn.padStart(width - widthOf(size)), ink: "muted" })
  }
  if (!limit) return [line]
  const share = tokens / limit
  const label = ` ${percent(share)}`
  const cells = bar(share, width - widthOf(label), compactsAt === undefined ? undefined : compactsAt / limit)
  const near = isNearlyFull(status)
  const meter = cells.map((cell) => spanOf(cell, near ? "warn" : "muted"))
  return [[...meter, { text: label, ink: near ? "warn" : "plain" }], line]
}

/** Before the provider has reported any, what is reckoned lacks the system prompt and the tools: most of it, early on. */
function isReported({ context: { estimated, trend } }: Status): boolean {
  return !estimated || trend.length > 0
}

function rowLines({ name, text, tone, details }: Row, width: number): Line[] {
  const marked = tone === "warn" || tone === "bad"
  const head: Line = marked
    ? [
        { text: "• ", ink: tone },
        { text: fit(text, width - 2), ink: "plain" },
      ]
    : [{ text: fit(text, width), ink: "muted" }]
  const most = BELOW[name] ?? 0
  // of the model the first is the one that matters: why it does not work, else how fast it is
  const told = name === "digests" ? details.slice(0, 1) : details
  const [only = ""] = told
  const below = told.length === 1 ? wrap(only, width - 2, most) : told.slice(0, most).map((one) => fit(one, width - 2))
  return [head, ...below.map((text): Line => [{ text: `  ${text}`, ink: "muted" }])]
}

function spanOf({ text, part, onFill }: Cells, ink: Ink): Span {
  if (part === "fill") return { text, ink, on: "track" }
  return { text, ink: part, on: onFill ? "fill" : "track" }
}

/** Narrower terminals leave the prompt's line to what is wrong. */
const ROOMY = 100
/** And these to OpenCode, whose own words there would be broken into pieces. */
const CRAMPED = 60

/** In one line, for when the sidebar is not there; empty when there is nothing to say. */
export function summaryOf(seen: Seen, terminalWidth: number): Line {
  const status = statusNow(seen)
  if (!status || terminalWidth < CRAMPED) return []
  const { context, saved, folding, hud, failures, stale } = status
  const share = context.tokens / (context.limit ?? Number.POSITIVE_INFINITY)
  const said: (Span | false)[] = [
    isReported(status) && share >= 0.01 && { text: percent(share), ink: isNearlyFull(status) ? "warn" : "muted" },
    savesMoney(saved) && saved.share >= 0.01 && { text: `saved ${percent(saved.share)}`, ink: "muted" },
    folding.outputs > 0 && { text: folding.outputs === 1 ? "1 fold" : `${folding.outputs} folds`, ink: "muted" },
    stale.length > 0 && { text: `${stale.length} stale`, ink: "warn" },
    failures.length > 0 && { text: `${failures.length} failing`, ink: "bad" },
    hud.activity === "paused" && { text: "HUD paused", ink: "warn" },
    folding.activity === "paused" && { text: "folding paused", ink: "warn" },
  ]
  const spans = said.filter((span) => span !== false)
  const shown = terminalWidth >= ROOMY ? spans : spans.filter(({ ink }) => ink !== "muted")
  return shown.flatMap((span, at): Line => (at === 0 ? [span] : [{ text: " · ", ink: "muted" }, span]))
}
