// The chart of the context over a session's calls, with marks for folds and compactions. It shows the call that is selected,
// and a click selects another one.

import { amount, plural, REASON_WORDS } from "../../text/format.ts"
import type { ReportedFold, SessionReport } from "../session.ts"
import { stepsAndOutputsOf } from "../words.ts"
import { el, svg } from "./dom.ts"

const LINES = [
  { of: "without", label: "without hudfold: the conversation, estimated", sign: "━" },
  { of: "with", label: "with hudfold: the same, with records and folds", sign: "━" },
  { of: "reported", label: "reported by the provider: the whole request, with system prompt and tools", sign: "┅" },
] as const

const HEIGHT = 260
/** Space around the lines, in pixels: for the labels of the axes, and below zero for the marks of the folds. */
const LEFT = 48
const RIGHT = 20
const TOP = 8
const LANE = 38
const BOTTOM = 24
/** Least distance between the labels of an axis, in pixels. */
const CALL_LABELS = 60
const TOKEN_LABELS = 28

export function contextChart({ calls, folds }: SessionReport, choose: (call: number) => void) {
  const lines = LINES.filter(({ of }) => calls.some((call) => call[of])).map((one) => ({ ...one, value: el("span") }))
  const most = Math.max(1, ...calls.flatMap((call) => lines.map(({ of }) => call[of]?.tokens ?? 0)))
  const legend = lines.map(({ of, label, sign, value }) =>
    el("li", {}, el("span", { class: `sign ${of}`, "aria-hidden": "true" }, sign), ` ${label}: `, value),
  )
  const name = `Context over ${plural(calls.length, "call")}`
  const picture = svg("svg", { role: "img", "aria-label": name, height: HEIGHT })
  const element = el("div", { class: "chart" }, picture, el("ul", {}, ...legend))
  const bottom = HEIGHT - BOTTOM
  const zero = bottom - LANE
  const y = (tokens: number) => zero - ((zero - TOP) * tokens) / most
  let right = LEFT
  // with half a call at both ends, for a compaction after the last one
  const x = (call: number) => LEFT + ((right - LEFT) * (call - 0.5)) / calls.length
  // a single call has no other one to draw a line to
  const ends = calls.length > 1 ? [0] : [-0.5, 0.5]
  const lineAt = (call: number) => `M${x(call)} ${TOP}V${bottom}`
  const compactions = calls.flatMap(({ compaction }, at) => (compaction ? [at + 1.5] : []))
  const mark = svg("path", { class: "chosen" })
  let chosen = 1

  function draw(): void {
    right = element.clientWidth - RIGHT
    const callLabels = ticks(calls.length, (right - LEFT) / CALL_LABELS).filter((call) => call > 0)
    picture.setAttribute("width", `${element.clientWidth}`)
    // on paper the drawing is scaled, since it is not drawn again there
    picture.setAttribute("viewBox", `0 0 ${element.clientWidth} ${HEIGHT}`)
    picture.replaceChildren(
      ...ticks(most, (zero - TOP) / TOKEN_LABELS).flatMap((tokens) => [
        svg("line", { x1: LEFT, x2: right, y1: y(tokens), y2: y(tokens) }),
        svg("text", { x: LEFT - 6, y: y(tokens) + 4, "text-anchor": "end" }, amount(tokens)),
      ]),
      ...callLabels.map((call) => svg("text", { x: x(call), y: HEIGHT - 6, "text-anchor": "middle" }, `${call}`)),
      ...lines.map(({ of }) => {
        const pointsAt = (call: number, tokens: number) => ends.map((end) => `${x(call + end)},${y(tokens)}`)
        const points = calls.flatMap((call, at) => (call[of] ? pointsAt(at + 1, call[of].tokens) : []))
        return svg("polyline", { class: of, points: points.join(" ") })
      }),
      ...compactions.map((call) => svg("path", { class: "compaction", d: lineAt(call) })),
      ...foldMarks(folds, x, zero),
      mark,
    )
    mark.setAttribute("d", lineAt(chosen))
  }

  picture.addEventListener("click", ({ clientX }) => {
    const share = (clientX - picture.getBoundingClientRect().left - LEFT) / (right - LEFT)
    choose(Math.round(share * calls.length + 0.5))
  })
  new ResizeObserver(draw).observe(element)
  return {
    element,
    /** Shows this call as the selected one. */
    look(call: number): void {
      chosen = call
      for (const { of, value } of lines) {
        const tokens = calls[call - 1]?.[of]?.tokens
        value.textContent = tokens === undefined ? "–" : amount(tokens)
      }
      mark.setAttribute("d", lineAt(call))
    },
  }
}

/** Round numbers from 0 to `most`, about `count` of them. */
function ticks(most: number, count: number): number[] {
  const least = most / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(least))
  const step = Math.max(1, power * ([1, 2, 5].find((one) => one * power >= least) ?? 10))
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step)
}

const MARK_SIZE = 4
/** Folds drawn for one call. */
const MAX_MARKS = 3

/** Folds differ by shape, so that they can be read without colour. */
function foldMarks(folds: readonly ReportedFold[], x: (call: number) => number, zero: number): SVGElement[] {
  const drawn = new Map<number, number>()
  return folds.flatMap(({ call, reason }) => {
    const above = drawn.get(call) ?? 0
    drawn.set(call, above + 1)
    if (above >= MAX_MARKS) return []
    const [cx, cy] = [x(call), zero + (above + 0.7) * (2 * MARK_SIZE + 3)]
    const triangle = `M${cx} ${cy - MARK_SIZE}l${MARK_SIZE} ${2 * MARK_SIZE}h${-2 * MARK_SIZE}z`
    return reason === "must"
      ? svg("path", { class: "fold", d: triangle })
      : svg("circle", { class: `fold ${reason}`, cx, cy, r: MARK_SIZE })
  })
}

/** The key to the marks. */
export function markKey({ folds, calls }: SessionReport): HTMLElement {
  const counts = (["free", "pays", "must"] as const).flatMap((reason) => {
    const made = folds.filter((fold) => fold.reason === reason)
    const sign = { free: "○", pays: "●", must: "▲" }[reason]
    return made.length > 0 ? [[sign, `${stepsAndOutputsOf(made)} folded ${REASON_WORDS[reason]}`, "fold"] as const] : []
  })
  const compactions = calls.flatMap(({ compaction }) => compaction ?? [])
  const avoided = compactions.filter((kind) => kind === "avoided").length
  const compacted = `${plural(compactions.length, "compaction")}${avoided > 0 ? `, ${avoided} avoided` : ""}`
  const marks = compactions.length > 0 ? [["┆", compacted, "compaction"] as const] : []
  const items = [...counts, ...marks].map(([sign, words, name]) =>
    el("li", {}, el("span", { class: `sign ${name}`, "aria-hidden": "true" }, sign), ` ${words}`),
  )
  return el("ul", { class: "key" }, ...(items.length > 0 ? items : [el("li", {}, "nothing folded")]))
}
