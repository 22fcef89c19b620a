// Whatever array the host passes, the hooks resolve, the host's own parts are never modified, and the array is changed only
// in ways that can be undone: by folded copies, records and the HUD.

import { expect, test } from "bun:test"
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { unfolded } from "../../src/host/v1/copies.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { isMessage, isOwnMessage, isOwnPart } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { sized } from "../support/size.ts"
import { messageArrays } from "./arrays.ts"

const RUNS = sized(2_500, 100_000, 5_000)

type Transform = (input: object, output: { messages: unknown }) => Promise<void>

const HUD = /^<hud>\nhudfold status, call \d+[\s\S]*?<\/hud>$/
const FOLDED = /^folded r[0-9a-z]{7} · /
const RECORD = /^Steps? [\d,-]+ of this session, kept by hudfold as a record \(/
/** What is put at the end of a tool's result. */
const ADDED =
  /^(\n\nSteps? [\d,-]+ of this session, kept by hudfold as a record \([\s\S]*?)?(\n\n<hud>\nhudfold status, call \d+[\s\S]*?<\/hud>)?$/

const CLEARED = "[Old tool result content cleared]"

function isOurs(message: HostMessage | null | undefined): boolean {
  return message !== null && message !== undefined && isMessage(message) && isOwnMessage(message)
}

/** The array without anything that is the plugin's before or after the call. */
function withoutOurs(messages: readonly HostMessage[]): unknown {
  return messages
    .filter((message) => !isOurs(message))
    .map((message) =>
      Array.isArray(message?.parts) ? { ...message, parts: message.parts.filter((part) => !isOwnPart(part)) } : message,
    )
}

/** Differences between a copy and its original other than a fold or the HUD, for the message of a failed test. */
function unaccounted(copy: HostPart, original: HostPart): string[] {
  const body = (part: HostPart) => ({ ...part, ...(part.state ?? {}), state: undefined }) as Record<string, unknown>
  // into an output that OpenCode cleared, its placeholder is written with what stands behind it
  const compacted = original.state?.time?.compacted
  const isWritten = compacted && !copy.state?.time?.compacted
  const { compacted: _, ...time } = original.state?.time ?? {}
  const placed = { ...original, state: { ...original.state, time, attachments: [], output: CLEARED } }
  const [now, before] = [body(copy), body(isWritten ? placed : original)]
  return Object.keys({ ...now, ...before }).flatMap((name) => {
    if (isDeepStrictEqual(now[name], before[name])) return []
    const said = typeof now[name] === "string" ? now[name] : JSON.stringify(now[name])
    const was = String(before[name])
    const added = said?.startsWith(was) ? said.slice(was.length) : undefined
    return FOLDED.test(said ?? "") || (added && ADDED.test(added)) ? [] : [`${name}: ${said}`]
  })
}

function ownParts(message: HostMessage | null | undefined): HostPart[] {
  return Array.isArray(message?.parts) ? message.parts.filter(isOwnPart) : []
}

/** Freezes it at any depth, so that writing to it throws. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const one of Object.values(value)) freeze(one)
}

test(`${RUNS} random arrays: no throw, no report, and nothing changed but folds, records and the HUD`, async () => {
  const logged: unknown[] = []
  const client = { app: { log: async (line: unknown) => void logged.push(line), agents: async () => ({ data: [] }) } }
  const hooks = await plugin.server({ client, directory: "/r", worktree: "/r" } as never, {
    store: { enabled: false },
    deadlineMs: 5000,
  })
  const transform = hooks["experimental.chat.messages.transform"] as Transform
  let shown = 0
  let folded = 0
  let recorded = 0
  await fc.assert(
    fc.asyncProperty(messageArrays, async (before) => {
      const messages = structuredClone(before)
      const parts = new Set(messages.flatMap((message) => (Array.isArray(message?.parts) ? message.parts : [])))
      for (const part of parts) freeze(part)
      for (const message of messages) freeze(message?.info)
      await transform({}, { messages })
      const isSaid = (pattern: RegExp) =>
        messages.some((message) => ownParts(message).some(({ text }) => pattern.test(text ?? "")))
      if (isSaid(HUD)) shown++
      if (isSaid(RECORD)) recorded++
      for (const message of messages) {
        for (const { text } of ownParts(message)) {
          const isKnown = before.some((one) => ownParts(one).some((part) => part.text === text))
          if (!isKnown) expect(HUD.test(text ?? "") || RECORD.test(text ?? "")).toBe(true)
        }
        for (const part of (Array.isArray(message?.parts) && message.parts) || []) {
          if (parts.has(part) || isOwnPart(part)) continue
          const originals = [...parts].filter((one) => one?.id === part.id && one.type === part.type)
          const differences = originals.map((original) => unaccounted(part, original))
          expect(differences.find((some) => some.length === 0) ?? differences).toEqual([])
          if (FOLDED.test(String(part.state?.output ?? part.state?.error))) folded++
        }
      }
      const whole = messages.every(isMessage) ? unfolded(messages) : messages
      expect(withoutOurs(whole)).toEqual(withoutOurs(before))
    }),
    { numRuns: RUNS },
  )
  expect(logged).toEqual([])
  expect(shown).toBeGreaterThan(RUNS / 10)
  expect(folded).toBeGreaterThan(RUNS / 1500)
  expect(recorded).toBeGreaterThan(RUNS / 1000)
}, 600_000)

test("anything at all as input and output of any hook resolves", async () => {
  const hooks = await plugin.server({ directory: "/r", worktree: "/r" } as never, { store: { enabled: false } })
  const names = [
    "experimental.chat.messages.transform",
    "experimental.chat.system.transform",
    "event",
    "experimental.session.compacting",
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
    { numRuns: 2000 },
  )
}, 120_000)
