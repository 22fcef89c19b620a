// The table of hooks: which function answers which, each behind its guard.

import type { Hooks } from "@opencode-ai/plugin"
import { onCompacting } from "./compacting.ts"
import type { HookContext } from "./context.ts"
import { onEvent } from "./event.ts"
import { guard, type Report } from "./guard.ts"
import { onHeaders } from "./headers.ts"
import { onMessages } from "./messages.ts"
import { onSystem } from "./system.ts"

/** What each hook does, as functions of their own so that a test can put a faulty one in a place. */
export const BODIES = { onMessages, onSystem, onEvent, onCompacting, onHeaders }

/** The hooks of one directory. `dispose` is behind the same guard as the rest, with a deadline of its own. */
export function createHooks(context: HookContext, dispose: () => Promise<void>, bodies: typeof BODIES = BODIES): Hooks {
  const report: Report = (hook, problem, cause) => {
    const why = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : String(cause)}`
    context.log.say("warn", `${hook} ${problem}${why}; the request went out without it`)
  }
  const { deadlineMs } = context.options
  const guarded = <Args extends unknown[]>(
    hook: string,
    body: (...args: Args) => ReturnType<Parameters<typeof guard<Args>>[3]>,
  ) => guard(hook, deadlineMs, report, body)
  return {
    "experimental.chat.messages.transform": guarded("experimental.chat.messages.transform", (_, output) =>
      bodies.onMessages(context, output),
    ),
    "experimental.chat.system.transform": guarded("experimental.chat.system.transform", (input, output) =>
      bodies.onSystem(context, input, output),
    ),
    event: guarded("event", (input) => bodies.onEvent(context, input)),
    "experimental.session.compacting": guarded("experimental.session.compacting", (input, output) =>
      bodies.onCompacting(context, input, output),
    ),
    "chat.headers": guarded("chat.headers", (input, output) => bodies.onHeaders(context, input, output)),
    dispose: guard("dispose", DISPOSE_MS, report, async () => {
      await dispose()
      return undefined
    }),
  } satisfies Hooks
}

/** OpenCode awaits dispose at the end of `run`; a store that will not close must not hold the user's shell. */
const DISPOSE_MS = 2000
