// A replay counts the requests that the hook sends: the same texts in the same order.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { conversationOf, messageOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { piecesByMessage } from "../../src/replay/pieces.ts"
import { CLEARED } from "../../src/session/conversation.ts"
import { oddSessions, play } from "../fold/sessions.ts"
import { sized } from "../support/size.ts"

const RUNS = sized(20, 1_000, 50)

/** What OpenCode makes of an array, as texts. */
function textsOf(messages: readonly HostMessage[]): string[] {
  const sent = messages.filter((message) => messageOf(message).error !== "failed")
  return sent.flatMap(({ parts }) => [...parts.flatMap(writtenIn), ...parts.flatMap(resultOf)])
}

function writtenIn({ type, text, state, filename }: HostPart): string[] {
  if (type === "tool") return [JSON.stringify(state?.input)]
  if (type === "compaction") return ["What did we do so far?"]
  if (type === "file") return [String(filename)]
  return (type === "text" || type === "reasoning") && text ? [text] : []
}

function resultOf({ type, state }: HostPart): string[] {
  if (type !== "tool") return []
  if (state?.status === "completed") return [state.time?.compacted ? CLEARED : (state.output ?? "")]
  return [state?.status === "error" ? (state.error ?? "") : "[Tool execution was interrupted]"]
}

test(`in ${RUNS} random sessions with failed and interrupted steps the replayed requests are those that are sent`, () => {
  let folded = 0
  fc.assert(
    fc.property(oddSessions, (plan) => {
      play(plan, ({ given, messages, call }) => {
        folded += call.steps
        const pieces = piecesByMessage(conversationOf(given), call.change).flat()
        expect(pieces.map(({ body }) => body)).toEqual(textsOf(messages))
      })
    }),
    { numRuns: RUNS },
  )
  expect(folded).toBeGreaterThan(0)
}, 600_000)
