// The plugin module, for OpenCode 1 (`server`) and OpenCode 2 (`setup`): only the wiring.

import type { PluginModule } from "@opencode-ai/plugin"
import { createEnv } from "./digest/digests.ts"
import { createBackground } from "./host/background.ts"
import type { HookContext } from "./host/context.ts"
import { shareDigests } from "./host/digests.ts"
import { createLog, type LogClient } from "./host/log.ts"
import { createModels } from "./host/models.ts"
import { createPublisher } from "./host/publisher.ts"
import { createSessions } from "./host/sessions.ts"
import { statusOf } from "./host/status.ts"
import { shareStore } from "./host/store.ts"
import { createHooks } from "./host/v1/hooks.ts"
import { learnWithoutRecall, startedSessions, storedMessages } from "./host/v1/host.ts"
import { isHostV2, setupV2 } from "./host/v2/setup.ts"
import { readOptions, requestOptionsOf } from "./options.ts"
import { ignoredFolder } from "./system/data-folder.ts"
import { errorMessage } from "./system/values.ts"

type Host = Pick<HookContext, "directory" | "withoutRecall" | "storedMessages" | "subagents"> & {
  client: LogClient | undefined
}

/** What the hooks of one directory share, and how it ends; undefined when the options switch the plugin off. */
function createContext({ client, ...host }: Host, given: unknown) {
  const log = createLog(client)
  const { options, problems } = readOptions(given)
  for (const { message } of problems) log.warnUser(`opencode.json: ${message}`)
  if (!options.enabled) return
  const ignored = ignoredFolder()
  if (ignored) log.warnUser(ignored)
  const store = shareStore(options.store, log)
  const digests = shareDigests(options, log, () => publisher.publishAll())
  const env = createEnv(host.directory, digests)
  const warn = (problem: string) => (cause: unknown) => log.say("warn", `${problem}: ${errorMessage(cause)}`)
  const background = createBackground(warn("preparing folds failed"))
  const publisher = createPublisher(
    options,
    { prepare: digests.prepare, statusOf: (session) => statusOf(session, context) },
    warn("cannot write the panel's status file, so there is nothing to show in the panel"),
  )
  const context: HookContext = {
    ...host,
    options,
    log,
    env,
    digests,
    store,
    publisher,
    background,
    sessions: createSessions(env),
    models: createModels(options),
    requestOptions: requestOptionsOf(options),
  }
  const close = async () => {
    background.close()
    await Promise.all([publisher.close(), digests.release(), store.release()])
  }
  return { context, close }
}

const server: PluginModule["server"] = async ({ client, directory, worktree }, given) => {
  const host: Host = {
    client,
    directory: worktree && worktree !== "/" ? worktree : directory,
    withoutRecall: learnWithoutRecall(client),
    storedMessages: (sessionID, ids) => storedMessages(client, sessionID, ids),
    subagents: (sessionID) => startedSessions(client, sessionID),
  }
  const made = createContext(host, given)
  return made ? createHooks(made.context, made.close) : {}
}

/** Called by OpenCode 1 too, with another argument: then nothing may be started. */
async function setup(host: unknown): Promise<(() => Promise<void>) | undefined> {
  if (!isHostV2(host)) return
  const unasked = { withoutRecall: new Set<string>(), subagents: async () => [] }
  return setupV2(host, (given) => createContext({ ...given, ...unasked }, host.options))
}

export default { id: "opencode-hudfold", server, setup } satisfies PluginModule & { setup: unknown }
