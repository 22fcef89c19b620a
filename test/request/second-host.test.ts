// Everything beyond the host's room works on a conversation, whoever holds it. A second, tiny adapter over messages of another
// shape (results as messages of their own, without ids; usage, times and metadata kept elsewhere, as OpenCode 2 does)
// gives the same folds and the same HUDs, request by request.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { replayCalls } from "../../src/replay/calls.ts"
import type { Message, ModelName, Part, ToolStatus, Usage } from "../../src/session/conversation.ts"
import { optionsOf } from "../replay/session.ts"
import { madeUpSession } from "../support/made-up.ts"
import { ROOT } from "../support/session.ts"

type Content =
  | { type: "text" | "reasoning"; text: string }
  | { type: "tool-call"; id: string; name: string; input: Record<string, unknown> }
  | { type: "tool-result"; id: string; name: string; result: { type: "text" | "error"; value: string } }

type OtherMessage = { id?: string; role: "user" | "assistant" | "tool"; content: Content[] }

/** What the other host tells by events and not in its messages. */
type Aside = {
  steps: ReadonlyMap<
    string,
    { createdMs: number; usage: Usage | undefined; model: ModelName | undefined; cost: number }
  >
  calls: ReadonlyMap<string, { partID: string; metadata: Record<string, unknown>; endMs: number }>
}

/** A stored session as the other host would hold it. */
function asOther(stored: readonly HostMessage[]): { messages: OtherMessage[]; aside: Aside } {
  const steps: [string, { createdMs: number; usage: Usage | undefined; model: ModelName | undefined; cost: number }][] =
    []
  const calls: [string, { partID: string; metadata: Record<string, unknown>; endMs: number }][] = []
  const messages = conversationOf(stored).flatMap((message): OtherMessage[] => {
    const { id, createdMs, usage, model, cost } = message
    steps.push([id, { createdMs, usage, model, cost }])
    const role = message.kind === "user" ? "user" : "assistant"
    const results: OtherMessage[] = []
    const content = message.parts.flatMap((part): Content[] => {
      if (part.type === "text" || part.type === "reasoning") return [{ type: part.type, text: part.text }]
      if (part.type !== "tool") return []
      const { callID, tool, input, output, status, metadata, endMs = 0 } = part
      calls.push([callID, { partID: part.id, metadata, endMs }])
      const type = status === "error" ? "error" : "text"
      results.push({
        role: "tool",
        content: [{ type: "tool-result", id: callID, name: tool, result: { type, value: output } }],
      })
      return [{ type: "tool-call", id: callID, name: tool, input }]
    })
    return [{ id, role, content }, ...results]
  })
  return { messages, aside: { steps: new Map(steps), calls: new Map(calls) } }
}

/** The second adapter. */
function conversationOfOther(messages: readonly OtherMessage[], { steps, calls }: Aside): Message[] {
  const results = new Map(
    messages.flatMap(({ role, content }) =>
      role === "tool"
        ? content.flatMap((one) => (one.type === "tool-result" ? [[one.id, one.result] as const] : []))
        : [],
    ),
  )
  return messages.flatMap(({ id, role, content }): Message[] => {
    if (role === "tool" || id === undefined) return []
    const parts = content.map((one): Part => {
      if (one.type === "text") return { type: "text", text: one.text, by: "user", ignored: false }
      if (one.type !== "tool-call") return { type: "reasoning", text: one.type === "reasoning" ? one.text : "" }
      const result = results.get(one.id)
      const { partID = one.id, metadata = {}, endMs = 0 } = calls.get(one.id) ?? {}
      const status: ToolStatus = !result ? "running" : result.type === "error" ? "error" : "completed"
      return {
        ...{ type: "tool", id: partID, callID: one.id, tool: one.name, status, input: one.input },
        ...{ output: result?.value ?? "", metadata, endMs, removed: false },
      }
    })
    const { createdMs = 0, usage, model, cost = 0 } = steps.get(id) ?? {}
    return [
      {
        ...{ id, sessionID: "ses_other", kind: role === "user" ? "user" : "step", agent: "build", model, usage, cost },
        ...{ createdMs, completedMs: undefined, error: undefined, root: ROOT, size: parts.length, parts },
      },
    ]
  })
}

test("a second adapter over another host's messages gives the same folds and HUDs, request by request", () => {
  // never compacted: which messages a compaction leaves is the host's to say
  const { messages: stored } = madeUpSession({ calls: 150, compactsAt: 1e9 })
  const { messages, aside } = asOther(stored)
  const run = (conversation: Message[]) =>
    Array.from(replayCalls(conversation, optionsOf(), createEnv(ROOT)), ({ send }) => {
      const sent = send()
      return { hud: sent?.hud?.text, folds: [...(sent?.change.folds.values() ?? [])].map(({ id, text }) => [id, text]) }
    })
  const first = run(conversationOf(stored))
  const second = run(conversationOfOther(messages, aside))
  expect(second).toEqual(first)
  // outputs and whole steps
  expect(JSON.stringify(first)).toMatch(/"folded r[0-9a-z]{7} · /)
  expect(JSON.stringify(first)).toMatch(/"20 (?:said: |[a-z]+ )/)
})
