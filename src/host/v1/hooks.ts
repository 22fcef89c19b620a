// Connects the hooks to their functions, each behind its guard.

import type { Hooks } from "@opencode-ai/plugin"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { HookContext } from "../context.ts"
import { type Commit, guard } from "../guard.ts"
import { onCompacting } from "./compacting.ts"
import { onEvent } from "./event.ts"
import { onMessages } from "./messages.ts"
import { recallTool } from "./recall.ts"
import { onConfig, onSystem } from "./small-hooks.ts"

/**
 * The hooks of one directory. `dispose` is guarded like the others, with a deadline of its own. `replaced`: a body in place of
 * every hook's. Tests pass a faulty one.
 */
export function createHooks(context: HookContext, dispose: () => Promise<void>, replaced?: Body): Hooks {
  const { deadlineMs } = context.options
  const hooks = {
    "experimental.chat.messages.transform": (_, output) => onMessages(context, output),
    "experimental.chat.system.transform": (input, output) => onSystem(context, input, output),
    config: (input) => onConfig(context, input),
    event: (input) => onEvent(context, input),
    "experimental.session.compacting": (input, output) => onCompacting(context, input, output),
    dispose: () => dispose().then(() => undefined),
  } satisfies Bodies
  const guarded = Object.entries(hooks as Record<string, Body>).map(([hook, body]) => [
    hook,
    guard(hook, deadlineMs, context.log.report, replaced ?? body, MAX_WAIT_MS[hook]),
  ])
  // the tool list is part of the cached prefix, so it may depend on the options only
  const tool = context.options.fold.enabled ? { tool: { [RECALL_TOOL]: recallTool(context) } } : {}
  return { ...Object.fromEntries(guarded), ...tool } as Hooks
}

type Body = (...args: unknown[]) => Commit | undefined | Promise<Commit | undefined>
/** Functions with the arguments of OpenCode's hooks. */
type Bodies = {
  [Name in keyof Hooks]: NonNullable<Hooks[Name]> extends (...args: infer Args) => unknown
    ? (...args: Args) => ReturnType<Body>
    : never
}

/**
 * Hooks that may wait longer than the others. The messages hook waits only for the store, at a session's first requests.
 * Compacting takes the model many seconds, so loading the stored session may take one. OpenCode awaits dispose at the end of
 * `run`, where a store that does not close must not block the user's shell.
 */
const MAX_WAIT_MS: Readonly<Record<string, number>> = {
  "experimental.chat.messages.transform": 1000,
  "experimental.session.compacting": 1000,
  dispose: 2000,
}
