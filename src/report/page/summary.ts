// What is seen at a glance: the headline and a row of figures, of one session or of all.

import type { Replay } from "../../replay/replay.ts"
import { count, percent, savedCost } from "../../replay/saved.ts"
import { amount } from "../../text/text.ts"
import { headline, money, per100, savedShare, signed, usdSaved } from "../words.ts"
import { el } from "./dom.ts"

export function summary(replay: Replay): HTMLElement {
  const lines = headline(replay).map((words, at) => el("p", { class: at === 0 ? "headline" : "more" }, words))
  const tiles = replay.calls === 0 ? [] : figures(replay)
  return el("div", { id: "summary" }, ...lines, el("dl", { class: "tiles" }, ...tiles.map(tile)))
}

type Figure = readonly [name: string, value: string, more: string]

function tile([name, value, more]: Figure): HTMLElement {
  return el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "faint" }, more))
}

function figures(replay: Replay): Figure[] {
  const { without, with: sent, folds, recalls, compactions, hud } = replay
  const { automatic, asked, avoided } = compactions
  const share = (one: { cachedTokens: number; tokens: number }) => percent(one.cachedTokens / one.tokens)
  const saved = savedCost(replay)
  const usd = usdSaved(replay)
  const worth = `${signed(saved)} fresh tokens' worth${usd === undefined ? "" : `, ${money(usd)}`}`
  return [
    ...(replay.billing === "tokens" ? [[saved < 0 ? "Costs more" : "Saved", savedShare(replay), worth] as const] : []),
    ["Sent in all", `${amount(without.tokens)} → ${amount(sent.tokens)}`, "tokens over all calls"],
    ["From the cache", `${share(without)} → ${share(sent)}`, "of what is sent"],
    ["Largest request", `${amount(without.peakTokens)} → ${amount(sent.peakTokens)}`, "tokens"],
    ["Folded", `${folds.count}`, `${folds.count === 1 ? "output" : "outputs"} of ${amount(folds.tokens)} tokens`],
    ["Recalls", per100(replay), `per 100 calls; ${recalls.lostLines} of ${recalls.copiedLines} copied lines missed`],
    [
      "Compactions",
      `${automatic + asked}`,
      automatic > 0 ? `${avoided} of ${automatic} automatic avoided` : "in the record",
    ],
    ["HUD", `${Math.round(hud.tokens / Math.max(1, hud.calls))}`, `tokens, on ${count(hud.calls, "call")}`],
  ]
}
