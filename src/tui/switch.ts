// Pausing and resuming for one session. A switch is a small file that the plugin reads before every request.

import { readSwitches, writeSwitches } from "../status/files.ts"
import type { Activity, Switches } from "../status/status.ts"

export type Switch = keyof Switches

const MESSAGES: Record<Switch, Record<"on" | "paused" | "off", string>> = {
  hud: {
    on: "The HUD is resumed: the next request of this session carries it.",
    paused: "The HUD is paused: from the next request on, this session carries none.",
    off: "The HUD is off by the plugin's options; there is nothing to pause.",
  },
  folding: {
    on: "Folding is resumed in this session.",
    paused:
      "Folding is paused: what is folded stays folded, and nothing more is folded unless the context would overflow.",
    off: "Folding is off by the plugin's options; there is nothing to pause.",
  },
}

/** Without a status it is unknown whether the plugin runs and reads the switch. */
const NO_STATUS =
  "Nothing is known about this session yet. If that is still so after its next call, this had no effect: see /hud-status."

/**
 * Sets one switch of a session and returns the message for the user. `now` is the activity that the status reports,
 * undefined without a status. Rejects when the file cannot be written.
 */
export async function setSwitch(
  folder: string,
  sessionID: string,
  name: Switch,
  to: "on" | "paused",
  now: Activity | undefined,
): Promise<string> {
  if (now === "off") return MESSAGES[name].off
  await writeSwitches(folder, sessionID, { ...readSwitches(folder, sessionID), [name]: to })
  return now === undefined ? `${MESSAGES[name][to]} ${NO_STATUS}` : MESSAGES[name][to]
}
