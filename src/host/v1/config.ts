// config: OpenCode's configuration as it will run with. What it says of compaction tells when room must be made, and the
// agent that may call nothing it was not given by name is given the tool that undoes a fold.

import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"

/** OpenCode's own agent for looking around; it denies every tool but a few. */
const EXPLORE = "explore"

export function onConfig({ models, options }: HookContext, config: unknown): Commit | undefined {
  models.configure(config)
  const live = asRecord(config)
  if (!live || !options.fold.enabled) return
  const agents = asRecord(live.agent) ?? {}
  const explore = asRecord(agents[EXPLORE]) ?? {}
  // the user's word stands, on the agent's tools and on everybody's: the latter, OpenCode puts before an agent's own
  if (saysOf(live.permission) || saysOf(explore.permission)) return
  const permission = { ...asRecord(explore.permission), [RECALL_TOOL]: "allow" }
  return () => {
    live.agent = { ...agents, [EXPLORE]: { ...explore, permission } }
  }
}

/** Whether permissions, a word for all tools or by tool, say whether the tool may be called. */
function saysOf(permission: unknown): boolean {
  if (permission === undefined) return false
  const byTool = asRecord(permission)
  return !byTool || RECALL_TOOL in byTool || "*" in byTool
}
