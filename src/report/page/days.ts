// Savings by day over all sessions that are shown, in the reader's time zone.

import uPlot from "uplot"
import type { SessionReport } from "../report.ts"
import { signed } from "../words.ts"
import { axis, type Chart } from "./charts.ts"
import { colour } from "./dom.ts"

export type Day = { date: Date; calls: number; saved: number; usd: number | undefined }

const HEIGHT = 200

/** Days with calls, oldest first; money only if every call of the day has a price. */
export function daysOf(sessions: readonly SessionReport[]): Day[] {
  const days = new Map<number, Day>()
  for (const { calls, startMs } of sessions) {
    if (startMs === 0) continue
    calls.saved.forEach((saved, at) => {
      const date = new Date(startMs + (calls.seconds[at] ?? 0) * 1000)
      date.setHours(0, 0, 0, 0)
      const day = days.get(date.getTime()) ?? { date, calls: 0, saved: 0, usd: 0 }
      days.set(date.getTime(), day)
      const microUsd = calls.savedMicroUsd?.[at]
      day.calls++
      day.saved += saved
      day.usd = day.usd === undefined || microUsd === undefined ? undefined : day.usd + microUsd / 1e6
    })
  }
  return [...days.values()].sort((a, b) => a.date.getTime() - b.date.getTime())
}

export function dayName({ date }: Day): string {
  return date.toLocaleDateString(undefined, { weekday: "short", year: "numeric", month: "short", day: "numeric" })
}

export function daysChart(box: HTMLElement, days: readonly Day[]): Chart {
  const short = (at: number) => days[at]?.date.toLocaleDateString(undefined, { month: "short", day: "numeric" }) ?? ""
  const bars = uPlot.paths.bars?.({ size: [0.7, 60] })
  const options: uPlot.Options = {
    ...{ width: box.clientWidth, height: HEIGHT },
    scales: {
      x: { time: false, range: () => [-0.6, Math.max(1, days.length) - 0.4] },
      y: { range: (_, min, max) => [Math.min(0, min * 1.1), Math.max(0, max * 1.1) || 1] },
    },
    axes: [
      {
        ...axis(),
        ...{ incrs: [1, 2, 7, 14, 28], space: 60, size: 32, grid: { show: false } },
        values: (_, at) => at.map((one) => (Number.isInteger(one) ? short(one) : "")),
      },
      { ...axis(), values: (_, at) => at.map(signed), size: 52 },
    ],
    series: [
      { label: "day", value: (_, at) => (at === null || !days[at] ? "–" : dayName(days[at])) },
      {
        ...{ label: "saved", stroke: colour("with"), fill: colour("with"), width: 0, points: { show: false } },
        ...(bars ? { paths: bars } : {}),
        value: (_, saved) => (saved === null ? "–" : `${signed(saved)} fresh tokens' worth`),
      },
    ],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { ready: [settle], setCursor: [settle] },
  }
  /** While the pointer is outside the chart, the legend shows the newest day. */
  function settle(u: uPlot): void {
    if (u.cursor.idx == null) u.setLegend({ idx: days.length - 1 }, false)
  }
  const u = new uPlot(options, [days.map((_, at) => at), days.map(({ saved }) => saved)], box)
  return {
    look() {},
    resize: () => u.setSize({ width: box.clientWidth, height: HEIGHT }),
    destroy: () => u.destroy(),
  }
}
