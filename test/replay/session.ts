// Shared by the replay tests: a pricing with round figures, and options.

import { createEnv } from "../../src/digest/digests.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { readOptions, requestOptionsOf } from "../../src/options.ts"
import type { ReplayOptions } from "../../src/replay/calls.ts"
import { type ReplayedCall, replaySession } from "../../src/replay/replay.ts"
import { ROOT, type SessionBuilder } from "../support/session.ts"

export const MARKED: Pricing = {
  row: "marked",
  read: 0.1,
  write: 1.25,
  output: 5,
  lifetimeMs: 300_000,
  minimumTokens: 0,
  billing: "tokens",
  usdPerMillion: 0,
}

export const OFF = { hud: { enabled: false }, fold: { enabled: false } }

export function optionsOf(given: unknown = {}, pricing: Pricing | null = MARKED): ReplayOptions {
  const { options, problems } = readOptions(given)
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"))
  return {
    ...requestOptionsOf(options),
    disabledAgents: options.disabledAgents,
    pricingOverride: {},
    ...(pricing ? { namedPrice: { providerID: "anthropic", pricing } } : {}),
  }
}

export function replay(
  { messages }: SessionBuilder,
  given: unknown = {},
  pricing: Pricing | null = MARKED,
  onCall?: (done: ReplayedCall) => void,
) {
  return replaySession(conversationOf(messages), optionsOf(given, pricing), createEnv(ROOT), onCall)
}

/** Text that with the label of its piece comes to `tokens` tokens. */
export function filler(role: "user" | "assistant", tokens: number): string {
  return "x".repeat(4 * tokens - role.length)
}
