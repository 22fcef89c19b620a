// Random sessions with episodes, request by request: whatever is folded, OpenCode's array can be had back, the request is one
// that a provider takes, and nothing of the user is missing.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { createEnv } from "../../src/digest/digests.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { applyChange } from "../../src/host/v1/apply.ts"
import { conversationOf, messageOf } from "../../src/host/v1/conversation.ts"
import { unfolded } from "../../src/host/v1/copies.ts"
import { type HostMessage, type HostPart, isOwnMessage, isOwnPart } from "../../src/host/v1/message.ts"
import { SECTIONS } from "../../src/hud/sections.ts"
import type { Slot } from "../../src/hud/slots.ts"
import {
  accept,
  newSessionState,
  type Prepared,
  prepareRequest,
  type RequestOptions,
} from "../../src/request/request.ts"
import { blocksOf } from "../../src/session/entry.ts"
import { findAhead } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { recordedSteps } from "../support/records.ts"
import { bash, edit, failedTool, read, SessionBuilder, tool } from "../support/session.ts"
import { sized } from "../support/size.ts"

const RUNS = sized(40, 1_000)
const env = createEnv("/home/dev/shop")

/** What is cached is lost soon, so that folds are often free. */
const SHORT_LIVED: Pricing = { ...PRICING, lifetimeMs: 60_000, minimumTokens: 0 }

const MODELS = {
  anthropic: { providerID: "anthropic", modelID: "claude-sonnet-4-5" },
  mistral: { providerID: "mistral", modelID: "devstral-small" },
  gemma: { providerID: "google", modelID: "gemma-3-27b-it" },
  copilot: { providerID: "github-copilot", modelID: "gpt-4.1" },
}

const WORDS = [
  "mend the login",
  "C:\\shop\\src\\a.ts",
  "日本語 🙂",
  "folded r4k2x9db · read",
  "<hud>",
  "ok\n\nand then?",
]

const callOf = fc.record({
  does: fc.constantFrom(..."read read edit run run grep failed todo task windows".split(" ")),
  which: fc.nat(3),
})
const stepOf = fc.record({
  calls: fc.array(callOf, { minLength: 1, maxLength: 3 }),
  said: fc.option(fc.constantFrom(...WORDS)),
  reasoned: fc.boolean(),
  ends: fc.constantFrom("well", "well", "well", "well", "well", "well", "aborted", "failed"),
})
const turnOf = fc.record({
  asks: fc.constantFrom(...WORDS),
  attaches: fc.constantFrom("nothing", "nothing", "an image", "a text file", "a reminder", "a note to people"),
  steps: fc.array(stepOf, { maxLength: 10, size: "max" }),
  answers: fc.constantFrom("well", "well", "empty", "failed", "aborted", "never"),
  pauses: fc.boolean(),
})
const planOf = fc.record({
  turns: fc.array(turnOf, { minLength: 2, maxLength: 4, size: "max" }),
  slot: fc.constantFrom<Slot>("tail", "tool", "sticky"),
  model: fc.constantFrom(...(Object.keys(MODELS) as (keyof typeof MODELS)[])),
  fullAt: fc.constantFrom(undefined, 6_000),
  // whether there is time between requests to write the next folds
  isAhead: fc.boolean(),
})
type Plan = typeof planOf extends fc.Arbitrary<infer Value> ? Value : never

const ERRORS: Record<string, Record<string, unknown>> = {
  failed: { error: { name: "APIError", data: { message: "overloaded" } } },
  aborted: { error: { name: "MessageAbortedError", data: {} } },
}

function partOf({ does, which }: { does: string; which: number }): HostPart {
  const path = `src/${"abcd"[which]}.ts`
  const long = `export const price${which} = 1 // ${"日本 and more ".repeat(3)}\n`.repeat(30)
  switch (does) {
    case "read":
      return read(path, long)
    case "edit":
      return edit(path)
    case "run":
      return bash(`npm test ${which}`, long, which % 2)
    case "grep":
      return tool("grep", { pattern: `price${which}` }, long)
    case "failed":
      return failedTool("edit", { filePath: path, oldString: long, newString: "b" }, "Error: oldString not found")
    case "todo":
      return tool("todowrite", { todos: [{ content: `go through ${path}`, status: "pending" }] }, "[]")
    case "task":
      return tool("task", { description: "look", prompt: long }, `It is in ${path}.`)
    default:
      return tool(
        "read",
        { filePath: `C:\\shop\\src\\${which}.ts` },
        `<path>C:\\shop\\src\\${which}.ts</path>\n${long}`,
      )
  }
}

