// What the user asks of the plugin in one session: pause, resume, fold now, send whole. It is written to a small file that
// the plugin reads before every request.

import { KEPT_WHOLE_STEPS } from "../session/steps.ts"
import { readSwitches, writeSwitches } from "../status/files.ts"
import type { Activity, Status } from "../status/status.ts"
import { amount, plural, stepsAndOutputs } from "../text/format.ts"

export type Switch = "hud" | "folding"

const MESSAGES: Record<Switch, Record<"on" | "paused", string>> = {
  hud: {
    on: "The HUD is resumed: the next request of this session carries it.",
    paused: "The HUD is paused: from the next request on, this session carries none.",
  },
  folding: {
    on: "Folding is resumed in this session.",
    paused:
      "Folding is paused: what is folded stays folded, and nothing more is folded unless the context would overflow.",
  },
}

export const FOLDING_OFF = "Folding is off by the plugin's options, or for this agent; nothing is folded."

/** Without a status it is unknown whether the plugin runs and reads the switch. */
const NO_STATUS =
  "Nothing is known about this session yet. If that is still so after its next call, this had no effect: see /hud-status."

/**
 * Sets one switch of a session and returns the message for the user. `now` is the activity that the status reports,
 * undefined without a status. Rejects when the file cannot be written.
 */
export async function setSwitch(folder: string, sessionID: string, name: Switch, to: "on" | "paused", now?: Activity) {
  await writeSwitches(folder, sessionID, { ...readSwitches(folder, sessionID), [name]: to })
  const off = now === "off" && "Now it is off by the plugin's options, or for this agent."
  return [MESSAGES[name][to], off, now === undefined && NO_STATUS].filter(Boolean).join(" ")
}

/** A call that is never reached: for the rest of the session. */
export const FOREVER = Number.MAX_SAFE_INTEGER

/** What can be done to the steps with these message ids. */
export type Wish = "unfold" | "pin" | "release" | "fold"

/** A step by its message, its size, and, of a folded one, the size of what stands for it. */
export type AskedStep = { messageID: string; tokens: number; textTokens?: number }

/** Writes the wish to the file and returns the message for the user. */
export async function askFor(
  wish: Wish,
  folder: string,
  { sessionID, calls }: Pick<Status, "sessionID" | "calls">,
  steps: readonly AskedStep[],
): Promise<string> {
  const { foldNow, whole: before = {}, ...switches } = readSwitches(folder, sessionID)
  const messageIDs = steps.map(({ messageID }) => messageID)
  const asked = new Set(messageIDs)
  const whole = Object.fromEntries(Object.entries(before).filter(([id, until]) => until > calls && !asked.has(id)))
  if (wish === "unfold" || wish === "pin")
    for (const id of messageIDs) whole[id] = wish === "pin" ? FOREVER : calls + KEPT_WHOLE_STEPS
  // what was asked for since the last request is still to be folded
  const what: "all" | string[] =
    foldNow?.what === "all" ? "all" : [...new Set([...(foldNow?.what ?? []), ...messageIDs])]
  const wished = wish === "fold" ? { foldNow: { askedMs: Date.now(), what } } : foldNow && { foldNow }
  await writeSwitches(folder, sessionID, { ...switches, whole, ...wished })
  const tokens = amount(steps.reduce((sum, { tokens, textTokens = 0 }) => sum + tokens - textTokens, 0))
  const more = steps.some(({ textTokens }) => textTokens !== undefined) ? " more" : ""
  return {
    unfold: `Sent whole from the next request on, for ${KEPT_WHOLE_STEPS} calls: about ${tokens} tokens${more} in each.`,
    pin: `Sent whole from the next request on, for the rest of the session: about ${tokens} tokens${more} in each.`,
    release: "It may be folded again.",
    fold: `Folded with the next request, if nothing still needs it: up to ${tokens} tokens less in each.`,
  }[wish]
}

/** Has all that is settled folded with the next request; the message says how much that is. */
export async function foldAll(folder: string, sessionID: string, status: Status | undefined): Promise<string> {
  if (status?.folding.activity === "off") return FOLDING_OFF
  const { settled = 0, outputs = 0, tokens = 0, open = 0 } = status?.folding.kept ?? {}
  const counts = stepsAndOutputs({ steps: settled, outputs })
  if (status && counts === "")
    return open > 0
      ? `Nothing is settled that is not folded yet. Still open: ${plural(open, "step")}; /hud-status says why.`
      : "There is nothing to fold yet."
  const switches = readSwitches(folder, sessionID)
  await writeSwitches(folder, sessionID, { ...switches, foldNow: { askedMs: Date.now(), what: "all" } })
  if (!status) return `All that is settled is folded with the next request. ${NO_STATUS}`
  return `Folded with the next request: ${counts}, which leaves about ${amount(tokens)} tokens out of each request.`
}
