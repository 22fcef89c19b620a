// One call of the session: a slider over the calls, the HUD that would have been sent with it, what was folded there, and
// what the agent did.

import { amount, dollars, finePercent, REASON_WORDS } from "../../text/format.ts"
import type { ReportedCall, SessionReport } from "../session.ts"
import { stepsAndOutputsOf } from "../words.ts"
import { button, disclosure, el } from "./dom.ts"

/** Folds that are listed; the rest is in a list that the reader can open. */
const MAX_FOLDS = 6

/** Calls `choose` for every call the reader goes to. */
export function callView({ calls, folds, startMs }: SessionReport, choose: (call: number) => void) {
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

  function show(call: number): void {
    now = call
    const one = calls[call - 1]
    if (!one) return
    const here = folds.filter((fold) => fold.call === call)
    const counts = stepsAndOutputsOf(here)
    const head = `call ${call} of ${last}`
    slider.value = `${call}`
    slider.setAttribute("aria-valuetext", `${head}, ${amount(one.with.tokens)} tokens, ${counts || "nothing"} folded`)
    place.textContent = head
    previous.disabled = call === 1
    next.disabled = call === last
    toFold.disabled = nextFold() === undefined
    facts.replaceChildren(...factsOf(one).map(([name, said]) => el("div", {}, el("dt", {}, name), el("dd", {}, said))))
    hud.replaceChildren(
      ...(one.hud ? marked(one.hud.text, calls[call - 2]?.hud?.text) : ["No new HUD is sent with this call."]),
    )
    const foldItems = here.map(({ kind, step, what, because, tokens }) => {
      const prefix = kind === "step" ? `step ${step} ` : undefined
      const why = el("span", { class: "faint" }, because)
      return el("li", {}, prefix, el("code", {}, what), `, ${amount(tokens)} tokens: `, why)
    })
    folded.replaceChildren(
      el("h3", {}, counts ? `Folded from this call on (${counts})` : "Nothing folded at this call"),
      ...(here[0] ? [el("p", { class: "faint" }, `${REASON_WORDS[here[0].reason]}: ${here[0].cutBecause}`)] : []),
      el("ul", {}, ...foldItems.slice(0, MAX_FOLDS)),
      ...(here.length > MAX_FOLDS
        ? [disclosure(`${here.length - MAX_FOLDS} more`, () => el("ul", {}, ...foldItems.slice(MAX_FOLDS)))]
        : []),
    )
    const toolItems = one.used.map(({ name, failed }) => el("li", {}, el("code", {}, name), failed && " failed"))
    tools.replaceChildren(
      el("h3", {}, toolItems.length > 0 ? `Tools used (${toolItems.length})` : "No tool was used"),
      el("ul", {}, ...toolItems),
    )
  }

  function factsOf({ seconds, without, with: sent, reported, saved, savedUsd, hud, compaction }: ReportedCall) {
    const time = startMs > 0 ? new Date(startMs + seconds * 1000).toLocaleString() : "unknown"
    const inTokens = `${amount(saved)} tokens at the fresh price`
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

  const buttons = el("span", { class: "buttons" }, previous, next, toFold)
  const head = el("div", { class: "slider" }, el("label", { for: "call" }, "Call"), slider, place, buttons)
  const note = "The HUD of this call. Highlighted lines are new since the previous call."
  const columns = el("div", { class: "columns" }, folded, tools)
  return { element: el("div", { class: "call" }, head, hud, el("p", { class: "faint" }, note), facts, columns), show }
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
