// The plugin loaded as OpenCode loads it, with its hooks called by the test, and a session to call them with.

import type { HostMessage } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { MODEL } from "../support/driver.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"

type Call = (input: object, output?: object) => Promise<void>

/** `children`: the subagents that a session started, by its id. */
export async function load(options: object = {}, children: Readonly<Record<string, readonly string[]>> = {}) {
  const logged: string[] = []
  const client = {
    app: { log: async ({ body }: { body: { message: string } }) => void logged.push(body.message) },
    session: {
      children: async ({ path }: { path: { id: string } }) => ({
        data: children[path.id]?.map((id) => ({ id })) ?? [],
      }),
    },
    tui: {},
  }
  const input = { client, directory: "/home/dev/shop", worktree: "/home/dev/shop" }
  const hooks = await plugin.server(input as never, { deadlineMs: 5000, ...options })
  const call = (name: keyof typeof hooks) => hooks[name] as unknown as Call
  return {
    logged,
    transform: async (messages: HostMessage[]) => {
      await call("experimental.chat.messages.transform")({}, { messages })
      return messages
    },
    model: (sessionID: string, model: object = MODEL) =>
      call("experimental.chat.system.transform")({ sessionID, model }, { system: ["You are OpenCode."] }),
    event: (type: string, properties: object) => call("event")({ event: { type, properties } }),
    dispose: () => (hooks.dispose as () => Promise<void>)(),
  }
}

/** A session with news from the start: a file was read twice. */
export const worked = (id: string) => {
  const session = new SessionBuilder(id).user("make the login test pass on node 22, please")
  session.assistant([read("src/login.ts")], usage(4000))
  const failed = bash("npm test", "1 failed\nError: expected 200, got 401", 1)
  session.assistant([failed, read("src/login.ts")], usage(400, 4000))
  return session
}

export const reported = (sessionID: string, id: string, tokens: object) => ({
  sessionID,
  info: { id, role: "assistant", sessionID, providerID: "anthropic", modelID: "claude-sonnet-4-5", ...tokens },
})
