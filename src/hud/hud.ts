// The HUD of one session from call to call: whether there is one, how large it may be, what it says and where it goes.

import type { Message } from "../session/conversation.ts"
import { contextNow, type Facts } from "../session/facts.ts"
import { type Signals, todosNow } from "../session/signals.ts"
import { frame, type Hud, onlyNew, render } from "./render.ts"
import { type Section, type SectionName, type Surroundings, sectionsOf, settledSection } from "./sections.ts"
import type { Anchor, Placement, Slot } from "./slots.ts"

export type HudOptions = {
  /** upper bound of the text, tokens */
  budgetTokens: number
  sections: readonly SectionName[]
}

/** What has to be remembered between two calls of a session. */
export type HudState = {
  /** a HUD was sent in this session: from then on every call carries one */
  shown: boolean
  /** sticky slot only: what was sent and where, and what it said */
  anchors: Anchor[]
  said: ReadonlyMap<string, string>
  lastSent: number
}

export type NextHud = { hud: Hud | undefined; reason?: string; placement: Placement; state: HudState }

export function newHudState(): HudState {
  return { shown: false, anchors: [], said: new Map(), lastSent: 0 }
}

const NOTHING_YET = "nothing to say yet: the session has only begun"
/** From this share of the context window on, the HUD makes itself small. */
const NEARLY_FULL = 0.9
/** New file names that are worth a sticky HUD of their own. */
const MANY_FILES = 6
/** Things said in a sticky slot that are remembered as said; an older one may be said again. */
const MOST_SAID = 2000

/**
 * The HUD for the next call, and where it goes; `state` is to be kept once it is sent.
 * Within a turn the HUD is on every call from its first on: providers that tie thinking to the last user block would
 * otherwise see it come and go.
 */
export function nextHud(
  messages: readonly Message[],
  facts: Facts,
  signals: Signals,
  around: Surroundings,
  slot: Slot,
  options: HudOptions,
  state: HudState,
): NextHud {
  const call = facts.calls + 1
  const sections = sectionsOf(facts, signals, around).filter((section) => options.sections.includes(section.name))
  const budgetTokens = budget(facts, around, options.budgetTokens)
  if (around.held !== undefined) return held(slot, around.held, state)
  if (slot === "sticky") return sticky(messages, sections, budgetTokens, call, facts, signals, state)
  const wanted = wantsHud(facts, signals, state)
  // one that was there and has nothing left to say stays, as its frame
  const hud = wanted ? (render(sections, budgetTokens, call) ?? (state.shown ? frame(call) : undefined)) : undefined
  const reason = hud ? {} : { reason: wanted ? "nothing fits the budget" : NOTHING_YET }
  return { hud, ...reason, placement: { slot, text: hud?.text }, state: { ...newHudState(), shown: hud !== undefined } }
}

/** None for now. What a sticky slot has sent stays: to take it out would send anew all that follows it. */
function held(slot: Slot, reason: string, state: HudState): NextHud {
  const placement: Placement = slot === "sticky" ? { slot, anchors: state.anchors } : { slot, text: undefined }
  return { hud: undefined, reason, placement, state }
}

/** Whether the next call carries a HUD, unless nothing fits its budget: once there was one, each call does. */
export function wantsHud(facts: Facts, signals: Signals, { shown }: HudState): boolean {
  return shown || hasNews(facts, signals)
}

/**
 * The HUD whole, as things stand and whatever the slot: what people are shown. `call` is the one it would go out with.
 * Undefined when there is nothing to say yet.
 */
export function hudNow(
  facts: Facts,
  signals: Signals,
  around: Surroundings,
  options: HudOptions,
  { shown }: HudState,
  call: number,
): Hud | undefined {
  if (!shown && !hasNews(facts, signals)) return
  const sections = sectionsOf(facts, signals, around).filter((section) => options.sections.includes(section.name))
  return render(sections, budget(facts, around, options.budgetTokens), call)
}

/** Calls at a session's start in which all of it stands right above: which files were read is no news then. */
const FIRST_CALLS = 5

/** Something worth a HUD: tools were used for a while, or sooner when something fails, repeats, waits or is planned. */
function hasNews(facts: Facts, signals: Signals): boolean {
  if (facts.compactions > 0) return true
  if (facts.events === 0) return false
  const { failures, repeats } = facts
  const pressing = failures.size + repeats.size + todosNow(facts, signals).length + signals.permissions.size
  return pressing > 0 || facts.calls >= FIRST_CALLS
}

/** In a small context the HUD is small: its price should stay a small part of the call's. */
const SMALLEST = 50
const TOKENS_PER_HUD_TOKEN = 500

/** Half right after a compaction and near the limit, where every token brings the next compaction closer. */
function budget(facts: Facts, { contextLimit }: Surroundings, budgetTokens: number): number {
  const half = Math.ceil(budgetTokens / 2)
  // what the model knew is gone, so that a small context is no reason to say less
  if (facts.compactions > 0 && facts.callsSinceCompaction === 0) return half
  const tokens = contextNow(facts)?.tokens ?? 0
  const fitting = Math.min(budgetTokens, SMALLEST + Math.round(tokens / TOKENS_PER_HUD_TOKEN))
  return contextLimit !== undefined && tokens > contextLimit * NEARLY_FULL ? Math.min(fitting, half) : fitting
}

function sticky(
  messages: readonly Message[],
  sections: Section[],
  budgetTokens: number,
  call: number,
  facts: Facts,
  signals: Signals,
  state: HudState,
): NextHud {
  const ids = new Set(messages.map(({ id }) => id))
  const anchors = state.anchors.filter((anchor) => ids.has(anchor.after))
  // the first of them is the whole HUD; without it the changes say nothing
  const whole = anchors.length > 0 && anchors[0] === state.anchors[0]
  const kept = whole ? anchors : []
  const lost = kept.length < state.anchors.length
  const said: ReadonlyMap<string, string> = lost ? new Map() : state.said
  const fresh = kept.length ? onlyNew([settledSection(facts, said), ...sections], said) : sections
  const worthIt = kept.length ? isWorthSending(fresh) : state.shown || hasNews(facts, signals)
  const hud = worthIt
    ? render(fresh, budgetTokens, call, kept.length && said.size ? state.lastSent : undefined)
    : undefined
  const after = messages.at(-1)?.id
  const next = hud && after !== undefined ? [...kept, { after, text: hud.text }] : kept
  return {
    hud,
    ...(hud ? {} : { reason: kept.length ? "nothing new since the last one" : NOTHING_YET }),
    placement: { slot: "sticky", anchors: next },
    state: {
      shown: next.length > 0,
      anchors: next,
      said: hud ? new Map([...said, ...hud.said].slice(-MOST_SAID)) : said,
      lastSent: hud ? call : state.lastSent,
    },
  }
}

/** What is sent into a sticky slot stays in the context for good, so a file name alone is not worth it. */
function isWorthSending(fresh: readonly Section[]): boolean {
  return fresh.some((section) => section.name !== "files" || section.items.length >= MANY_FILES)
}
