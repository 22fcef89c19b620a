// One call of the session: a slider over the calls, the HUD that would have been sent with it, the request with its records,
// and what the agent did.

import { amount, dollars, finePercent, plural, REASON_WORDS, stepRange, stepsAndOutputs } from "../../text/format.ts"
import type { ReportedCall, ReportedFold, SessionReport } from "../report.ts"
import { signedAmount } from "../words.ts"
import { button, disclosure, el } from "./dom.ts"

/** Folds that are listed; the rest is in a list that the reader can open. */
const MAX_FOLDS = 6

/** Calls `choose` for every call the reader goes to. */
export function callView(session: SessionReport, choose: (call: number) => void) {
  const { calls, folds, startMs } = session
  const last = calls.length
  let now = 1
  const slider = el("input", { type: "range", id: "call", min: 1, max: last, step: 1, value: 1 })
  slider.addEventListener("input", () => choose(slider.valueAsNumber))
  const nextFold = () => folds.find(({ call }) => call > now)?.call
  const previous = button("Previous", () => choose(now - 1))
  const next = button("Next", () => choose(now + 1))
  const toFold = button("Next fold", () => choose(nextFold() ?? now))
  const place = el("output", { for: "call", id: "place" })
  const facts = el("dl", { class: "facts" })
  const hud = el("pre", { id: "hud", role: "region", "aria-label": "HUD of this call" })
  const folded = el("div", { id: "folded" })
  const tools = el("div", { id: "tools" })
  const items = el("ol", {})
  const itemCount = el("summary", {})
  const sent = el("details", { id: "sent" }, itemCount, items)

  function show(call: number): void {
    now = call
    const one = calls[call - 1]
    if (!one) return
    const here = folds.filter((fold) => fold.call === call)
    const head = `call ${call} of ${last}`
    slider.value = `${call}`
    slider.setAttribute(
      "aria-valuetext",
      `${head}, ${amount(one.with.tokens)} tokens, ${countsOf(here) || "nothing"} folded`,
    )
    place.textContent = head
    previous.disabled = call === 1
    next.disabled = call === last
    toFold.disabled = nextFold() === undefined
    facts.replaceChildren(...factsOf(one).map(([name, said]) => el("div", {}, el("dt", {}, name), el("dd", {}, said))))
    hud.replaceChildren(
      ...(one.hud ? marked(one.hud.text, calls[call - 2]?.hud?.text) : ["No HUD is sent with this call."]),
    )
    const foldItems = here.map(({ side, step, what, because, tokens }) => {
      const prefix = side === "step" ? `step ${step} ` : undefined
      const why = el("span", { class: "faint" }, because)
      return el("li", {}, prefix, el("code", {}, what), `, ${amount(tokens)} tokens: `, why)
    })
    folded.replaceChildren(
      el("h3", {}, here.length > 0 ? `Folded from this call on (${countsOf(here)})` : "Nothing folded at this call"),
      ...(here[0] ? [el("p", { class: "faint" }, `${REASON_WORDS[here[0].reason]}: ${here[0].cut}`)] : []),
      el("ul", {}, ...foldItems.slice(0, MAX_FOLDS)),
      ...(here.length > MAX_FOLDS
        ? [disclosure(`${here.length - MAX_FOLDS} more`, () => el("ul", {}, ...foldItems.slice(MAX_FOLDS)))]
        : []),
    )
    items.replaceChildren(...requestItems(session, call).map((item) => el("li", {}, item)))
    itemCount.textContent = `The request as it is sent with hudfold, ${plural(items.childElementCount, "item")}`
    const toolItems = one.used.map(({ name, failed }) => el("li", {}, el("code", {}, name), failed && " failed"))
    tools.replaceChildren(
      el("h3", {}, toolItems.length > 0 ? `Tools used (${toolItems.length})` : "No tool was used"),
      el("ul", {}, ...toolItems),
    )
  }

  function factsOf({ seconds, without, with: sent, reported, saved, savedUsd, hud, compaction }: ReportedCall) {
    const time = startMs > 0 ? new Date(startMs + seconds * 1000).toLocaleString() : "unknown"
    const inTokens = `${signedAmount(saved)} tokens at the fresh price`
    const facts: ([name: string, said: string] | undefined)[] = [
      ["time", time],
      ["without hudfold", sized(without)],
      ["with hudfold", sized(sent)],
      reported && ["reported", sized(reported)],
      ["saved here", savedUsd === undefined ? inTokens : dollars(savedUsd)],
      ["HUD", `${hud?.tokens ?? 0} tokens`],
      compaction && ["afterwards", COMPACTED[compaction]],
    ]
    return facts.filter((fact) => fact !== undefined)
  }

  const element = el(
    "div",
    { class: "call" },
    el(
      "div",
      { class: "slider" },
      el("label", { for: "call" }, "Call"),
      slider,
      place,
      el("span", { class: "buttons" }, previous, next, toFold),
    ),
    hud,
    el("p", { class: "faint" }, "The HUD of this call. Highlighted lines are new since the previous call."),
    facts,
    el("div", { class: "columns" }, folded, tools),
    sent,
  )
  return { element, show }
}

