// Stored messages as the ledger reads them, for tests that build sessions in OpenCode's shapes.

import { sourcesAhead } from "../../src/fold/ahead.ts"
import { applyChange } from "../../src/host/v1/apply.ts"
import { conversationOf, partOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { SECTIONS } from "../../src/hud/sections.ts"
import {
  accept,
  type Circumstances,
  type Prepared,
  prepareRequest,
  type RequestOptions,
  type SessionState,
} from "../../src/request/request.ts"
import type { ToolPart } from "../../src/session/conversation.ts"
import type { createLedger, Reading } from "../../src/session/ledger.ts"
import { contextAt } from "../../src/session/recorded.ts"
import type { Env } from "../../src/session/tool-event.ts"

/** Has the ledger read the messages and take what it read as its state. */
export function take(ledger: ReturnType<typeof createLedger>, messages: readonly HostMessage[]): Reading {
  const reading = ledger.read(conversationOf(messages))
  ledger.accept(reading)
  return reading
}

export type Request = Prepared & {
  /** writes the change into the array and makes it the session's state */
  commit(): void
}

/** Folding alone, without a HUD. */
export const FOLDING: RequestOptions = {
  hud: { enabled: false, slot: "tail", budgetTokens: 250, sections: SECTIONS },
  fold: { enabled: true },
  isProtected: () => false,
}

/** The request for an array of OpenCode's, as its hook prepares it. */
export function prepare(
  messages: HostMessage[],
  state: SessionState,
  circumstances: Circumstances,
  options: RequestOptions,
  env: Env,
): Request {
  const conversation = conversationOf(messages)
  const prepared = prepareRequest({
    messages: conversation,
    reading: state.ledger.read(conversation),
    state,
    circumstances,
    options,
    env,
  })
  return {
    ...prepared,
    commit() {
      applyChange(messages, prepared.change)
      accept(state, prepared)
    },
  }
}

/** What is done between a request and the next one, when there is time. `messages`: the array that went out. */
export function findAhead({ reading, change }: Prepared, messages: readonly HostMessage[], env: Env): void {
  const { entries } = reading
  const source = { entries, messages: conversationOf(messages), folds: change.folds }
  for (const _ of sourcesAhead(source, env));
}

/** A stored tool part as the ledger reads it. */
export function toolPart(part: HostPart): ToolPart {
  const read = partOf(part)
  if (read.type !== "tool") throw new Error(`a ${read.type} is no tool call`)
  return read
}

/** What OpenCode hands over for the call at index `at` of a stored session. */
export function arrayAt(messages: readonly HostMessage[], at = messages.length): HostMessage[] {
  const all = conversationOf(messages)
  return contextAt(all, at).flatMap((message) => messages[all.indexOf(message)] ?? [])
}
