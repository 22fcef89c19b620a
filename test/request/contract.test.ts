// The contract of a hook's body: it looks and answers a change, and what drops the answer has changed nothing. And the same
// messages prepared twice are the same bytes.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { createEnv } from "../../src/digest/digests.ts"
import { applyChange } from "../../src/host/v1/apply.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { prepareRequest, type SessionState } from "../../src/request/request.ts"
import { play, type Sent, sessions } from "../fold/sessions.ts"
import { ROOT } from "../support/session.ts"
import { sized } from "../support/size.ts"

const RUNS = sized(10, 1_000, 25)
const env = createEnv(ROOT)

/** All that a state holds, as text. */
function stateOf({ ledger, signals, hud, folding, sent }: SessionState): string {
  const plain = (_: string, value: unknown): unknown =>
    value instanceof Map ? [...value] : value instanceof Set ? [...value] : value
  const { facts, entries, size } = ledger
  return JSON.stringify({ facts, entries, size, signals, hud, folding, ends: sent?.ends, atMs: sent?.atMs }, plain)
}

function prepareAgain({ given, conversation, circumstances, options }: Sent) {
  const messages = conversationOf(given)
  return prepareRequest({
    messages,
    reading: conversation.ledger.read(messages),
    state: conversation,
    circumstances,
    options,
    env,
  })
}

test(`in ${RUNS} random sessions a request that is prepared and dropped has changed nothing`, () => {
  fc.assert(
    fc.property(sessions, (plan) => {
      play(plan, (sent) => {
        const state = stateOf(sent.conversation)
        const array = JSON.stringify(sent.given)
        prepareAgain(sent)
        expect(stateOf(sent.conversation)).toBe(state)
        expect(JSON.stringify(sent.given)).toBe(array)
      })
    }),
    { numRuns: RUNS },
  )
})

test(`in ${RUNS} random sessions the same messages prepared twice are the same bytes`, () => {
  const bytes = (sent: Sent) => {
    const array: HostMessage[] = structuredClone(sent.given)
    applyChange(array, prepareAgain({ ...sent, given: array }).change)
    return JSON.stringify(array)
  }
  fc.assert(
    fc.property(sessions, (plan) => {
      play(plan, (sent) => expect(bytes(sent)).toBe(bytes(sent)))
    }),
    { numRuns: RUNS },
  )
})

test(`in ${RUNS} random sessions a request without folds is remembered without them`, () => {
  fc.assert(
    fc.property(sessions, (plan) => {
      play(plan, (sent) => {
        const { change, next } = prepareAgain({ ...sent, options: { ...sent.options, fold: { enabled: false } } })
        expect(change.folds.size).toBe(0)
        expect(next.sent?.wire.filter(({ holds }) => holds === "record")).toEqual([])
      })
    }),
    { numRuns: RUNS },
  )
})
