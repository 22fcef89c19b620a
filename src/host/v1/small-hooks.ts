// The hooks for everything around the messages of a request: OpenCode's configuration, the system prompt, the headers.

import { isHelperPrompt } from "../../hud/prompts.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"

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
  return !byTool || RECALL_TOOL in byTool || "*" in byTool
}

/**
 * experimental.chat.system.transform: learns which model is called. Nothing is added to the system prompt: the HUD, the
 * records and the description of `hud_recall` say where they come from, and a paragraph would be paid for before any of them.
 */
export function onSystem(
  { agents, models, sessions }: HookContext,
  input: { sessionID?: string; model?: unknown },
  output: { system: unknown },
): undefined {
  const prompt: unknown = Array.isArray(output?.system) ? output.system[0] : undefined
  // without a session, OpenCode is generating an agent's description
  const isStep =
    typeof prompt === "string" && input?.sessionID !== undefined && !isHelperPrompt(prompt, agents.helperPrompts)
  models.note(input?.model, isStep ? sessions.get(input.sessionID as string) : undefined)
}

/**
 * chat.headers: GitHub Copilot bills by the role of the last message. A HUD at the tail is a user message, so within a
 * tool loop the header is set to what it would be without the HUD. This is also the last hook before the request is sent.
 */
export function onHeaders(
  context: HookContext,
  input: { sessionID: string; agent?: unknown; model?: { providerID?: string } },
  output: { headers: unknown },
): Commit | undefined {
  // the store opens while the model works on its answer
  context.store.open()
  if (!input?.model?.providerID?.startsWith("github-copilot")) return
  const session = context.sessions.peek(input.sessionID)
  const last = session?.ledger.entries.at(-1)
  const isAfterStep = last?.kind === "step" || last?.kind === "failed summary"
  // titles and summaries are requested from other agents and are not steps of the loop
  if (!session?.hud.shown || input.agent !== session.ledger.facts.agent || !isAfterStep) return
  const headers = output?.headers as Record<string, string> | undefined
  if (!headers) return
  return () => {
    headers["x-initiator"] = "agent"
  }
}
