// The chart of the context over a session's calls, with marks for folds and compactions. It shows the call that is selected,
// and a click selects another one.

import uPlot from "uplot"
import type { Reason } from "../../fold/fold.ts"
import type { CompactionKind } from "../../replay/compactions.ts"
import { amount, plural, REASON_WORDS, stepsAndOutputs } from "../../text/format.ts"
import type { SessionReport } from "../report.ts"
import { colour, el } from "./dom.ts"

export type Chart = ReturnType<typeof contextChart>

type ChartLine = Pick<uPlot.Series, "width" | "dash"> & {
  label: string
  of: "without" | "with" | "reported"
}

const HEIGHT = 260
/** Space below the lines for the marks of the folds, as a share of the height. */
const LANE = 0.18

const LINES: readonly ChartLine[] = [
  { of: "without", label: "without hudfold: the conversation, estimated", width: 2 },
  { of: "with", label: "with hudfold: the same, with records and folds", width: 2 },
  {
    of: "reported",
    label: "reported by the provider: the whole request, with system prompt and tools",
    width: 1,
    dash: [3, 3],
  },
]

/** Omits the axis labels in the lane of the marks, which is below zero. */
const NO_LANE = (_: uPlot, at: number[]) => at.map((one) => (one < 0 ? null : one))

/** Otherwise uPlot swallows clicks after the pointer has moved. */
const NO_DRAG: uPlot.Cursor.Drag = { x: false, y: false, click: () => {} }

/** The context with and without the plugin, and as reported, with folds and compactions. */
export function contextChart(box: HTMLElement, session: SessionReport, choose: (call: number) => void) {
  const { calls } = session
  const lines = LINES.filter(({ of }) => calls.some((call) => call[of]))
  const sizes = lines.map(({ of }) => calls.map((call) => call[of]?.tokens ?? null))
  let chosen = 1
  const options: uPlot.Options = {
    ...{ width: box.clientWidth, height: HEIGHT },
    scales: {
      // with space for a compaction after the last call
      x: { time: false, range: () => [0.5, calls.length + 0.5] },
      y: { range: (_, __, max) => [-LANE * max, max * 1.05 || 1] },
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
        ({ of, ...line }): uPlot.Series => ({
          ...{ ...line, stroke: colour(of), points: { show: calls.length < 2 }, spanGaps: true },
          value: (_, tokens) => (tokens === null ? "–" : amount(tokens)),
        }),
      ),
    ],
    cursor: { y: false, drag: NO_DRAG, points: { size: 7 } },
    hooks: {
      ready: [settle],
      setCursor: [settle],
      draw: [
        (u) => {
          drawMarks(u, session)
          drawChosen(u, chosen)
        },
      ],
    },
  }
  /** While the pointer is outside the chart, the legend shows the selected call. */
  function settle(u: uPlot): void {
    if (u.cursor.idx == null) u.setLegend({ idx: chosen - 1 }, false)
  }
  const u = new uPlot(options, [calls.map((_, at) => at + 1), ...sizes], box)
  u.over.addEventListener("click", ({ offsetX }) => choose(u.posToIdx(offsetX) + 1))
  return {
    look(call: number): void {
      chosen = call
      u.redraw(false)
      settle(u)
    },
    resize: () => u.setSize({ width: box.clientWidth, height: HEIGHT }),
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
