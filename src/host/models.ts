// The models seen: their limits and prices by name, which one a session calls, and the size at which OpenCode compacts. The
// messages hook does not get the model; the system hook, which runs after it, does.

import { HOST_LIMITS, type PageLimits } from "../fold/pages.ts"
import type { ModelRecord, Pricing } from "../fold/pricing.ts"
import { pricingOf } from "../fold/pricing-table.ts"
import { type Options, pricingOverride } from "../options.ts"
import type { Circumstances } from "../request/request.ts"
import { type ModelName, modelKey } from "../session/conversation.ts"
import { asNumber, asRecord, asString, renew } from "../system/values.ts"
import type { Session } from "./sessions.ts"

export type Models = ReturnType<typeof createModels>

/** A list of all models of a few large providers has about a thousand. */
const MAX_MODELS = 5000

export function createModels(options: Options) {
  const prices = pricingOverride(options)
  const known = new Map<string, { limits: ModelLimits; pricing: Pricing; marksLast: boolean }>()
  /** what providers call the models that the user's configuration names otherwise */
  const apiIDs = new Map<string, string | undefined>()
  let toolOutput: PageLimits = HOST_LIMITS
  let compaction: CompactionOptions = {}
  const priceOf = (name: ModelName | undefined) => known.get(modelKey(name))?.pricing ?? pricingOf(name, prices)
  return {
    /** Records a model in OpenCode 1's shape; with a session, also that the session calls it. */
    note(model: unknown, session?: Session): void {
      const { id, providerID, limit, api, cost, options: own } = asRecord(model) ?? {}
      if (typeof id !== "string" || typeof providerID !== "string") return
      if (session) session.called = { named: modelKey(session.ledger.facts.model), model: { providerID, modelID: id } }
      const modelID = asString(asRecord(api)?.id) ?? id
      const named = { providerID, modelID, npm: asString(asRecord(api)?.npm), cost: costOf(cost) }
      const { context, input, output } = asRecord(limit) ?? {}
      const limits = { context: positive(context), input: positive(input), output: positive(output) }
      // then OpenCode leaves the marks to Anthropic or to Vercel's gateway
      const pricing = pricingOf(named, prices)
      const isLeft = asRecord(own)?.cacheControl !== undefined || named.npm === "@ai-sdk/gateway"
      const marksLast = isLeft && pricing.lookback !== undefined
      const key = modelKey({ providerID, modelID: id })
      renew(known, key, { limits, pricing, marksLast }, MAX_MODELS)
      renew(apiIDs, key, modelID, MAX_MODELS)
    },
    /** OpenCode 2 compacts when less than `buffer` of the context is free, or less than a tenth. */
    keepFree(buffer: number): void {
      compaction = { buffer }
    },
    /** Reads from OpenCode's configuration when it compacts, how much of a tool's answer it passes on, and models' names. */
    configure(config: unknown): void {
      for (const [providerID, provider] of Object.entries(asRecord(asRecord(config)?.provider) ?? {}))
        for (const [modelID, model] of Object.entries(asRecord(asRecord(provider)?.models) ?? {}))
          renew(apiIDs, modelKey({ providerID, modelID }), asString(asRecord(model)?.id), MAX_MODELS)
      const { auto, reserved } = asRecord(asRecord(config)?.compaction) ?? {}
      const { max_bytes: bytes, max_lines: lines } = asRecord(asRecord(config)?.tool_output) ?? {}
      toolOutput = { bytes: positive(bytes) ?? HOST_LIMITS.bytes, lines: positive(lines) ?? HOST_LIMITS.lines }
      compaction = {
        auto: typeof auto === "boolean" ? auto : undefined,
        reserved: asNumber(reserved),
      }
    },
    /** how much of a tool's answer OpenCode passes on uncut */
    answerLimits: () => toolOutput,
    /** what the model's provider charges */
    pricing: priceOf,
    /** the circumstances in which a call to the model is prepared */
    circumstances(name: ModelName | undefined, nowMs: number): Circumstances {
      const { limits = {}, marksLast } = known.get(modelKey(name)) ?? {}
      const full = fullSize(limits, compaction, outputCapOf(process.env.OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX))
      const compactsAt = compaction.auto === false ? undefined : full
      const most = limits.input ?? limits.context ?? 0
      // an answer that may fill the context would leave no room for messages, but few are that long
      const fullAt = full === undefined ? undefined : (compactsAt ?? Math.max(full, most / 2))
      const model = name && { ...name, apiID: apiIDs.get(modelKey(name)) }
      return { nowMs, model, pricing: priceOf(name), contextLimit: limits.context, fullAt, compactsAt, marksLast }
    },
  }
}

