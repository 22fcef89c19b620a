// Pausing and resuming for one session: the switch is a small file, which the plugin reads before every request.

import { readSwitches, writeSwitches } from "../status/files.ts"
import type { Activity } from "../status/status.ts"
import type { Switches } from "../status/switches.ts"

export type Switch = keyof Switches

/** What now happens, for people. */
const SAID: Record<Switch, Record<"on" | "paused" | "off", string>> = {
  hud: {
    on: "The HUD is back: the next request of this session carries it.",
    paused: "The HUD is paused: from the next request on this session carries none.",
    off: "The HUD is off by the plugin's options; there is nothing to pause.",
  },
  folding: {
    on: "Folding goes on in this session.",
    paused:
      "Folding is paused: what is folded stays folded, and nothing more is unless the context would overflow otherwise.",
    off: "Folding is off by the plugin's options; there is nothing to pause.",
  },
}

/** Without a status nobody is known to read the switch. */
const UNHEARD =
  "Nothing is known of this session yet; if that is so after its next call, this had no effect: see /hud-status."

/**
 * `now` is what the status says of it, undefined while there is none. Answers what to tell the user. Rejects when the disk
 * does.
 */
export async function turn(
  folder: string,
  sessionID: string,
  one: Switch,
  to: "on" | "paused",
  now: Activity | undefined,
): Promise<string> {
  if (now === "off") return SAID[one].off
  await writeSwitches(folder, sessionID, { ...readSwitches(folder, sessionID), [one]: to })
  return now === undefined ? `${SAID[one][to]} ${UNHEARD}` : SAID[one][to]
}
