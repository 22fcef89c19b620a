// The charts over a session's calls: one plot each, in step with the call that is looked at. A click chooses a call.

import uPlot from "uplot"
import { amount } from "../../text/text.ts"
import type { SessionReport } from "../report.ts"
import { drawMarks } from "./marks.ts"
import { type Colour, colour } from "./theme.ts"

export type Chart = {
  /** Shows which call, from 1, is looked at. */
  look(call: number): void
  resize(): void
  destroy(): void
}

type Line = {
  label: string
  values: readonly (number | null)[]
  stroke: Colour
  /** colour under the line */
  fill?: Colour
  width?: number
  dash?: number[]
  /** what the legend says at a call, where it is not the value */
  say?: (at: number) => number
}

const HEIGHT = 260
const LOW = 190
/** Room under the lines for the marks of the folds, as a part of the height. */
const LANE = 0.18

/** The context with and without the plugin, and as reported; with the folds and compactions on it. */
export function contextChart(box: HTMLElement, session: SessionReport, choose: (call: number) => void): Chart {
  const { calls } = session
  const lines: Line[] = [
    { label: "without", values: calls.without, stroke: "without", width: 2 },
    { label: "with the plugin", values: calls.with, stroke: "with", width: 2 },
  ]
  if (calls.reported.some((tokens) => tokens !== null))
    lines.push({ label: "reported", values: calls.reported, stroke: "reported", width: 1, dash: [3, 3] })
  return plot(box, session, lines, choose, { height: HEIGHT, hasMarks: true })
}

/** What of each request came from the cache, and what was fresh, on a scale common to both sides. */
export function cacheChart(
  box: HTMLElement,
  session: SessionReport,
  side: "with" | "without",
  choose: (call: number) => void,
): Chart {
  const { calls } = session
  const whole = calls[side]
  const cached = calls[`${side}Cached`]
  const lines: Line[] = [
    { label: "fresh", values: whole, stroke: side, fill: side, say: (at) => (whole[at] ?? 0) - (cached[at] ?? 0) },
    { label: "cached", values: cached, stroke: `${side}-light`, fill: `${side}-light` },
  ]
  return plot(box, session, lines, choose, { height: LOW, most: Math.max(...calls.with, ...calls.without) })
}

/** Else uPlot swallows clicks before which the pointer moved. */
const NO_DRAG: uPlot.Cursor.Drag = { x: false, y: false, click: () => {} }

type Look = { height: number; hasMarks?: boolean; most?: number }

function plot(
  box: HTMLElement,
  session: SessionReport,
  lines: readonly Line[],
  choose: (call: number) => void,
  { height, hasMarks = false, most }: Look,
): Chart {
  const numbers = session.calls.with.map((_, at) => at + 1)
  let chosen = 1
  const options: uPlot.Options = {
    ...{ width: box.clientWidth, height },
    scales: {
      // room for a compaction after the last call
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
      { ...axis(), values: (_, at) => at.map((one) => (one === null ? "" : amount(one))), filter: fromZero, size: 52 },
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
  /** Away from the chart the legend tells of the call that is looked at. */
  function settle(u: uPlot): void {
    if (u.cursor.idx == null) u.setLegend({ idx: chosen - 1 }, false)
  }
  const u = new uPlot(options, [numbers, ...lines.map(({ values }) => values as (number | null)[])], box)
  u.over.addEventListener("click", ({ offsetX }) => choose(u.posToIdx(offsetX) + 1))
  return {
    look(call) {
      chosen = call
      u.redraw(false)
      settle(u)
    },
    resize: () => u.setSize({ width: box.clientWidth, height }),
    destroy: () => u.destroy(),
  }
}

export function axis(): uPlot.Axis {
  const line = colour("line")
  return {
    stroke: colour("faint"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
  }
}

/** The lane of the marks is below zero, where no tokens are. */
function fromZero(_: uPlot, at: number[]): (number | null)[] {
  return at.map((one) => (one < 0 ? null : one))
}

function drawChosen({ ctx, bbox, valToPos }: uPlot, call: number): void {
  const x = Math.round(valToPos(call, "x", true))
  ctx.save()
  ctx.strokeStyle = colour("text")
  ctx.setLineDash([])
  ctx.lineWidth = devicePixelRatio
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
  ctx.restore()
}
