// Requests to OpenCode's own server: its agents, stored messages, and the sessions of subagents. It may answer late or not at
// all, so nothing may depend on an answer.

import type { PluginInput } from "@opencode-ai/plugin"
import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord, asString } from "../../system/values.ts"

/**
 * The names of agents that may not call `hud_recall`, so that they could not undo a fold. Asks once, in the background; none are
 * known until OpenCode has answered.
 */
export function learnWithoutRecall(client: PluginInput["client"] | undefined): Set<string> {
  const known = new Set<string>()
  const ask = async () => {
    const agents = asRecord(await client?.app?.agents())?.data
    if (!Array.isArray(agents)) return
    for (const agent of agents.map(asRecord))
      if (rulesDenyRecall(agent?.permission)) known.add(asString(agent?.name) ?? "")
  }
  // the server starts to answer only after this plugin has loaded
  setTimeout(() => void ask().catch(() => {}), 0).unref?.()
  return known
}

/** Whether the rules deny `hud_recall` whatever its arguments. The last rule that matches decides. */
export function rulesDenyRecall(rules: unknown): boolean {
  if (!Array.isArray(rules)) return false
  const matching = rules
    .map(asRecord)
    .filter((rule) => rule?.pattern === "*" && matchesRecall(asString(rule.permission) ?? ""))
  return matching.at(-1)?.action === "deny"
}

/** Whether OpenCode's wildcards, of which `*` is any text and `?` one character, match the name. */
export function matchesRecall(pattern: string): boolean {
  // a prompt can contain a tool name of thirty stars, over which a regular expression would go on for ever
  const text = pattern.replace(/\*+/g, "*")
  // more than a star around each character
  if (text.length > 2 * RECALL_TOOL.length + 1) return false
  const literal = text.replace(/[\\^$.+()[\]{}|]/g, "\\$&")
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(RECALL_TOOL)
}

/** Messages requested one by one; for more, all of the session are requested at once. */
const MAX_SINGLE_REQUESTS = 5

/** As `HookContext` has it. In place of a message that was requested by itself and not answered is `{ unanswered: its id }`. */
export async function storedMessages(
  client: PluginInput["client"] | undefined,
  sessionID: string,
  ids?: readonly string[],
): Promise<readonly unknown[]> {
  const one = async (messageID: string): Promise<unknown> => {
    const answer = asRecord(await client?.session?.message({ path: { id: sessionID, messageID } }).catch(() => {}))
    return answer?.data ?? (asRecord(answer?.error)?.name === "NotFoundError" ? undefined : { unanswered: messageID })
  }
  if (ids && ids.length <= MAX_SINGLE_REQUESTS) return Promise.all(ids.map(one))
  const all = asRecord(await client?.session?.messages({ path: { id: sessionID } }))?.data
  if (!Array.isArray(all)) throw new Error("OpenCode did not return the stored messages")
  return all
}

/** As `HookContext` has it. */
export async function startedSessions(client: PluginInput["client"] | undefined, sessionID: string): Promise<string[]> {
  const found = asRecord(await client?.session?.children?.({ path: { id: sessionID } }))?.data
  return Array.isArray(found) ? found.flatMap((one) => asString(asRecord(one)?.id) ?? []) : []
}
