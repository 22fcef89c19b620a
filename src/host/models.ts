// The models seen: their limits and prices by name, and which one a session really calls. The messages hook is told
// neither; the system hook, which runs after it, is.

import { type Limits as AnswerLimits, HOST_LIMITS } from "../fold/pages.ts"
import { type ModelRecord, type Tariff, tariffOf } from "../fold/tariff.ts"
import { compactsAt, outputCapOf } from "../fold/threshold.ts"
import { type Options, tariffOverride } from "../options.ts"
import type { Circumstances } from "../request/request.ts"
import type { ModelName } from "../session/conversation.ts"
import { asRecord, asString, renew } from "../system/values.ts"
import type { Session } from "./sessions.ts"

export type Models = {
  /** Learns from the model OpenCode hands to a hook; with a session, also that the session calls it. */
  note(model: unknown, session?: Session): void
  /** Learns from OpenCode's configuration when it compacts, and how much it passes on of what a tool answers. */
  configure(config: unknown): void
  /** what OpenCode passes on whole of a tool's answer */
  answerLimits(): AnswerLimits
  /** size of the model's context window in tokens, undefined when unknown or unlimited */
  contextLimit(name: ModelName | undefined): number | undefined
  /** what a call to the model is to be prepared for */
  circumstances(name: ModelName | undefined, nowMs: number): Circumstances
}

type Limits = { context?: number; input?: number; output?: number }
type Known = { limits: Limits; tariff: Tariff }

const MOST = 200

export function createModels(options: Options): Models {
  const prices = tariffOverride(options)
  const known = new Map<string, Known>()
  let answer: AnswerLimits = HOST_LIMITS
  let compaction: { auto?: boolean; reserved?: number } = {}
  const limitsOf = (name: ModelName | undefined) => (name && known.get(nameOf(name))?.limits) ?? {}
  return {
    note(model, session) {
      const { id, providerID, limit, api, cost } = asRecord(model) ?? {}
      if (typeof id !== "string" || typeof providerID !== "string") return
      if (session) session.called = { named: nameOf(session.ledger.facts.model), model: { providerID, modelID: id } }
      const npm = asString(asRecord(api)?.npm)
      const charged = costOf(cost)
      const modelID = asString(asRecord(api)?.id) ?? id
      const named: ModelRecord = { providerID, modelID, ...(npm ? { npm } : {}), ...(charged ? { cost: charged } : {}) }
      renew(known, `${providerID}/${id}`, { limits: readLimits(limit), tariff: tariffOf(named, prices) }, MOST)
    },
    configure(config) {
      const { auto, reserved } = asRecord(asRecord(config)?.compaction) ?? {}
      const { max_bytes: bytes, max_lines: lines } = asRecord(asRecord(config)?.tool_output) ?? {}
      answer = {
        bytes: typeof bytes === "number" && bytes > 0 ? bytes : HOST_LIMITS.bytes,
        lines: typeof lines === "number" && lines > 0 ? lines : HOST_LIMITS.lines,
      }
      compaction = {
        ...(typeof auto === "boolean" ? { auto } : {}),
        ...(typeof reserved === "number" ? { reserved } : {}),
      }
    },
    answerLimits: () => answer,
    contextLimit: (name) => limitsOf(name).context,
    circumstances(name, nowMs) {
      const limits = limitsOf(name)
      const threshold = compactsAt(limits, compaction, outputCapOf(process.env.OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX))
      return {
        nowMs,
        ...(name ? { model: name } : {}),
        ...(limits.context === undefined ? {} : { contextLimit: limits.context }),
        ...(threshold === undefined ? {} : { compactsAt: threshold }),
        tariff: (name && known.get(nameOf(name))?.tariff) ?? tariffOf(name, prices),
      }
    },
  }
}

/** The model the next call goes to: the one last called, unless the messages have come to name another since. */
export function modelOf({ called, ledger }: Session, named = ledger.facts.model): ModelName | undefined {
  return called && called.named === nameOf(named) ? called.model : named
}

function nameOf(model: ModelName | undefined): string {
  return model ? `${model.providerID}/${model.modelID}` : ""
}

function readLimits(value: unknown): Limits {
  const limits: Limits = {}
  for (const name of ["context", "input", "output"] as const) {
    const limit = asRecord(value)?.[name]
    if (typeof limit === "number" && limit > 0) limits[name] = limit
  }
  return limits
}

function costOf(value: unknown): ModelRecord["cost"] {
  const cost = asRecord(value)
  const cache = asRecord(cost?.cache)
  const price = (one: unknown) => (typeof one === "number" ? one : 0)
  if (!cost) return
  return {
    input: price(cost.input),
    output: price(cost.output),
    cacheRead: price(cache?.read),
    cacheWrite: price(cache?.write),
  }
}
