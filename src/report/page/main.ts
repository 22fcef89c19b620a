// The report's page: reads the embedded data and shows all sessions together or one of them.

import "./locale.ts"
import type { ReportData, SessionReport } from "../report.ts"
import { foldedCounts } from "../words.ts"
import { callView } from "./call-view.ts"
import { type Chart, cacheChart, contextChart, markKey } from "./charts.ts"
import { disclosure, el, section } from "./dom.ts"
import {
  renderCallTable,
  renderCosts,
  renderFoldTable,
  renderGroups,
  renderSessionTable,
  renderSources,
  renderSummary,
} from "./tables.ts"

const report = JSON.parse(document.getElementById("data")?.textContent ?? "") as ReportData
const { sessions } = report

/** "all", or the index of a session */
let shown: "all" | number = sessions.length === 1 ? 0 : "all"
let call = 1
let charts: Chart[] = []
let chartsOf: () => Chart[] = () => []

const main = el("main", { tabindex: -1 })
const chooser = el(
  "select",
  { id: "session" },
  el("option", { value: "all" }, `All ${sessions.length} sessions`),
  ...sessions.map(({ title }, place) => el("option", { value: place }, title)),
)
chooser.addEventListener("change", () => show(chooser.value === "all" ? "all" : Number(chooser.value)))

document.body.append(
  el(
    "header",
    {},
    el("h1", {}, "hudfold report"),
    sessions.length > 1 ? el("label", {}, "Session ", chooser) : undefined,
  ),
  main,
)
new ResizeObserver(() => {
  for (const chart of charts) chart.resize()
}).observe(main)
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts)
for (const [event, isPaper] of [
  ["beforeprint", true],
  ["afterprint", false],
] as const)
  addEventListener(event, () => {
    document.documentElement.classList.toggle("paper", isPaper)
    drawCharts()
  })
show(shown)

function show(which: "all" | number): void {
  shown = which
  chooser.value = `${which}`
  // the last call, since most is folded there
  call = which === "all" ? 1 : Math.max(1, sessions[which]?.calls.length ?? 1)
  draw()
}

function draw(): void {
  chartsOf = () => []
  const session = shown === "all" ? undefined : sessions[shown]
  main.replaceChildren()
  if (session) drawSession(session)
  else drawAll()
  main.append(renderSources(report))
  drawCharts()
}

/** Charts take their colours when they are made. */
function drawCharts(): void {
  for (const chart of charts) chart.destroy()
  charts = chartsOf()
  for (const chart of charts) chart.look(call)
}

function drawAll(): void {
  const table = renderSessionTable(sessions, (place) => {
    show(place)
    main.focus()
    scrollTo(0, 0)
  })
  main.append(renderSummary(sessions.map(({ replay }) => replay)))
  main.append(section("groups", "By project, model, day and month", renderGroups(sessions)))
  main.append(section("sessions", "Sessions", table))
  drawCosts(sessions)
}

function drawSession(session: SessionReport): void {
  const { title, project, models, replay } = session
  main.append(
    el("p", { class: "title" }, title),
    el("p", { class: "faint" }, [project, ...models].filter((name) => name !== "").join(" · ")),
    renderSummary([replay]),
  )
  if (replay.calls === 0) return
  const view = callView(session, choose)
  function choose(number: number): void {
    call = Math.min(Math.max(1, number), replay.calls)
    view.show(call)
    for (const chart of charts) chart.look(call)
  }
  const context = chartBox(`Context over ${replay.calls} calls`)
  const without = chartBox("Cached and fresh tokens of each request, as recorded")
  const sent = chartBox("Cached and fresh tokens of each request, with hudfold")
  context.classList.add("lines")
  // the chart's figures as a table, for readers who cannot see it
  const figures = disclosure("These figures as a table", () => renderCallTable(session))
  main.append(
    section("context", "Context of each call, in tokens", el("figure", {}, context, markKey(session), figures)),
    section("looked", "What was sent with a call", view.element),
    section(
      "cache",
      "Cached and fresh, in tokens",
      el(
        "div",
        { class: "columns" },
        el("figure", {}, el("figcaption", {}, "Without hudfold"), without),
        el("figure", {}, el("figcaption", {}, "With hudfold"), sent),
      ),
    ),
  )
  drawCosts([session])
  const goTo = (number: number) => {
    choose(number)
    document.getElementById("call")?.focus()
  }
  const folds = disclosure(`${foldedCounts(replay)}, and why each was folded`, () => renderFoldTable(session, goTo))
  if (session.folds.length > 0) main.append(section("folds", "Folds", folds))
  chartsOf = () => [
    contextChart(context, session, choose),
    cacheChart(without, session, "without", choose),
    cacheChart(sent, session, "with", choose),
  ]
  view.show(call)
}

function drawCosts(of: readonly SessionReport[]): void {
  const costs = of.flatMap(({ costs }) => costs)
  if (costs.length === 0) return
  main.append(section("kinds", "What each kind costs", renderCosts(costs, "kind")))
  if (costs.some(({ tool }) => tool !== ""))
    main.append(section("tools-cost", "What each tool costs", renderCosts(costs, "tool")))
}

function chartBox(label: string): HTMLElement {
  return el("div", { class: "chart", role: "img", "aria-label": label })
}
