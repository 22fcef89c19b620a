// The hooks for everything around the messages of a request: OpenCode's configuration and the system prompt.

import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"
import { matchesRecall } from "./host.ts"

/** OpenCode's built-in agent for exploring a project. It denies all tools except those it names. */
const EXPLORE = "explore"

/**
 * config: reads when OpenCode will compact, and allows `hud_recall` to the `explore` agent, which could not undo a fold
 * otherwise.
 */
export function onConfig({ models, options }: HookContext, config: unknown): Commit | undefined {
  models.configure(config)
  const live = asRecord(config)
  if (!live || !options.fold.enabled) return
  const agents = asRecord(live.agent) ?? {}
  const explore = asRecord(agents[EXPLORE]) ?? {}
  // a rule of the user's is kept, whether for this agent or for all; OpenCode applies the latter before an agent's own
  if (coversRecall(live.permission) || coversRecall(explore.permission)) return
  const permission = { ...asRecord(explore.permission), [RECALL_TOOL]: "allow" }
  return () => {
    live.agent = { ...agents, [EXPLORE]: { ...explore, permission } }
  }
}

/** Whether permissions, one rule for all tools or rules by tool, decide about the recall tool. */
function coversRecall(permission: unknown): boolean {
  if (permission === undefined) return false
  const byTool = asRecord(permission)
  return !byTool || Object.keys(byTool).some(matchesRecall)
}

/** How the prompts of OpenCode's own calls for titles, summaries and compactions begin. These calls may go to another model. */
const HELPER_PROMPT =
  /^\s*(?:You are a (?:title generator|context summarization agent|helpful AI assistant tasked with summarizing)|Summarize what was done in this conversation)/

/**
 * experimental.chat.system.transform: learns which model is called. Nothing is added to the system prompt: the HUD, the
 * records and the description of `hud_recall` say where they come from, and a paragraph would be paid for before any of them.
 */
export function onSystem(
  { models, sessions }: HookContext,
  input: { sessionID?: string; model?: unknown },
  output: { system: unknown },
): undefined {
  const prompt: unknown = Array.isArray(output?.system) ? output.system[0] : undefined
  // without a session, OpenCode is generating an agent's description
  const isStep = typeof prompt === "string" && input?.sessionID !== undefined && !HELPER_PROMPT.test(prompt)
  models.note(input?.model, isStep ? sessions.get(input.sessionID as string) : undefined)
}
