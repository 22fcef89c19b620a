// The report's page: reads the embedded data and shows all sessions together or one of them.

import type { ReportData } from "../page.ts"
import type { SessionReport } from "../session.ts"
import { foldedCounts } from "../words.ts"
import { callView } from "./call-view.ts"
import { contextChart, markKey } from "./chart.ts"
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

const main = el("main", { tabindex: -1 })
const all = el("option", { value: "all" }, `All ${sessions.length} sessions`)
const each = sessions.map(({ title }, place) => el("option", { value: place }, title))
const chooser = el("select", { id: "session" }, all, ...each)
chooser.addEventListener("change", () => show(chooser.value === "all" ? "all" : Number(chooser.value)))

const choice = sessions.length > 1 ? el("label", {}, "Session ", chooser) : undefined
document.body.append(el("header", {}, el("h1", {}, "hudfold report"), choice), main)
show(sessions.length === 1 ? 0 : "all")

/** All sessions, or the one with this index. */
function show(which: "all" | number): void {
  chooser.value = `${which}`
  const session = which === "all" ? undefined : sessions[which]
  main.replaceChildren()
  if (session) drawSession(session)
  else drawAll()
  main.append(renderSources(report))
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
  const chart = contextChart(session, choose)
  const view = callView(session, choose)
  function choose(number: number): void {
    const call = Math.min(Math.max(1, number), replay.calls)
    view.show(call)
    chart.look(call)
  }
  // the chart's figures as a table, for readers who cannot see it
  const figures = disclosure("These figures as a table", () => renderCallTable(session))
  main.append(
    section("context", "Context of each call, in tokens", el("figure", {}, chart.element, markKey(session), figures)),
    section("looked", "What was sent with a call", view.element),
  )
  drawCosts([session])
  const goTo = (number: number) => {
    choose(number)
    document.getElementById("call")?.focus()
  }
  const folds = disclosure(`${foldedCounts(replay)}, and why each was folded`, () => renderFoldTable(session, goTo))
  if (session.folds.length > 0) main.append(section("folds", "Folds", folds))
  // the last call, since most is folded there
  choose(replay.calls)
}

function drawCosts(of: readonly SessionReport[]): void {
  const costs = of.flatMap(({ costs }) => costs)
  if (costs.length === 0) return
  main.append(section("costs", "What each tool and kind of text costs", renderCosts(costs)))
}
