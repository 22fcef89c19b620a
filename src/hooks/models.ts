// The models seen: their limits by name, and which one a session really calls. The messages hook is told neither; the
// system hook, which runs after it, is.

import { renew } from "../core/bounded.ts"
import type { ModelName } from "../core/hud/slots.ts"
import { record } from "../core/normalize.ts"
import type { Session } from "./sessions.ts"

export type Models = {
  /** Learns from the model OpenCode hands to a hook; with a session, also that the session calls it. */
  note(model: unknown, session?: Session): void
  /** the size of the model's context window in tokens, undefined when unknown or unlimited */
  contextLimit(name: ModelName | undefined): number | undefined
}

const MOST = 200

export function createModels(): Models {
  const limits = new Map<string, number>()
  return {
    note(model, session) {
      const { id, providerID, limit } = record(model) ?? {}
      if (typeof id !== "string" || typeof providerID !== "string") return
      if (session) session.called = { named: nameOf(session.ledger.facts.model), model: { providerID, modelID: id } }
      const context = record(limit)?.context
      if (typeof context === "number" && context > 0) renew(limits, `${providerID}/${id}`, context, MOST)
    },
    contextLimit: (name) => name && limits.get(nameOf(name)),
  }
}

/** The model the next call goes to: the one last called, unless the messages have come to name another since. */
export function modelOf({ called, ledger }: Session): ModelName | undefined {
  const named = ledger.facts.model
  return called && called.named === nameOf(named) ? called.model : named
}

function nameOf(model: ModelName | undefined): string {
  return model ? `${model.providerID}/${model.modelID}` : ""
}
