// The plugin module for OpenCode 1: only the wiring.

import type { PluginModule } from "@opencode-ai/plugin"
import { createEnv } from "./digest/digests.ts"
import type { HookContext } from "./host/context.ts"
import { shareDigests } from "./host/digests.ts"
import { createLog } from "./host/log.ts"
import { createModels, modelOf } from "./host/models.ts"
import { createPublisher } from "./host/publisher.ts"
import { createSessions } from "./host/sessions.ts"
import { statusOf } from "./host/status.ts"
import { shareStore } from "./host/store.ts"
import { createHooks } from "./host/v1/hooks.ts"
import { learnAgents, storedMessage, storedMessages } from "./host/v1/host.ts"
import { readOptions, requestOptionsOf } from "./options.ts"
import { ignoredFolder } from "./system/data-folder.ts"

const server: PluginModule["server"] = async (input, given) => {
  const log = createLog(input.client)
  const { options, problems } = readOptions(given)
  for (const { message } of problems) log.warnUser(`${message} (in opencode.json, "plugin", opencode-hudfold)`)
  if (!options.enabled) return {}
  const ignored = ignoredFolder()
  if (ignored) log.warnUser(ignored)
  const store = shareStore(options.store, log)
  const directory = input.worktree && input.worktree !== "/" ? input.worktree : input.directory
  const digests = shareDigests(options, log)
  const env = createEnv(directory, digests)
  const models = createModels(options)
  const requestOptions = requestOptionsOf(options)
  const publisher = createPublisher(
    options,
    async (session) => {
      await digests.prepare()
      const nowMs = Date.now()
      const around = models.circumstances(modelOf(session), nowMs)
      const switches = publisher.switches(session.id)
      const { isProtected } = requestOptions
      const writer = digests.writer()
      return statusOf(session, { options, isProtected, directory, around, switches, writer, nowMs })
    },
    (cause) =>
      log.say(
        "warn",
        `cannot write the panel's status file, so there is nothing to show in the panel: ${String(cause)}`,
      ),
  )
  digests.onChange(publisher.publishAll)
  const context: HookContext = {
    options,
    log,
    env,
    sessions: createSessions(env),
    models,
    requestOptions,
    digests,
    store,
    publisher,
    directory,
    agents: learnAgents(input.client),
    messages: (sessionID) => storedMessages(input.client, sessionID),
    message: (sessionID, messageID) => storedMessage(input.client, sessionID, messageID),
  }
  return createHooks(context, async () => {
    await Promise.all([publisher.close(), digests.release(), store.release()])
  })
}

export default { id: "opencode-hudfold", server } satisfies PluginModule