function countsOf(folds: readonly ReportedFold[]): string {
  const steps = folds.filter(({ side }) => side === "step").length
  return stepsAndOutputs({ steps, outputs: folds.length - steps })
}

/** A request in a few items: the user's messages, the steps that stay, and the records in their places. */
function requestItems({ folds, calls }: SessionReport, call: number): (Node | string)[] {
  const first = calls[call - 1]?.first ?? 1
  const records = calls.slice(0, call).findLast((one) => one.records)?.records ?? []
  const sent = folds.filter((fold) => fold.call <= call)
  // of a step that was folded again, the last fold counts
  const steps = new Map(sent.flatMap((fold) => (fold.side === "step" ? [[fold.step, fold] as const] : [])))
  const isAsked = (step: number) => calls[step - 1]?.isAsked === true
  const items: (Node | string)[] = []
  for (let step = first; step < call; ) {
    if (isAsked(step)) items.push(USER)
    const [from, to] = records.find(([from]) => from === step) ?? []
    if (from !== undefined && to !== undefined) {
      const run = Array.from({ length: to - from + 1 }, (_, i) => steps.get(from + i)).filter((fold) => !!fold)
      items.push(recordItem(stepRange(from, to), run))
      step = to + 1
      continue
    }
    const start = step
    do step++
    while (step < call && !isAsked(step) && !records.some(([from]) => from === step))
    const outputs = sent.filter((fold) => fold.side === "output" && fold.step >= start && fold.step < step)
    items.push(keptItem(stepRange(start, step - 1), outputs))
  }
  return isAsked(call) ? [...items, USER] : items
}

const USER = "the user's message"

function recordItem(range: string, run: readonly ReportedFold[]): HTMLElement {
  const sum = (name: "tokens" | "textTokens") => amount(run.reduce((total, fold) => total + fold[name], 0))
  const text = run.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n")
  return disclosure(`${range} as a record, ${sum("tokens")} → ${sum("textTokens")} tokens`, () => el("pre", {}, text))
}

function keptItem(range: string, outputs: readonly ReportedFold[]): Node | string {
  if (outputs.length === 0) return `${range}, verbatim`
  const lines = outputs.map(({ step, what, text }) => `step ${step} ${what}\n  ${text}`).join("\n")
  return disclosure(`${range}, ${plural(outputs.length, "output")} as digest lines`, () => el("pre", {}, lines))
}

const COMPACTED = {
  asked: "compacted by the user",
  automatic: "compacted by OpenCode",
  avoided: "compacted by OpenCode; with hudfold it would not have been due yet",
}

function sized({ tokens, cached }: ReportedCall["with"]): string {
  return `${amount(tokens)} tokens, ${finePercent(cached / tokens)} cached`
}

/** The lines of a HUD, with those marked that the previous one does not have. */
function marked(text: string, before: string | undefined): (Node | string)[] {
  const known = new Set(before?.split("\n"))
  return text.split("\n").flatMap((line, at) => {
    const isNew = before !== undefined && !known.has(line)
    return [...(at > 0 ? ["\n"] : []), isNew ? el("mark", {}, line) : line]
  })
}
