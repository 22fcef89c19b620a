// What is asked of OpenCode's own server. It answers in its own time or not at all; nobody depends on it.

import type { PluginInput } from "@opencode-ai/plugin"
import { record, text } from "../core/normalize.ts"

const HELPERS = ["title", "summary", "compaction"]
/** Enough of a prompt to know it by; a prompt may end in text of the session. */
const OPENING = 200

/**
 * Which prompts belong to OpenCode's own helper agents, when the user has given them other words. Asks once, in the
 * background, and fills the list in; without an answer the built-in openings must do.
 */
export function learnHelperPrompts(client: PluginInput["client"] | undefined, prompts: string[]): void {
  const ask = async () => {
    const answer: unknown = await client?.app?.agents()
    const agents = record(answer)?.data
    if (!Array.isArray(agents)) return
    for (const agent of agents) {
      const prompt = text(record(agent)?.prompt)
      if (prompt && HELPERS.includes(text(record(agent)?.name) ?? ""))
        prompts.push(prompt.trimStart().slice(0, OPENING))
    }
  }
  // the server answers only once it is up, and it is up only once this plugin is loaded
  setTimeout(() => void ask().catch(() => {}), 0).unref?.()
}

/** A session's stored messages; undefined when OpenCode will not say. */
export async function storedMessages(client: PluginInput["client"] | undefined, sessionID: string): Promise<unknown> {
  try {
    return record(await client?.session?.messages({ path: { id: sessionID } }))?.data
  } catch {
    return
  }
}
