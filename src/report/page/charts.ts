// The charts over a session's calls, with marks for folds and compactions. All show the call that is selected, and a click
// selects another one.

import uPlot from "uplot"
import type { Reason } from "../../fold/fold.ts"
import type { CompactionKind } from "../../replay/compactions.ts"
import { amount, plural, REASON_WORDS, stepsAndOutputs } from "../../text/format.ts"
import type { ReportedCall, SessionReport } from "../report.ts"
import { type Colour, colour, el } from "./dom.ts"

export type Chart = ReturnType<typeof plot>

type ChartLine = {
  label: string
  values: readonly (number | null)[]
  stroke: Colour
  /** colour of the area under the line */
  fill?: Colour
  width?: number
  dash?: number[]
  /** what the legend shows at a call, if not the value */
  say?: (at: number) => number
}

const CONTEXT_HEIGHT = 260
const CACHE_HEIGHT = 190
/** Space below the lines for the marks of the folds, as a share of the height. */
const LANE = 0.18

const REPORTED = "reported by the provider: the whole request, with system prompt and tools"

/** The context with and without the plugin, and as reported, with folds and compactions. */
export function contextChart(box: HTMLElement, session: SessionReport, choose: (call: number) => void): Chart {
  const { calls } = session
  const lines: ChartLine[] = [
    {
      label: "without hudfold: the conversation, estimated",
      values: sizes(calls, "without"),
      stroke: "without",
      width: 2,
    },
    { label: "with hudfold: the same, with records and folds", values: sizes(calls, "with"), stroke: "with", width: 2 },
  ]
  if (calls.some(({ reported }) => reported))
    lines.push({ label: REPORTED, values: sizes(calls, "reported"), stroke: "reported", width: 1, dash: [3, 3] })
  return plot(box, session, lines, choose, { height: CONTEXT_HEIGHT, hasMarks: true })
}

function sizes(calls: readonly ReportedCall[], of: "without" | "with" | "reported"): (number | null)[] {
  return calls.map((call) => call[of]?.tokens ?? null)
}

/** The cached and the fresh tokens of each request, on a common scale for both sides. */
export function cacheChart(
  box: HTMLElement,
  session: SessionReport,
  side: "with" | "without",
  choose: (call: number) => void,
): Chart {
  const { calls } = session
  const cached = calls.map((call) => call[side].cached)
  const fresh = calls.map((call) => call[side].tokens - call[side].cached)
  const lines: ChartLine[] = [
    { label: "fresh", values: sizes(calls, side), stroke: side, fill: side, say: (at) => fresh[at] ?? 0 },
    { label: "cached", values: cached, stroke: `${side}-light`, fill: `${side}-light` },
  ]
  const most = Math.max(...calls.flatMap((call) => [call.with.tokens, call.without.tokens]))
  return plot(box, session, lines, choose, { height: CACHE_HEIGHT, most })
}

/** Omits the axis labels in the lane of the marks, which is below zero. */
const NO_LANE = (_: uPlot, at: number[]) => at.map((one) => (one < 0 ? null : one))

/** Otherwise uPlot swallows clicks after the pointer has moved. */
const NO_DRAG: uPlot.Cursor.Drag = { x: false, y: false, click: () => {} }

type Look = { height: number; hasMarks?: boolean; most?: number }

function plot(
  box: HTMLElement,
  session: SessionReport,
  lines: readonly ChartLine[],
  choose: (call: number) => void,
  { height, hasMarks = false, most }: Look,
) {
  const numbers = session.calls.map((_, at) => at + 1)
  let chosen = 1
  const options: uPlot.Options = {
    ...{ width: box.clientWidth, height },
    scales: {
      // with space for a compaction after the last call
      x: { time: false, range: () => [0.5, numbers.length + 0.5] },
      y: { range: (_, __, max) => [hasMarks ? -LANE * max : 0, (most ?? max) * 1.05 || 1] },
    },
    axes: [
      {
        ...axis(),
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
        values: (_, at) => at.map(String),
        size: 32,
      },
      { ...axis(), values: (_, at) => at.map((one) => (one === null ? "" : amount(one))), filter: NO_LANE, size: 52 },
    ],
    series: [
      { label: "call", value: (_, call) => (call === null ? "" : String(call)) },
      ...lines.map(
        ({ label, stroke, fill, width = 1, dash, say }): uPlot.Series => ({
          ...{ label, width, stroke: colour(stroke), points: { show: numbers.length < 2 }, spanGaps: true },
          ...(fill ? { fill: colour(fill) } : {}),
          ...(dash ? { dash } : {}),
          value: (_, value, __, at) => (at === null || value === null ? "–" : amount(say ? say(at) : value)),
        }),
      ),
    ],
    cursor: { y: false, drag: NO_DRAG, sync: { key: "calls" }, points: { size: 7 } },
    hooks: {
      ready: [settle],
      setCursor: [settle],
      draw: [
        (u) => {
          if (hasMarks) drawMarks(u, session)
          drawChosen(u, chosen)
        },
      ],
    },
  }
  /** While the pointer is outside the chart, the legend shows the selected call. */
  function settle(u: uPlot): void {
    if (u.cursor.idx == null) u.setLegend({ idx: chosen - 1 }, false)
  }
  const u = new uPlot(options, [numbers, ...lines.map(({ values }) => values as (number | null)[])], box)
  u.over.addEventListener("click", ({ offsetX }) => choose(u.posToIdx(offsetX) + 1))
  return {
    look(call: number): void {
      chosen = call
      u.redraw(false)
      settle(u)
    },
    resize: () => u.setSize({ width: box.clientWidth, height }),
    destroy: () => u.destroy(),
  }
}

