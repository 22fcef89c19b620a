// The HUD of a session from call to call: whether there is one, its size, its content and its place.

import type { Message } from "../session/conversation.ts"
import { contextNow, type Facts, type Signals } from "../session/facts.ts"
import { emptyHud, type Hud, onlyNew, renderHud } from "./render.ts"
import { type HudContext, type Section, type SectionName, sectionsOf, settledSection } from "./sections.ts"
import type { Anchor, Placement, Slot } from "./slots.ts"

export type HudOptions = {
  /** upper bound of the text's size */
  budgetTokens: number
  sections: readonly SectionName[]
}

/** What must be remembered between two calls of a session. */
export type HudState = ReturnType<typeof newHudState>

export function newHudState() {
  return {
    /** a HUD was sent in this session, so that every later call has one */
    shown: false,
    /** sticky slot only: the texts sent and their places, the reported state of each item, and the call of the last */
    anchors: [] as Anchor[],
    reported: new Map() as ReadonlyMap<string, string>,
    lastSent: 0,
  }
}

export type NextHud = { hud: Hud | undefined; reason?: string | undefined; placement: Placement; state: HudState }

const NOTHING_YET = "nothing to say yet that the newest messages do not show"
/** New file names that are worth a sticky HUD of their own. A guess. */
const MIN_NEW_FILES = 6
/** Items remembered as reported in a sticky slot. Older ones may be reported again. */
const MAX_REPORTED = 2000

export type HudSource = {
  facts: Facts
  signals: Signals
  context: HudContext
  options: HudOptions
  hud: HudState
  /** what the session's HUDs have cost, and its messages without them, both in tokens written to the cache */
  hudCost: { hud: number; messages: number }
}

/**
 * The HUD for the next call, and its place. The returned state is to be kept once the HUD is sent. After the first HUD every
 * call has one: providers that bind thinking to the last user block would otherwise see that block come and go.
 */
export function nextHud(messages: readonly Message[], slot: Slot, source: HudSource): NextHud {
  const { withheld } = source.context
  const none = { hud: undefined, reason: withheld, state: source.hud }
  const next = withheld === undefined ? (slot === "sticky" ? stickyHud(messages, source) : completeHud(source)) : none
  // sticky texts stay: if one were removed, everything after it would no longer match the provider's cache
  const placement = slot === "sticky" ? { slot, anchors: next.state.anchors } : { slot, text: next.hud?.text }
  return { ...next, placement }
}

function completeHud(source: HudSource) {
  const hud = currentHud(source, source.facts.calls + 1)
  const missing = wantsHud(source) ? "nothing fits the budget" : NOTHING_YET
  return { hud, reason: hud ? undefined : missing, state: { ...newHudState(), shown: hud !== undefined } }
}

/** Whether the next call has a HUD, provided that something fits its budget. After the first one, every call has. */
export function wantsHud(source: HudSource): boolean {
  const { facts, signals, context, hud } = source
  return hud.shown || (context.early === "brief" ? wantedSections(source).length > 0 : hasNews(facts, signals))
}

/**
 * The complete HUD as it would be sent with `call`, whatever the slot. Undefined when there is nothing to say yet, or nothing
 * fits; an earlier HUD is followed by one without content rather than by none.
 */
export function currentHud(source: HudSource, call: number): Hud | undefined {
  if (!wantsHud(source)) return undefined
  return renderHud(wantedSections(source), budget(source), call) ?? (source.hud.shown ? emptyHud(call) : undefined)
}

function wantedSections({ facts, signals, context, options }: HudSource): Section[] {
  return sectionsOf(facts, signals, context).filter((section) => options.sections.includes(section.name))
}

/** At a session's start everything is still right above in the context, so that a list of files is no news. A guess. */
const MIN_CALLS = 5

/** Whether a first complete HUD is worth sending: after some calls, or sooner if something fails, repeats or waits. */
function hasNews(facts: Facts, signals: Signals): boolean {
  if (facts.compactions > 0) return true
  if (facts.events === 0) return false
  if (facts.calls >= MIN_CALLS || facts.failures.size + facts.todos.length + signals.permissions.size > 0) return true
  return [...facts.results.values()].some(({ times }) => times > 1)
}

/** The budget grows with the context, so that the HUD's cost stays a small part of the call's. Measured: decision 036. */
const MIN_BUDGET_TOKENS = 65
const CONTEXT_TOKENS_PER_HUD_TOKEN = 450
/** At least this much where steps are folded: room for the command that fails, which comes first (decision 036). */
const MIN_FOLDED_TOKENS = 50

/**
 * The HUDs of a session may cost `FREE_TOKENS` and this share of what its messages have cost. A HUD beyond that has
 * `MIN_TOKENS`, room for a few names (decision 036).
 */
const FREE_TOKENS = 200
const MAX_COST_SHARE = 0.034
const MIN_TOKENS = 40

/** Half of the budget right after a compaction, and of what fits where steps are folded, since their records name the files. */
function budget({ facts, context, hudCost, options: { budgetTokens } }: HudSource): number {
  const { sentTokens, folded } = context
  // the model has lost what it knew, so the small context does not reduce the budget further
  if (facts.compactions > 0 && facts.callsSinceCompaction === 0) return Math.ceil(budgetTokens / 2)
  const tokens = sentTokens ?? contextNow(facts)?.tokens ?? 0
  const affordable = Math.max(MIN_TOKENS, Math.floor(FREE_TOKENS + MAX_COST_SHARE * hudCost.messages - hudCost.hud))
  const wanted = MIN_BUDGET_TOKENS + Math.round(tokens / CONTEXT_TOKENS_PER_HUD_TOKEN)
  const fitting = Math.min(budgetTokens, wanted, affordable)
  return folded && folded.steps > 0 ? Math.min(fitting, Math.max(MIN_FOLDED_TOKENS, Math.ceil(fitting / 2))) : fitting
}

function stickyHud(messages: readonly Message[], source: HudSource) {
  const { facts, hud: state } = source
  const call = facts.calls + 1
  const sections = wantedSections(source)
  const ids = new Set(messages.map(({ id }) => id))
  const anchors = state.anchors.filter((anchor) => ids.has(anchor.after))
  // the first text is a complete HUD, without which the changes in the others mean nothing
  const kept = anchors[0] === state.anchors[0] ? anchors : []
  const lost = kept.length < state.anchors.length
  const reported: ReadonlyMap<string, string> = lost ? new Map() : state.reported
  const fresh = kept.length ? onlyNew([settledSection(facts, reported), ...sections], reported) : sections
  // sticky texts stay in the context for good, so a few file names alone are not worth sending
  const isMore = fresh.some(({ name, items }) => name !== "files" || items.length >= MIN_NEW_FILES)
  // other plugins add messages without an id
  const after = messages.findLast(({ id }) => id !== "")?.id
  // a request whose call failed is prepared again
  const isSaid = kept.at(-1)?.after === after
  const isWorthIt = kept.length ? isMore && !isSaid : wantsHud(source)
  const since = kept.length && reported.size ? state.lastSent : undefined
  const hud = isWorthIt ? renderHud(fresh, budget(source), call, since) : undefined
  const next = hud && after !== undefined ? [...kept, { after, text: hud.text }] : kept
  const missing = kept.length ? "nothing new since the last one" : NOTHING_YET
  return {
    hud,
    reason: hud ? undefined : missing,
    state: {
      shown: next.length > 0,
      anchors: next,
      reported: hud ? new Map([...reported, ...hud.reported].slice(-MAX_REPORTED)) : reported,
      lastSent: hud ? call : state.lastSent,
    },
  }
}
