// The V1 plugin module: wiring only.

import type { PluginModule } from "@opencode-ai/plugin"
import { createEnv } from "./digest/env.ts"
import type { HookContext } from "./hooks/context.ts"
import { shareDigests } from "./hooks/digests.ts"
import { createHooks } from "./hooks/hooks.ts"
import { learnAgents, storedMessage, storedMessages } from "./hooks/host.ts"
import { createLog } from "./hooks/log.ts"
import { createModels } from "./hooks/models.ts"
import { createSessions } from "./hooks/sessions.ts"
import { shareStore } from "./hooks/store.ts"
import { callOptionsOf, readOptions } from "./options.ts"

const server: PluginModule["server"] = async (input, given) => {
  const log = createLog(input.client)
  const { options, problems } = readOptions(given)
  for (const { message } of problems) log.warnUser(`${message} (in opencode.json, "plugin", opencode-hud)`)
  if (!options.enabled) return {}
  const store = shareStore(options.store, log)
  const directory = input.worktree && input.worktree !== "/" ? input.worktree : input.directory
  const digests = shareDigests(options, log)
  const env = createEnv(directory, digests)
  const context: HookContext = {
    options,
    log,
    env,
    sessions: createSessions(env),
    models: createModels(options),
    callOptions: callOptionsOf(options),
    digests,
    store,
    directory,
    agents: learnAgents(input.client),
    messages: (sessionID) => storedMessages(input.client, sessionID),
    message: (sessionID, messageID) => storedMessage(input.client, sessionID, messageID),
  }
  return createHooks(context, async () => {
    await Promise.all([digests.release(), store.release()])
  })
}

export default { id: "opencode-hud", server } satisfies PluginModule