function axis(): uPlot.Axis {
  const line = colour("line")
  return {
    stroke: colour("faint"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  }
}

function drawChosen(u: uPlot, call: number): void {
  u.ctx.save()
  u.ctx.strokeStyle = colour("text")
  u.ctx.setLineDash([])
  u.ctx.lineWidth = devicePixelRatio
  drawVertical(u, call)
  u.ctx.restore()
}

function drawVertical({ ctx, bbox, valToPos }: uPlot, call: number): void {
  const x = Math.round(valToPos(call, "x", true))
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
}

const MARK_SIZE = 4
/** Folds drawn for one call. */
const MAX_MARKS = 3

/** Folds differ by shape, so that they can be read without colour. */
function drawMarks(u: uPlot, { calls, folds }: SessionReport): void {
  const { ctx, bbox } = u
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour("mark")
  ctx.lineWidth = 1.5 * scale
  ctx.setLineDash([5 * scale, 4 * scale])
  for (const [at, { compaction }] of calls.entries()) if (compaction) drawVertical(u, at + 1.5)
  ctx.setLineDash([])
  ctx.strokeStyle = ctx.fillStyle = colour("with")
  const stacked = new Map<number, number>()
  for (const { call, reason } of folds) {
    const below = stacked.get(call) ?? 0
    stacked.set(call, below + 1)
    if (below >= MAX_MARKS) continue
    const x = u.valToPos(call, "x", true)
    const y = bbox.top + bbox.height - (MARK_SIZE + 3 + below * (2 * MARK_SIZE + 3)) * scale
    drawMark(ctx, reason, x, y, MARK_SIZE * scale)
  }
  ctx.restore()
}

function drawMark(ctx: CanvasRenderingContext2D, reason: Reason, x: number, y: number, size: number): void {
  ctx.beginPath()
  if (reason === "must") {
    ctx.moveTo(x, y - size)
    ctx.lineTo(x + size, y + size)
    ctx.lineTo(x - size, y + size)
    ctx.closePath()
  } else ctx.arc(x, y, size, 0, 2 * Math.PI)
  if (reason === "free") ctx.stroke()
  else ctx.fill()
}

/** The key to the marks. */
export function markKey({ folds, calls }: SessionReport): HTMLElement {
  const counts = (["free", "pays", "must"] as const).flatMap((reason) => {
    const made = folds.filter((fold) => fold.reason === reason)
    const steps = made.filter(({ side }) => side === "step").length
    const words = stepsAndOutputs({ steps, outputs: made.length - steps })
    const sign = { free: "○", pays: "●", must: "▲" }[reason]
    return made.length > 0 ? [[sign, `${words} folded ${REASON_WORDS[reason]}`, "fold"] as const] : []
  })
  const compactions = calls.flatMap(({ compaction }) => compaction ?? [])
  const marks = compactions.length > 0 ? [["┆", compacted(compactions), "compaction"] as const] : []
  const items = [...counts, ...marks].map(([sign, words, name]) =>
    el("li", {}, el("span", { class: `sign ${name}`, "aria-hidden": "true" }, sign), ` ${words}`),
  )
  return el("ul", { class: "key" }, ...(items.length > 0 ? items : [el("li", {}, "nothing folded")]))
}

function compacted(compactions: readonly CompactionKind[]): string {
  const avoided = compactions.filter((kind) => kind === "avoided").length
  return `${plural(compactions.length, "compaction")}${avoided > 0 ? `, ${avoided} avoided` : ""}`
}
