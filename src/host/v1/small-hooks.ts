// The hooks for everything around the messages of a request: OpenCode's configuration, the system prompt, the headers.

import { isHelperPrompt, paragraph } from "../../hud/prompts.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"

/** OpenCode's built-in agent for exploring a project. It denies all tools except those it names. */
const EXPLORE = "explore"

/**
 * config: reads when OpenCode will compact, and allows the `explore` agent, which would otherwise be denied it, the tool
 * that undoes a fold.
 */
export function onConfig({ models, options }: HookContext, config: unknown): Commit | undefined {
  models.configure(config)
  const live = asRecord(config)
  if (!live || !options.fold.enabled) return
  const agents = asRecord(live.agent) ?? {}
  const explore = asRecord(agents[EXPLORE]) ?? {}
  // the user's own rule stands, for the agent or for all agents; OpenCode applies the latter before an agent's own
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
 * experimental.chat.system.transform: adds one constant paragraph to the last element of the system prompt. A second
 * element would become a second system message, which strict chat templates reject.
 */
export function onSystem(
  context: HookContext,
  input: { sessionID?: string; model?: unknown },
  output: { system: unknown },
): Commit | undefined {
  const system = output?.system
  const first: unknown = Array.isArray(system) ? system[0] : undefined
  // without a session, OpenCode is generating an agent's description
  if (
    typeof first !== "string" ||
    input?.sessionID === undefined ||
    isHelperPrompt(first, context.agents.helperPrompts)
  ) {
    context.models.note(input?.model)
    return
  }
  context.models.note(input.model, context.sessions.get(input.sessionID))
  const { hud, fold } = context.options
  const added = paragraph({ hud: hud.enabled, folds: fold.enabled })
  if (added === undefined || !Array.isArray(system)) return
  const last = system.length - 1
  if (typeof system[last] !== "string" || system[last].endsWith(added)) return
  return () => {
    system[last] = `${system[last]}\n\n${added}`
  }
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
  // titles and summaries are requested from other agents and are not steps of the loop
  if (!session?.hud.shown || input.agent !== session.ledger.facts.agent || last?.role !== "assistant" || last.summary)
    return
  const headers = output?.headers as Record<string, string> | undefined
  if (!headers) return
  return () => {
    headers["x-initiator"] = "agent"
  }
}
