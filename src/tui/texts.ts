// What the dialogs say of a session. Pure.

import { rowsOf } from "../status/words.ts"
import type { Text } from "./text-dialog.tsx"
import { statusNow } from "./view.ts"
import { visible } from "./visible.ts"
import type { Seen } from "./watch.ts"

/** The panel hears of the plugin by the status file alone: why there is none it cannot tell. */
const UNKNOWN = [
  "Nothing is known of this session here. It is so until its first call, and stays so where",
  "- the plugin is not in opencode.json, or its options say `enabled: false`",
  "- its state is not kept on disk (`store.enabled: false`, or a disk that refuses)",
  "- OpenCode's server runs on another machine, or with another data folder",
  "`npx opencode-hudfold doctor` looks at all but the last.",
].join("\n")

/** The HUD that the next request would carry. */
export function hudText(seen: Seen): Text {
  const title = "HUD of the next request"
  const status = statusNow(seen)
  if (!status) return { title, note: UNKNOWN }
  const { activity, text, tokens } = status.hud
  if (activity === "off") return { title, note: "None: the HUD is off by the plugin's options, or for this agent." }
  if (activity === "paused")
    return { title, note: "None: the HUD is paused in this session; /hud-resume brings it back." }
  if (text === undefined) return { title, note: "None: there is nothing to say yet." }
  return { title, note: `as things stand, ${tokens} tokens`, text: visible(text) }
}

/** All that is known of a session, row by row with the details. */
export function statusText(seen: Seen): Text {
  const title = "opencode-hudfold"
  const status = statusNow(seen)
  if (!status) return { title, note: UNKNOWN }
  const rows = rowsOf(status).flatMap(({ text, details }) => [text, ...details.map((detail) => `  ${detail}`)])
  const model = status.model === undefined ? "" : ` on ${status.model}`
  const calls = status.calls === 1 ? "1 call" : `${status.calls} calls`
  return { title: `${title} ${status.plugin}`, note: `${calls}${model}`, text: visible(rows.join("\n")) }
}