/** The model of the next call: the one last called, unless the messages name another since. */
export function modelOf({ called, ledger }: Session, named = ledger.facts.model): ModelName | undefined {
  return called && called.named === modelKey(named) ? called.model : named
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined
}

function costOf(value: unknown): ModelRecord["cost"] {
  const { tier, experimentalOver200K: older, ...cost } = asRecord(value) ?? {}
  if (!("input" in cost)) return
  const { read, write } = asRecord(cost.cache) ?? {}
  const price = (one: unknown) => asNumber(one) ?? 0
  // the older field applies where none of the tiers does
  const tiers = [cost.tiers, { ...asRecord(older), tier: { size: 200_000 } }].flat().flatMap((one) => costOf(one) ?? [])
  return {
    input: price(cost.input),
    output: price(cost.output),
    cacheRead: price(read),
    cacheWrite: price(write),
    above: asNumber(asRecord(tier)?.size) ?? Number.POSITIVE_INFINITY,
    tiers: tiers.sort((one, other) => other.above! - one.above!),
  }
}

/** From OpenCode's model record; 0 or missing is unknown. */
type ModelLimits = { context?: number | undefined; input?: number | undefined; output?: number | undefined }

/** From OpenCode's configuration, where OPENCODE_DISABLE_AUTOCOMPACT has already become `auto: false`. */
type CompactionOptions = {
  auto?: boolean | undefined
  reserved?: number | undefined
  /** OpenCode 2's: kept free of both limits at least */
  buffer?: number
}

/** Output tokens OpenCode requests at most, unless OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX says otherwise. */
export const OUTPUT_CAP = 32_000

/** Tokens kept free below an input limit, unless `compaction.reserved` says otherwise; OpenCode 2's `compaction.buffer`. */
export const RESERVED_TOKENS = 20_000

/**
 * The size of the last call (input, output, cache read and write together) at which OpenCode compacts, unless that is off,
 * computed as OpenCode 1.18 does, or with a `buffer` as OpenCode 2: the smaller of what its older and newer versions allow.
 * Undefined with an unknown context. It can be 0: a model whose answer may fill its context always compacts.
 *
 * `reserved` counts only where the model has an input limit; otherwise room for the answer is kept free.
 */
export function fullSize(limits: ModelLimits, compaction: CompactionOptions = {}, outputCap = OUTPUT_CAP) {
  if (!limits.context) return undefined
  const answer = Math.min(limits.output || outputCap, outputCap)
  if (compaction.buffer !== undefined) {
    const most = Math.min(limits.input || Number.POSITIVE_INFINITY, limits.context)
    const free = Math.max(compaction.buffer, Math.floor(most / 10))
    return Math.max(0, Math.min(most - free, limits.context - answer))
  }
  if (!limits.input) return Math.max(0, limits.context - answer)
  return Math.max(0, limits.input - (compaction.reserved ?? Math.min(RESERVED_TOKENS, answer)))
}

/** The output cap set by OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX; anything but a positive integer is ignored. */
export function outputCapOf(variable: string | undefined): number {
  const requested = Number(variable)
  return Number.isInteger(requested) && requested > 0 ? requested : OUTPUT_CAP
}