const ATTACHED: Record<string, HostPart[]> = {
  "an image": [{ type: "file", mime: "image/png", filename: "a.png", url: "data:image/png;base64,AAAA" }],
  "a text file": [
    { type: "text", text: "Called the Read tool", synthetic: true },
    { type: "file", mime: "text/plain", filename: "C:\\a b.txt", url: "file:///C:/a%20b.txt" },
  ],
  "a reminder": [{ type: "text", text: "<system-reminder>plan</system-reminder>", synthetic: true }],
  "a note to people": [{ type: "text", text: "not for the model", ignored: true }],
}

type Sent = { given: HostMessage[]; sent: HostMessage[]; prepared: Prepared }

/** Plays a session; every request is looked at as it goes out, after it was prepared and applied in other ways. */
function play({ turns, slot, model: name, fullAt, isAhead }: Plan, look: (sent: Sent) => void): void {
  const model = MODELS[name]
  const session = new SessionBuilder("ses_test", model)
  const state = newSessionState(env)
  const options: RequestOptions = {
    hud: { enabled: true, slot, budgetTokens: 250, sections: SECTIONS },
    fold: { enabled: true },
    isProtected: () => false,
  }
  let nowMs = session.timeOf(0)
  const request = () => {
    nowMs += 10_000
    const circumstances = {
      ...{ nowMs, model, pricing: SHORT_LIVED, contextLimit: 200_000 },
      ...(fullAt === undefined ? {} : { fullAt }),
    }
    const apply = (messages: HostMessage[]) => {
      const conversation = conversationOf(messages)
      const reading = state.ledger.read(conversation)
      const prepared = prepareRequest({ messages: conversation, reading, state, circumstances, options, env })
      applyChange(messages, prepared.change)
      return prepared
    }
    const given = session.fresh()
    const again = session.fresh()
    const sent = session.fresh()
    const first = apply(again)
    applyChange(again, first.change)
    const prepared = apply(sent)
    expect(JSON.stringify(again)).toBe(JSON.stringify(sent))
    // OpenCode may pass the same array once more
    apply(again)
    expect(JSON.stringify(again)).toBe(JSON.stringify(sent))
    look({ given, sent, prepared })
    accept(state, prepared)
    if (isAhead) findAhead(prepared, sent, env)
  }
  for (const { asks, attaches, steps, answers, pauses } of turns) {
    if (pauses) nowMs += 600_000
    session.user(asks, ATTACHED[attaches])
    for (const { calls, said, reasoned, ends } of steps) {
      request()
      session.assistant(
        [
          ...(reasoned ? [{ type: "reasoning", text: "The price is wrong.", metadata: { signature: "s" } }] : []),
          ...(said === null ? [] : [{ type: "text", text: said }]),
          ...(ends === "failed" ? [] : calls.map(partOf)),
        ],
        ERRORS[ends],
      )
    }
    if (answers === "never") continue
    request()
    session.assistant(answers === "empty" ? [] : [{ type: "text", text: `Done: ${asks}` }], ERRORS[answers])
  }
  request()
}

/** The messages that OpenCode sends of an array. */
function sentOf(messages: readonly HostMessage[]): HostMessage[] {
  return messages.filter((message) => isOwnMessage(message) || blocksOf(messageOf(message)) > 0 || hasOwn(message))
}

function hasOwn({ parts }: HostMessage): boolean {
  return parts.some(isOwnPart)
}

function isHud(part: HostPart): boolean {
  return isOwnPart(part) && part.text?.startsWith("<hud>\n") === true
}

function isRecord(part: HostPart): boolean {
  return isOwnPart(part) && recordedSteps(part.text) !== undefined
}

function hasCall({ info, parts }: HostMessage | undefined = { info: {}, parts: [] }): boolean {
  return info.role === "assistant" && parts.some(({ type }) => type === "tool")
}

