// Whether OpenCode has really loaded the plugin: a session in which its hooks ran has a status file. A plugin that cannot
// be loaded says nothing anywhere, so this is how one finds out.

import { sep } from "node:path"
import type { Options } from "../options.ts"
import type { Status } from "../status/status.ts"
import { ago } from "../text/text.ts"
import { type Check, ok, warn } from "./check.ts"
import type { SessionFacts } from "./databases.ts"
import type { Listing } from "./listing.ts"

export type Seen = {
  listing: Listing
  options: Options
  /** of the sessions that have one */
  statuses: readonly { sessionID: string; writtenMs: number }[]
  /** the one written last, as far as it can be read */
  newest: Status | undefined
  /** OpenCode's own newest sessions in which a model was called; undefined when its database cannot be read */
  sessions: readonly SessionFacts[] | undefined
  nowMs: number
}

export function checkLoaded({ listing, options, statuses, newest, sessions, nowMs }: Seen): Check | undefined {
  const listed = listing.ours.at(-1)
  if (!listed || !options.enabled) return undefined
  if (!options.store.enabled) return ok("loaded", "not to be seen: with store.enabled false a session leaves no trace")
  const { project, changedMs } = listed.file
  const last = sessions
    ?.filter(({ directory, agent }) => isIn(directory, project) && !options.disabledAgents.includes(agent ?? ""))
    .sort((a, b) => b.lastCallMs - a.lastCallMs)[0]
  const trace = last && statuses.find(({ sessionID }) => sessionID === last.id)
  if (trace || (!last && newest)) {
    const calls = newest && newest.sessionID === (trace ?? newest).sessionID ? `, ${newest.calls} calls` : ""
    const { sessionID, writtenMs } = trace ?? (newest as Status)
    return ok("loaded", `its hooks ran in session ${sessionID} (${ago(nowMs - writtenMs)}${calls})`)
  }
  if (!last) {
    return warn("loaded", "listed, but no session has been seen yet", "start OpenCode and send it a message")
  }
  const when = `${last.id}, ${ago(nowMs - last.lastCallMs)}`
  if (last.lastCallMs < changedMs) {
    const found = `no session has called a model since it was listed (the last one: ${when})`
    return warn("loaded", found, "start OpenCode anew and send it a message")
  }
  const before = statuses[0] ? `; it was last seen in ${statuses[0].sessionID}` : ""
  return warn(
    "loaded",
    `listed, but the last session (${when}) left no trace of it${before}`,
    "start OpenCode anew; if that does not help, run `opencode serve --print-logs` and look for errors at the first request",
  )
}

function isIn(directory: string, project: string | undefined): boolean {
  if (project === undefined || directory === project) return true
  return directory.startsWith(project.endsWith(sep) ? project : project + sep)
}
