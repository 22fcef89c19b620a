// What is asked of OpenCode's own server. It answers in its own time or not at all; nobody depends on it.

import type { PluginInput } from "@opencode-ai/plugin"
import { RECALL_TOOL } from "../../output/shows.ts"
import { asRecord, asString } from "../../system/values.ts"

const HELPERS = ["title", "summary", "compaction"]
/** Enough of a prompt to know it by; a prompt may end in text of the session. */
const OPENING = 200

/** What OpenCode's list of agents tells; empty until it has answered. */
export type Agents = {
  /** openings of the prompts of OpenCode's own helper agents, which the user may have given other words */
  helperPrompts: string[]
  /** names of agents that may not call `hud_recall`: what is folded for them could not be undone */
  withoutRecall: Set<string>
}

/** Asks once, in the background; without an answer the built-in openings must do. */
export function learnAgents(client: PluginInput["client"] | undefined): Agents {
  const known: Agents = { helperPrompts: [], withoutRecall: new Set() }
  const ask = async () => {
    const answer: unknown = await client?.app?.agents()
    const agents = asRecord(answer)?.data
    if (!Array.isArray(agents)) return
    for (const agent of agents.map(asRecord)) {
      const name = asString(agent?.name) ?? ""
      const prompt = asString(agent?.prompt)
      if (prompt && HELPERS.includes(name)) known.helperPrompts.push(prompt.trimStart().slice(0, OPENING))
      if (isDenied(agent?.permission, RECALL_TOOL)) known.withoutRecall.add(name)
    }
  }
  // the server answers only once it is up, and it is up only once this plugin is loaded
  setTimeout(() => void ask().catch(() => {}), 0).unref?.()
  return known
}

/** Whether rules, of which the last that matches decides, deny a tool whatever its arguments. */
function isDenied(rules: unknown, tool: string): boolean {
  if (!Array.isArray(rules)) return false
  const matching = rules
    .map(asRecord)
    .filter((rule) => rule?.pattern === "*" && matches(asString(rule.permission) ?? "", tool))
  return matching.at(-1)?.action === "deny"
}

/**
 * OpenCode's wildcards: a star stands for anything, a question mark for one character. No regular expression is made of
 * them: a prompt can name a tool of thirty stars, over which one would go on for ever.
 */
export function matches(pattern: string, tool: string): boolean {
  // how far into the pattern the last star was, and what it was last tried to stand for ends before
  let star = -1
  let retry = 0
  let at = 0
  for (let read = 0; read < tool.length; ) {
    if (pattern[at] === "*") {
      star = at++
      retry = read
    } else if (pattern[at] === tool[read] || pattern[at] === "?") {
      at++
      read++
    } else if (star >= 0) {
      at = star + 1
      read = ++retry
    } else return false
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

/** A session's stored messages; undefined when OpenCode will not say. */
export async function storedMessages(client: PluginInput["client"] | undefined, sessionID: string): Promise<unknown> {
  try {
    return asRecord(await client?.session?.messages({ path: { id: sessionID } }))?.data
  } catch {
    return
  }
}

/** One stored message; undefined when there is none. Rejects when OpenCode will not say. */
export async function storedMessage(
  client: PluginInput["client"] | undefined,
  sessionID: string,
  messageID: string,
): Promise<unknown> {
  const answer = asRecord(await client?.session?.message({ path: { id: sessionID, messageID } }))
  if (answer?.data === undefined && asRecord(answer?.error)?.name !== "NotFoundError")
    throw new Error("OpenCode did not hand over a stored message")
  return answer?.data
}