/** A record at the end of a result. */
const IN_RESULT = /\n\nSteps? \d+(-\d+)? of this session, kept by hudfold as a record \(/

/** What the request holds, in the words of `WireMessage`. */
function holdsOf(messages: readonly HostMessage[], { change }: Prepared): string[] {
  const holds: string[] = []
  for (const { info, parts } of sentOf(messages)) {
    const isSticky = change.hud.slot === "sticky" && parts.every(isHud)
    if (isSticky) holds.push("hud")
    else if (info.role === "user") {
      const users = new Set<string | undefined>()
      for (const part of parts) {
        if (isHud(part)) continue
        if (isRecord(part)) holds.push("record")
        else if (!users.has(part.messageID)) {
          users.add(part.messageID)
          holds.push("message")
        }
      }
    } else if (change.folds.has(info.id ?? "")) {
      // an answer that stays although it is in the record: no user's message may follow a result
      if (holds.at(-1) !== "record") holds.push("record")
    } else {
      holds.push("message")
      if (hasCall({ info, parts })) holds.push("results")
      const last = parts.findLast(({ type }) => type === "tool")?.state
      if (IN_RESULT.test(last?.output ?? last?.error ?? "")) holds.push("record")
    }
  }
  return holds
}

function look({ given, sent, prepared }: Sent): void {
  const { change } = prepared
  const before = new Map(given.map((message) => [message.info.id, message]))

  // the array can be had back
  expect(JSON.stringify(unfolded(sent))).toBe(JSON.stringify(given))

  // what stays is in order, and every word of the user is there
  const ids = given.flatMap(({ parts }) => parts.map(({ id }) => id))
  const kept = sent.flatMap(({ parts }) => parts.filter((part) => !isOwnPart(part)))
  const places = kept.map(({ id }) => ids.indexOf(id))
  expect(places).toEqual([...new Set(places)].sort((one, other) => one - other))
  const wordsIn = (messages: readonly HostMessage[]) =>
    messages.filter(({ info }) => info.role === "user").flatMap(({ parts }) => parts.filter((part) => !isOwnPart(part)))
  expect(JSON.stringify(wordsIn(sent))).toBe(JSON.stringify(wordsIn(given)))

  // of the steps that stay nothing changes but outputs, so that calls have their results
  for (const { info, parts } of sent) {
    const original = before.get(info.id)
    if (info.role !== "assistant" || !original) continue
    expect(parts.length).toBe(original.parts.length)
    for (const [at, part] of parts.entries()) {
      const { output, error, ...state } = part.state ?? {}
      const { output: wasOutput, error: wasError, ...wasState } = original.parts[at]?.state ?? {}
      expect([typeof output, typeof error]).toEqual([typeof wasOutput, typeof wasError])
      expect(JSON.stringify({ ...part, state })).toBe(JSON.stringify({ ...original.parts[at], state: wasState }))
    }
  }

  // the user and the agent alternate around a record
  const seen = sentOf(sent)
  const wasSeen = sentOf(given)
  const placeOf = ({ parts }: HostMessage) => {
    const first = parts.find((part) => !isOwnPart(part))?.messageID
    return wasSeen.findIndex(({ info }) => info.id === first)
  }
  for (const [at, message] of seen.entries()) {
    if (!message.parts.some(isRecord)) continue
    for (const [one, other] of [
      [seen[at - 1], message],
      [message, seen[at + 1]],
    ]) {
      if (one?.info.role !== "user" || other?.info.role !== "user") continue
      if ([one, other].some(({ parts }) => parts.every(isHud))) continue
      // between them there was nothing before
      const last = one.parts.findLast((part) => !isOwnPart(part))?.messageID
      expect(wasSeen.findIndex(({ info }) => info.id === last)).toBe(placeOf(other) - 1)
      expect(other.parts.some(isRecord) && isRecord(other.parts[0] as HostPart)).toBe(false)
    }
    if (change.records === "message" || !hasCall(seen[at - 1])) continue
    expect(hasCall(wasSeen[placeOf(message) - 1])).toBe(true)
  }

  // and the cache is expected to hold what is sent
  expect(prepared.next.sent?.wire.map(({ holds }): string => holds)).toEqual(holdsOf(sent, prepared))
}

test(
  `in ${RUNS} random sessions every request with episodes is whole, in order, and can be undone`,
  () => {
    let recorded = 0
    let merged = 0
    let inResults = 0
    fc.assert(
      fc.property(planOf, (plan) => {
        play(plan, (sent) => {
          if (sent.prepared.steps > 0) recorded++
          for (const { info, parts } of sent.sent) {
            const asked = new Set(parts.flatMap((part) => (isOwnPart(part) ? [] : [part.messageID])))
            if (info.role === "user" && asked.size > 1) merged++
            if (parts.some(({ state }) => IN_RESULT.test(state?.output ?? state?.error ?? ""))) inResults++
          }
          look(sent)
        })
      }),
      { numRuns: RUNS },
    )
    expect(recorded).toBeGreaterThan(RUNS)
    // how many differs much from run to run
    expect(merged).toBeGreaterThan(0)
    expect(inResults).toBeGreaterThan(0)
  },
  sized(120_000, 600_000),
)
