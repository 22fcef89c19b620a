// Folds and compactions on the context's chart. Told apart by shape, so that no colour has to be seen.

import type uPlot from "uplot"
import type { Reason } from "../../fold/fold.ts"
import type { SessionReport } from "../report.ts"
import { el } from "./dom.ts"
import { colour } from "./theme.ts"

export const REASONS: Record<Reason, string> = { free: "at no cost", pays: "to save", must: "to make room" }

const SIZE = 4
/** More folds in one call are drawn as so many. */
const MOST = 3

export function drawMarks(u: uPlot, { compactions, folds }: SessionReport): void {
  const { ctx, bbox } = u
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour("mark")
  ctx.lineWidth = 1.5 * scale
  ctx.setLineDash([5 * scale, 4 * scale])
  for (const [call] of compactions) {
    const x = Math.round(u.valToPos(call + 0.5, "x", true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.setLineDash([])
  ctx.strokeStyle = ctx.fillStyle = colour("with")
  const stacked = new Map<number, number>()
  for (const { call, reason } of folds) {
    const below = stacked.get(call) ?? 0
    stacked.set(call, below + 1)
    if (below >= MOST) continue
    const x = u.valToPos(call, "x", true)
    const y = bbox.top + bbox.height - (SIZE + 3 + below * (2 * SIZE + 3)) * scale
    drawMark(ctx, reason, x, y, SIZE * scale)
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

/** What the marks mean. */
export function markKey({ folds, compactions }: SessionReport): HTMLElement {
  const counts = (["free", "pays", "must"] as const).flatMap((reason) => {
    const number = folds.filter((fold) => fold.reason === reason).length
    const sign = { free: "○", pays: "●", must: "▲" }[reason]
    return number > 0 ? [[sign, `${number} folded ${REASONS[reason]}`, "fold"] as const] : []
  })
  const marks = compactions.length > 0 ? [["┆", compacted(compactions), "compaction"] as const] : []
  const items = [...counts, ...marks].map(([sign, words, name]) =>
    el("li", {}, el("span", { class: `sign ${name}`, "aria-hidden": "true" }, sign), ` ${words}`),
  )
  return el("ul", { class: "key" }, ...(items.length > 0 ? items : [el("li", {}, "nothing folded")]))
}

function compacted(compactions: SessionReport["compactions"]): string {
  const avoided = compactions.filter(([, kind]) => kind === "avoided").length
  return `${compactions.length} compacted${avoided > 0 ? `, ${avoided} avoided` : ""}`
}
