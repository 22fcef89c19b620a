// config: OpenCode's configuration as it will run with. What it says of compaction tells when room must be made, and the
// agent that may call nothing it was not given by name is given the tool that undoes a fold.

import { record } from "../core/normalize.ts"
import { RECALL_TOOL } from "../core/shows.ts"
import type { HookContext } from "./context.ts"
import type { Commit } from "./guard.ts"

/** OpenCode's own agent for looking around; it denies every tool but a few. */
const EXPLORE = "explore"

export function onConfig({ models, options }: HookContext, config: unknown): Commit | undefined {
  models.configure(config)
  const live = record(config)
  if (!live || !options.fold.enabled) return
  const agents = record(live.agent) ?? {}
  const explore = record(agents[EXPLORE]) ?? {}
  const permission = explore.permission === undefined ? {} : record(explore.permission)
  // the user's word on the agent's tools stands
  if (!permission || RECALL_TOOL in permission || "*" in permission) return
  return () => {
    live.agent = { ...agents, [EXPLORE]: { ...explore, permission: { ...permission, [RECALL_TOOL]: "allow" } } }
  }
}
