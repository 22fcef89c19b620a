// `setup` of OpenCode 2, once for each location: hooks, the recall tool, and the events. OpenCode 1 calls it too, beside
// `server`, with an argument that has no session hooks; then nothing happens.

import { appendFile, mkdir, rename, stat } from "node:fs/promises"
import { join } from "node:path"
import { RESERVED_TOKENS } from "../../fold/limits.ts"
import { recallSchema } from "../../fold/recall.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { dataFolder } from "../../system/data-folder.ts"
import { LATE, within } from "../../system/process.ts"
import { asRecord, asString } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import { type Report, reportTo } from "../guard.ts"
import type { LogClient } from "../log.ts"
import { onEvent } from "../v1/event.ts"
import { recallSources } from "../v1/hooks.ts"
import { recallTool } from "../v1/recall.ts"
import { type EventV1, eventV1, usageReport } from "./event.ts"
import { calledModel, type HookContextV2, hooksV2 } from "./hooks.ts"
import { createKnown } from "./known.ts"
import { createLearning, storedSources } from "./learning.ts"
import type { SetupContext } from "./message.ts"

/** Whether the argument of `setup` is OpenCode 2's. */
export function isHostV2(context: unknown): context is SetupContext {
  return typeof asRecord(asRecord(context)?.session)?.hook === "function"
}

/** Makes what all hooks share, from what OpenCode 2 has in place of OpenCode 1's client. */
export type MakeContext = (host: {
  directory: string
  client: LogClient
  messages: HookContext["messages"]
  message: HookContext["message"]
}) => { context: HookContext; close(): Promise<void> } | undefined

const MAX_REGISTERING_MS = 2000
const MAX_CLOSING_MS = 2000

/** Answers the cleanup. It never throws, and never waits for OpenCode's answers beyond the registrations. */
export async function setupV2(host: SetupContext, make: MakeContext): Promise<(() => Promise<void>) | undefined> {
  const directory = directoryOf(host)
  const { recent, ...sources } = storedSources(host)
  const made = make({ directory, client: logClient(), ...sources })
  if (!made) return
  // OpenCode 2 does not say what its configuration has; another `compaction.buffer` than the default is not known
  made.context.models.keepFree(RESERVED_TOKENS)
  const known = createKnown()
  let offersRecall = false
  const context: HookContextV2 = {
    ...made.context,
    known,
    learning: createLearning(host, made.context.models, known, recent, (sessionID, step) =>
      tell(context, sessionID, usageReport(sessionID, step)),
    ),
    offersRecall: () => offersRecall,
  }
  const report = reportTo(context.log)
  const hooks = hooksV2(context, report)
  const events = new AbortController()
  const takesTool = async () => {
    if (!context.options.fold.enabled || !host.tool?.transform) return
    await host.tool.transform((editor) => editor.add(recallToolV2(context, report)))
    offersRecall = true
  }
  const takesHook = async (name: keyof typeof hooks) => void (await host.session?.hook?.(name, hooks[name]))
  // every prompt waits for setup, and one that fails is tried again
  const registering = Promise.allSettled([takesHook("context"), takesHook("compaction"), takesTool()])
  const registered = await within(registering, MAX_REGISTERING_MS)
  if (registered === LATE) report("setup", `has not registered everything after ${MAX_REGISTERING_MS} ms`)
  else for (const one of registered) if (one.status === "rejected") report("setup", "could not register", one.reason)
  void listen(host, context, events.signal, report)
  return async () => {
    events.abort()
    await within(made.close(), MAX_CLOSING_MS).catch((cause) => report("cleanup", "failed", cause))
  }
}

function directoryOf({ location }: SetupContext): string {
  const project = location?.project?.directory
  return (project && project !== "/" ? project : location?.directory) || process.cwd()
}

/** Reads events until the plugin is unloaded. A failure of one does not end the loop. */
async function listen(host: SetupContext, context: HookContextV2, signal: AbortSignal, report: Report): Promise<void> {
  try {
    for await (const event of (await host.event?.subscribe?.({ signal })) ?? []) {
      if (signal.aborted) return
      try {
        hear(context, event)
      } catch (cause) {
        report("event", "failed", cause)
      }
    }
  } catch (cause) {
    if (!signal.aborted) report("event", "ended; turns are no longer counted", cause)
  }
}

/** Several locations share a process, and each hears all events: what no hook of this one has seen is another's. */
function hear(context: HookContextV2, given: unknown): void {
  const event = asRecord(given)
  const sessionID = asString(asRecord(event?.data)?.sessionID)
  if (!event || sessionID === undefined || !context.sessions.peek(sessionID)) return
  const told = eventV1(event, context.known)
  if (told) tell(context, sessionID, told)
}

function tell(context: HookContextV2, sessionID: string, told: EventV1): void {
  const info = asRecord(told.properties.info)
  if (info) Object.assign(info, calledModel(context, sessionID))
  onEvent(context, { event: told })
  if (told.type === "session.deleted") context.known.forget(sessionID)
}

/** In Code Mode, the default, the model would reach the tool only by writing a program. */
function recallToolV2(context: HookContextV2, report: Report): object {
  const { description, execute } = recallTool(recallSources(context, report))
  return {
    name: RECALL_TOOL,
    description,
    input: recallSchema(),
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

/** OpenCode 2 gives plugins no log, so the lines go to a file in the data folder. A full one is kept beside the next. */
export function logClient(): LogClient {
  return {
    app: {
      async log({ body }) {
        const folder = dataFolder()
        const path = join(folder, LOG_NAME)
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const { size } = await stat(path).catch(() => ({ size: 0 }))
        if (size >= MAX_LOG_BYTES) await rename(path, `${path}.old`)
        await appendFile(path, `${new Date().toISOString()} ${body.level} ${body.message}\n`, { mode: 0o600 })
      },
    },
  }
}
