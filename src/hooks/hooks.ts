// The table of hooks: which function answers which, each behind its guard.

import type { Hooks } from "@opencode-ai/plugin"
import { onCompacting } from "./compacting.ts"
import type { HookContext } from "./context.ts"
import { onEvent } from "./event.ts"
import { type Commit, guard, type Report } from "./guard.ts"
import { onHeaders } from "./headers.ts"
import { onMessages } from "./messages.ts"
import { onSystem } from "./system.ts"

/** What each hook does, as functions of their own so that a test can put a faulty one in a place. */
export const BODIES = { onMessages, onSystem, onEvent, onCompacting, onHeaders }

/** The hooks of one directory. `dispose` is behind the same guard as the rest, with a deadline of its own. */
export function createHooks(context: HookContext, dispose: () => Promise<void>, bodies: typeof BODIES = BODIES): Hooks {
  const report: Report = (hook, problem, cause) => {
    const why = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : String(cause)}`
    context.log.say("warn", `${hook} ${problem}${why}`)
  }
  const { deadlineMs } = context.options
  const hooks = {
    "experimental.chat.messages.transform": (_, output) => bodies.onMessages(context, output),
    "experimental.chat.system.transform": (input, output) => bodies.onSystem(context, input, output),
    event: (input) => bodies.onEvent(context, input),
    "experimental.session.compacting": (input, output) => bodies.onCompacting(context, input, output),
    "chat.headers": (input, output) => bodies.onHeaders(context, input, output),
    dispose: async () => {
      await dispose()
      return undefined
    },
  } satisfies Bodies
  const guarded = Object.entries(hooks as Record<string, Body>).map(([hook, body]) => [
    hook,
    guard(hook, PATIENCE_MS[hook] ?? deadlineMs, report, body),
  ])
  return Object.fromEntries(guarded) as Hooks
}

type Body = (...args: unknown[]) => Commit | undefined | Promise<Commit | undefined>
type Named = Required<
  Pick<
    Hooks,
    | "experimental.chat.messages.transform"
    | "experimental.chat.system.transform"
    | "event"
    | "experimental.session.compacting"
    | "chat.headers"
    | "dispose"
  >
>
type Bodies = { [Name in keyof Named]: (...args: Parameters<Named[Name]>) => ReturnType<Body> }

/**
 * Hooks that may take longer than the rest, in ms. Compacting takes the model many seconds, so a look at the stored
 * session may take one. OpenCode awaits dispose at the end of `run`, where a store that will not close must not hold
 * the user's shell.
 */
const PATIENCE_MS: Readonly<Record<string, number>> = { "experimental.session.compacting": 1000, dispose: 2000 }
