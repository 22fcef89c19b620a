// The report's page: reads the embedded data and shows all sessions together or one of them.

import "./locale.ts"
import type { ReportData, SessionReport } from "../report.ts"
import { foldedCounts } from "../words.ts"
import { callView } from "./call-view.ts"
import { type Chart, contextChart, markKey } from "./charts.ts"
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
let chart: Chart | undefined
/** makes the chart of the session that is shown */
let makeChart: (() => Chart) | undefined

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
new ResizeObserver(() => chart?.resize()).observe(main)
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart)
for (const [event, isPaper] of [
  ["beforeprint", true],
  ["afterprint", false],
] as const)
  addEventListener(event, () => {
    document.documentElement.classList.toggle("paper", isPaper)
    drawChart()
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
  makeChart = undefined
  const session = shown === "all" ? undefined : sessions[shown]
  main.replaceChildren()
  if (session) drawSession(session)
  else drawAll()
  main.append(renderSources(report))
  drawChart()
}

/** The chart takes its colours when it is made. */
function drawChart(): void {
  chart?.destroy()
  chart = makeChart?.()
  chart?.look(call)
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
    chart?.look(call)
  }
  const label = `Context over ${replay.calls} calls`
  const context = el("div", { class: "chart lines", role: "img", "aria-label": label })
  // the chart's figures as a table, for readers who cannot see it
  const figures = disclosure("These figures as a table", () => renderCallTable(session))
  main.append(
    section("context", "Context of each call, in tokens", el("figure", {}, context, markKey(session), figures)),
    section("looked", "What was sent with a call", view.element),
  )
  drawCosts([session])
  const goTo = (number: number) => {
    choose(number)
    document.getElementById("call")?.focus()
  }
  const folds = disclosure(`${foldedCounts(replay)}, and why each was folded`, () => renderFoldTable(session, goTo))
  if (session.folds.length > 0) main.append(section("folds", "Folds", folds))
  makeChart = () => contextChart(context, session, choose)
  view.show(call)
}

function drawCosts(of: readonly SessionReport[]): void {
  const costs = of.flatMap(({ costs }) => costs)
  if (costs.length === 0) return
  main.append(section("costs", "What each tool and kind of text costs", renderCosts(costs)))
}
