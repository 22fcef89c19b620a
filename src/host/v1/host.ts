// Requests to OpenCode's own server: its agents, and stored messages. It may answer late or not at all, so nothing may
// depend on an answer.

import type { PluginInput } from "@opencode-ai/plugin"
import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord, asString } from "../../system/values.ts"

const HELPERS = ["title", "summary", "compaction"]
/** Enough of a prompt to recognise it by. Its end may be text from the session. */
const MAX_OPENING_CHARS = 200

/** What is known from OpenCode's list of agents. Empty until it has answered. */
export type Agents = {
  /** how the prompts of OpenCode's helper agents begin; the user may have changed them */
  helperPrompts: string[]
  /** names of agents that may not call `hud_recall`, so that they could not undo a fold */
  withoutRecall: Set<string>
}

/** Asks once, in the background. Without an answer only the built-in openings are known. */
export function learnAgents(client: PluginInput["client"] | undefined): Agents {
  const known: Agents = { helperPrompts: [], withoutRecall: new Set() }
  const ask = async () => {
    const agents = asRecord(await client?.app?.agents())?.data
    if (!Array.isArray(agents)) return
    for (const agent of agents.map(asRecord)) {
      const name = asString(agent?.name) ?? ""
      const prompt = asString(agent?.prompt)
      if (prompt && HELPERS.includes(name)) known.helperPrompts.push(prompt.trimStart().slice(0, MAX_OPENING_CHARS))
      if (isDenied(agent?.permission, RECALL_TOOL)) known.withoutRecall.add(name)
    }
  }
  // the server starts to answer only after this plugin has loaded
  setTimeout(() => void ask().catch(() => {}), 0).unref?.()
  return known
}

/** Whether the rules deny a tool whatever its arguments. The last rule that matches decides. */
export function isDenied(rules: unknown, tool: string): boolean {
  if (!Array.isArray(rules)) return false
  const matching = rules
    .map(asRecord)
    .filter((rule) => rule?.pattern === "*" && matches(asString(rule.permission) ?? "", tool))
  return matching.at(-1)?.action === "deny"
}

/**
 * Matches OpenCode's wildcards: `*` is any text, `?` one character. Not a regular expression, because a prompt can contain a
 * tool name of thirty stars, on which one would backtrack for ever.
 */
export function matches(pattern: string, tool: string): boolean {
  // the lengths of what the pattern so far may cover of the name
  let covered = [0]
  for (const char of pattern.replace(/\*+/g, "*")) {
    const [least] = covered
    if (least === undefined) return false
    if (char === "*") covered = Array.from({ length: tool.length - least + 1 }, (_, more) => least + more)
    else covered = covered.flatMap((at) => (at < tool.length && (char === "?" || char === tool[at]) ? [at + 1] : []))
  }
  return covered.includes(tool.length)
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
