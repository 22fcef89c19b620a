// `setup` of OpenCode 2, once for each location: hooks, the recall tool, and the events. OpenCode 1 calls it too, beside
// `server`, with an argument that has no session hooks; then nothing happens.

import { appendFile, constants, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import { RECALL_SCHEMA } from "../../fold/recall.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { dataFolder } from "../../system/data-folder.ts"
import { makePrivateFolder } from "../../system/private-folder.ts"
import { LATE, within } from "../../system/process.ts"
import { asRecord, asString } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import type { LogClient } from "../log.ts"
import { modelOf, RESERVED_TOKENS } from "../models.ts"
import { onEvent } from "../v1/event.ts"
import { recallTool } from "../v1/recall.ts"
import { type EventV1, eventV1, usageReport } from "./event.ts"
import { type HookContextV2, hooksV2, locations } from "./hooks.ts"
import { createKnown, createLearning, storedMessagesV2 } from "./learning.ts"
import type { SetupContext } from "./message.ts"

/** Whether the argument of `setup` is OpenCode 2's. */
export function isHostV2(context: unknown): context is SetupContext {
  return typeof asRecord(asRecord(context)?.session)?.hook === "function"
}

/** Makes what all hooks share, from what OpenCode 2 has in place of OpenCode 1's client. */
type MakeContext = (
  host: Pick<HookContext, "directory" | "storedMessages"> & { client: LogClient },
) => { context: HookContext; close(): Promise<void> } | undefined

const MAX_REGISTERING_MS = 2000
const MAX_CLOSING_MS = 2000

/** Returns the cleanup, which never throws. Waits for nothing of OpenCode's but the registrations. */
export async function setupV2(host: SetupContext, make: MakeContext): Promise<(() => Promise<void>) | undefined> {
  const project = host.location?.project?.directory
  const cwd = host.location?.directory || project || process.cwd()
  const directory = project && project !== "/" ? project : cwd
  const made = make({ directory, client: logClient(), storedMessages: (...asked) => storedMessagesV2(host, ...asked) })
  if (!made) return
  // OpenCode 2 does not pass its configuration to plugins, so the default of `compaction.buffer` is assumed
  made.context.models.keepFree(RESERVED_TOKENS)
  const known = createKnown()
  const context: HookContextV2 = {
    ...made.context,
    cwd,
    known,
    learning: createLearning(host, made.context.models, known, (sessionID, step) =>
      dispatch(context, sessionID, usageReport(sessionID, step)),
    ),
  }
  const { report } = context.log
  locations.add(context)
  const hooks = hooksV2(context)
  const events = new AbortController()
  const registerTool = async () => {
    // without stored messages a recall could return nothing
    if (!context.options.fold.enabled || !host.tool?.transform || !host.session?.context) return
    await host.tool.transform((editor) => editor.add(recallToolV2(context)))
  }
  const registerHook = async (name: keyof typeof hooks) => void (await host.session?.hook?.(name, hooks[name]))
  // every prompt waits for setup, and OpenCode calls a setup that failed again
  const registering = Promise.allSettled([registerHook("context"), registerHook("compaction"), registerTool()])
  const registered = await within(registering, MAX_REGISTERING_MS)
  if (registered === LATE) report("setup", `has not registered everything after ${MAX_REGISTERING_MS} ms`)
  else for (const one of registered) if (one.status === "rejected") report("setup", "could not register", one.reason)
  void listen(host, context, events.signal)
  return async () => {
    events.abort()
    locations.delete(context)
    await within(made.close(), MAX_CLOSING_MS).catch((cause) => report("cleanup", "failed", cause))
  }
}

/** Reads events until the plugin is unloaded. A failure of one does not end the loop. */
async function listen(host: SetupContext, context: HookContextV2, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of (await host.event?.subscribe?.({ signal })) ?? []) {
      if (signal.aborted) return
      try {
        onEventV2(context, event)
      } catch (cause) {
        context.log.report("event", "failed", cause)
      }
    }
  } catch (cause) {
    if (!signal.aborted) context.log.report("event", "ended; turns are no longer counted", cause)
  }
}

/** Sessions that no hook has seen are another location's; of a deleted one an earlier process may have stored something. */
function onEventV2(context: HookContextV2, given: unknown): void {
  const event = asRecord(given)
  const sessionID = asString(asRecord(event?.data)?.sessionID)
  if (!event || sessionID === undefined) return
  if (event.type !== "session.deleted" && !context.sessions.peek(sessionID)) return
  const translated = eventV1(event, context.known)
  if (translated) dispatch(context, sessionID, translated)
}

function dispatch(context: HookContextV2, sessionID: string, event: EventV1): void {
  const info = asRecord(event.properties.info)
  const session = context.sessions.peek(sessionID)
  // OpenCode 2 does not name the model in a usage report
  if (info && session) Object.assign(info, modelOf(session))
  onEvent(context, { event })
  if (event.type === "session.deleted") context.known.forget(sessionID)
}

/** In Code Mode, the default, the model would reach the tool only by writing a program. */
function recallToolV2(context: HookContextV2): object {
  const { description, execute } = recallTool(context)
  return {
    name: RECALL_TOOL,
    description,
    input: RECALL_SCHEMA,
    options: { codemode: false },
    async execute(input: unknown, call: unknown) {
      const sessionID = asString(asRecord(call)?.sessionID) ?? ""
      const answer = await execute(input as never, { sessionID } as never)
      return { content: typeof answer === "string" ? answer : answer.output }
    },
  }
}

const MAX_LOG_BYTES = 1_000_000
const LOG_NAME = "opencode2.log"
/** Follows no link. */
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW

/** Resolves when all lines are written. One at a time: of two at once, both would set a full file aside. */
let logged: Promise<void> = Promise.resolve()

/** OpenCode 2 gives plugins no log, so the lines go to a file in the data folder. One full file is kept as `.old`. */
export function logClient(): LogClient {
  return {
    app: {
      log({ body }) {
        const line = `${new Date().toISOString()} ${body.level} ${body.message}\n`
        logged = logged.catch(() => {}).then(() => appendToLog(line))
        return logged
      },
    },
  }
}

async function appendToLog(line: string): Promise<void> {
  const folder = dataFolder()
  const path = join(folder, LOG_NAME)
  makePrivateFolder(folder)
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  if (size >= MAX_LOG_BYTES) await rename(path, `${path}.old`)
  await appendFile(path, line, { mode: 0o600, flag: APPEND })
}
