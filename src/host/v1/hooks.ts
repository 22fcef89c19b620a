// Connects the hooks to their functions, each behind its guard.

import type { Hooks } from "@opencode-ai/plugin"
import { type Folds, foldedKey } from "../../fold/fold.ts"
import { withRecalled } from "../../fold/folding.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message } from "../../session/conversation.ts"
import { type Entry, fingerprint, readEntry } from "../../session/entry.ts"
import type { HookContext } from "../context.ts"
import { type Commit, guard, type Report, reportTo } from "../guard.ts"
import { onCompacting } from "./compacting.ts"
import { onEvent } from "./event.ts"
import { onMessages } from "./messages.ts"
import { type RecallSources, recallTool } from "./recall.ts"
import { onConfig, onHeaders, onSystem } from "./small-hooks.ts"

/** The functions of the hooks. Tests replace them with faulty ones. */
export const BODIES = { onMessages, onSystem, onConfig, onEvent, onCompacting, onHeaders }

/** The hooks of one directory. `dispose` is guarded like the others, with a deadline of its own. */
export function createHooks(context: HookContext, dispose: () => Promise<void>, bodies: typeof BODIES = BODIES): Hooks {
  const report = reportTo(context.log)
  const { deadlineMs } = context.options
  const hooks = {
    "experimental.chat.messages.transform": (_, output) => bodies.onMessages(context, output),
    "experimental.chat.system.transform": (input, output) => bodies.onSystem(context, input, output),
    config: (input) => bodies.onConfig(context, input),
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
    guard(hook, deadlineMs, report, body, MAX_WAIT_MS[hook]),
  ])
  // the tool list is part of the cached prefix, so it may depend on the options only
  const tool = context.options.fold.enabled
    ? { tool: { [RECALL_TOOL]: recallTool(recallSources(context, report)) } }
    : {}
  return { ...Object.fromEntries(guarded), ...tool } as Hooks
}

const NO_FOLDS: Folds = new Map()

/** The tool handles its own errors, so it needs no guard. */
export function recallSources(context: HookContext, report: Report): RecallSources {
  const { sessions, models, env, message, messages } = context
  // one message may have several folds; the messages live only as long as one recall
  const entries = new WeakMap<Message, Entry>()
  const entryOf = (one: Message) => {
    const entry = entries.get(one) ?? readEntry(one, fingerprint(one), 0, env)
    entries.set(one, entry)
    return entry
  }
  return {
    foldsOf: (sessionID) => sessions.peek(sessionID)?.folding.byID ?? NO_FOLDS,
    stepsOf(sessionID) {
      const ledger = sessions.peek(sessionID)?.ledger
      if (!ledger || ledger.entries.length === 0) return
      const { calls } = ledger.facts
      return { from: calls - ledger.entries.filter(({ kind }) => kind === "step").length + 1, to: calls }
    },
    isSame(one, fold) {
      const key = foldedKey(entryOf(one), fold)
      return key !== undefined && env.hash(key) === fold.hash
    },
    storedMessage: message,
    storedMessages: messages,
    limits: () => models.answerLimits(),
    report: (cause) => report(RECALL_TOOL, "failed", cause),
    recalled(sessionID, folds) {
      const session = sessions.peek(sessionID)
      if (!session) return
      session.turn.recalls++
      session.folding = withRecalled(session.folding, folds, session.ledger.facts.calls)
    },
  }
}

type Body = (...args: unknown[]) => Commit | undefined | Promise<Commit | undefined>
/** Functions with the arguments of OpenCode's hooks. */
type Bodies = {
  [Name in keyof Hooks]: NonNullable<Hooks[Name]> extends (...args: infer Args) => unknown
    ? (...args: Args) => ReturnType<Body>
    : never
}

/**
 * Hooks that may wait longer than the others. The messages hook waits only for the store, once a session.
 * Compacting takes the model many seconds, so loading the stored session may take one. OpenCode awaits dispose at the end
 * of `run`, where a store that does not close must not block the user's shell.
 */
const MAX_WAIT_MS: Readonly<Record<string, number>> = {
  "experimental.chat.messages.transform": 1000,
  "experimental.session.compacting": 1000,
  dispose: 2000,
}
