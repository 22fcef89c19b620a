// Whatever the host hands over, the hooks resolve, and the only thing they change is the HUD.

import { expect, test } from "bun:test"
import fc from "fast-check"
import type { HostMessage } from "../../src/core/host.ts"
import plugin from "../../src/plugin.ts"
import { messageArrays } from "./arrays.ts"

const RUNS = 100_000

type Transform = (input: object, output: { messages: unknown }) => Promise<void>

const HUD = /\n*<hud>\nstatus by opencode-hud, call \d+[\s\S]*?<\/hud>/

/** The array without the HUD, in whichever slot it is; what was a HUD message when it came in is none of the user's. */
function withoutHud(messages: HostMessage[]): unknown {
  return messages
    .filter((message) => !(typeof message?.info?.id === "string" && message.info.id.startsWith("msg_opencode_hud")))
    .map((message) => {
      if (!Array.isArray(message?.parts)) return message
      const parts = message.parts
        .filter((part) => part?.id !== "prt_opencode_hud")
        .map((part) => {
          const state = part?.state
          if (typeof state !== "object" || state === null) return part
          const strip = (text: unknown) => (typeof text === "string" ? text.replace(HUD, "") : text)
          return {
            ...part,
            state: {
              ...state,
              ...("output" in state ? { output: strip(state.output) } : {}),
              ...("error" in state ? { error: strip(state.error) } : {}),
            },
          }
        })
      return { ...message, parts }
    })
}

test(`${RUNS} random arrays: no throw, no report, and nothing changed but the HUD`, async () => {
  const logged: unknown[] = []
  const client = { app: { log: async (line: unknown) => void logged.push(line), agents: async () => ({ data: [] }) } }
  const hooks = await plugin.server({ client, directory: "/r", worktree: "/r" } as never, {
    store: { enabled: false },
    deadlineMs: 5000,
  })
  const transform = hooks["experimental.chat.messages.transform"] as Transform
  let shown = 0
  await fc.assert(
    fc.asyncProperty(messageArrays, async (messages) => {
      const before = structuredClone(messages)
      await transform({}, { messages })
      const text = JSON.stringify(messages) ?? ""
      if (text.includes("status by opencode-hud")) shown++
      expect(withoutHud(messages)).toEqual(withoutHud(before))
    }),
    { numRuns: RUNS },
  )
  expect(logged).toEqual([])
  expect(shown).toBeGreaterThan(RUNS / 4)
}, 600_000)

test("anything at all as input and output of any hook resolves", async () => {
  const hooks = await plugin.server({ directory: "/r", worktree: "/r" } as never, { store: { enabled: false } })
  const names = [
    "experimental.chat.messages.transform",
    "experimental.chat.system.transform",
    "event",
    "experimental.session.compacting",
    "chat.headers",
  ] as const
  const thing = fc.oneof(
    fc.anything(),
    fc.record({
      sessionID: fc.constantFrom("s1", 3),
      event: fc.record({
        type: fc.constantFrom(
          "session.status",
          "session.idle",
          "todo.updated",
          "permission.asked",
          "permission.replied",
          "message.updated",
          "session.deleted",
          "session.compacted",
        ),
        properties: fc.anything(),
      }),
    }),
    fc.record(
      { messages: fc.anything(), system: fc.array(fc.anything()), context: fc.anything(), headers: fc.anything() },
      { requiredKeys: [] },
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), thing, thing, async (name, input, output) => {
      await (hooks[name] as (input: unknown, output: unknown) => Promise<void>)(input, output)
    }),
    { numRuns: 5000 },
  )
}, 120_000)
