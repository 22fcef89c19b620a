// For any session at any time: folding loses nothing, and nothing that was sent changes without a decision.

import { expect, test } from "bun:test"
import fc from "fast-check"
import type { Fold, Reason } from "../../src/fold/fold.ts"
import { readRecallRequest } from "../../src/fold/recall.ts"
import { type Original, originalIn } from "../../src/fold/select.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { unfolded } from "../../src/host/v1/copies.ts"
import { type HostMessage, type HostPart, OWN_PART } from "../../src/host/v1/message.ts"
import type { Message } from "../../src/session/conversation.ts"
import { recallAnswer } from "../support/recall.ts"
import { sized } from "../support/size.ts"
import { ANSWERS, PAYING, PROTECTED_FILE, PROTECTED_TOOL, play, type Sent, sessions } from "./sessions.ts"

const RUNS = sized(15, 400, 40)
/** Calls during which a recalled output must stay. */
const IN_USE = 3
/** Smaller than what a host passes on, so that long outputs have several pages. */
const PAGE = { bytes: 8_000, lines: 500 }

const RECORD_HEAD = /^Steps? [\d,-]+ of this session, kept by hudfold as a record /

/** One piece of what is sent: a part, or a record, which has no message of OpenCode's. */
type Unit = { messageID?: string; bytes: string; part: HostPart }

/** What is sent in order, without the HUD in whichever slot. */
function unitsOf({ messages, call }: Pick<Sent, "messages" | "call">): Unit[] {
  const hud = call.hud ? JSON.stringify(`\n\n${call.hud.text}`).slice(1, -1) : ""
  return messages
    .flatMap(({ parts }) => parts)
    .flatMap((part): Unit[] => {
      if (part.id === OWN_PART) {
        const text = String(part.text)
        return RECORD_HEAD.test(text) ? [{ bytes: text, part }] : []
      }
      const bytes = hud ? JSON.stringify(part).replace(hud, "") : JSON.stringify(part)
      return [{ messageID: String(part.messageID), bytes, part }]
    })
}

/** What the agent gets when it recalls all pages of an original. */
function recalled(fold: Fold, recallable: ReadonlyMap<string, Fold>, message: Message): string {
  const originals = new Map<string, Original>([[fold.id, originalIn(message, fold) as Original]])
  const texts: string[] = []
  for (let next: object | undefined = { ids: fold.id }; next; ) {
    const request = readRecallRequest(next)
    if (typeof request === "string") throw new Error(request)
    const page = recallAnswer(request, recallable, originals, PAGE)
    const note = /\n\n\[page \d+ of \d+(?:, the last|; the next is hud_recall (\{.*\}))\]$/.exec(page)
    if (!note) return page
    texts.push(page.slice(page.indexOf("\n") + 1, note.index))
    next = note[1] === undefined ? undefined : (JSON.parse(note[1]) as object)
  }
  return texts.join("")
}

const resultOf = ({ state }: HostPart) => String((state?.status === "error" ? state.error : state?.output) ?? "")

/** Every text that the original of a fold must contain, as OpenCode stored it. */
function stored({ kind, partID }: Fold, { parts }: HostMessage): string[] {
  if (kind === "output") return parts.filter(({ id }) => id === partID).map(resultOf)
  return parts.flatMap((part) => {
    if (part.type === "text") return [String(part.text)]
    if (part.type !== "tool") return []
    const strings = Object.values(part.state?.input ?? {}).filter((value) => typeof value === "string")
    return [resultOf(part), ...strings]
  })
}

/** Checks the requests of one session in order, each against those before. */
function watch() {
  const ids = new Map<string, string>()
  const sentAs = new Map<string, string>()
  const seen = { reasons: new Map<Reason, number>(), kinds: new Map<string, number>(), kept: 0, paged: 0 }
  let before: { given: string[]; sent: string[] } | undefined

  return {
    seen,
    look(sent: Sent) {
      const { given, messages, call, conversation } = sent
      const { folds, recallable } = conversation.folding
      const units = unitsOf(sent)
      const originals = given.flatMap(({ parts }) => parts)
      const fresh = new Map(call.newFolds.map((fold) => [fold.partID, fold]))
      const lastCall = given.findLast(({ info }) => info.role === "assistant" && info.summary !== true)
      const conversationGiven = new Map(conversationOf(given).map((message) => [message.id, message]))

      // with the originals back in place of records and copies the array is as before; none of them was written to
      const restored = unfolded(messages).flatMap(({ parts }) => parts)
      expect(restored.length).toBe(originals.length)
      expect(restored.every((part, i) => part === originals[i])).toBe(true)

      // every step stands there once: as it is, or in the record
      const records = units.filter(({ messageID }) => messageID === undefined)
      const standing = new Set(units.map(({ messageID }) => messageID))
      for (const { info } of given) {
        const id = String(info.id)
        const fold = info.role === "assistant" ? folds.get(id) : undefined
        expect(standing.has(id)).toBe(fold === undefined)
        if (!fold) continue
        expect(fold.kind).toBe("step")
        // one of the oldest may have no text any more
        const lines = fold.text === "" ? "" : `\n${fold.text}\n`
        expect(records.map(({ bytes }) => `${bytes}\n`).join("")).toContain(lines)
        // a record has the same lines from then on, unless it is shortened
        if (sentAs.has(id)) seen.kept++
        if (!fresh.has(id)) expect(fold.text).toBe(sentAs.get(id) ?? fold.text)
        sentAs.set(id, fold.text)
      }

      for (const { part, bytes, messageID } of units) {
        if (messageID === undefined) continue
        const original = originals.find(({ id }) => id === part.id) as HostPart
        const fold = folds.get(part.id ?? "")
        const isPruned = original.state?.time?.compacted !== undefined
        const isFolded = bytes !== JSON.stringify(original)
        expect(isFolded).toBe(fold !== undefined && !isPruned)
        if (!fold || !isFolded) continue
        // a folded part is sent with the same bytes from then on
        if (sentAs.has(fold.partID)) seen.kept++
        expect(bytes).toBe(sentAs.get(fold.partID) ?? bytes)
        sentAs.set(fold.partID, bytes)
        // only the output changes: a failed call's is its error
        const [was, is] = [original, JSON.parse(bytes) as HostPart].map(({ state }) => ({ ...state }))
        expect(Object.keys(is ?? {}).filter((name) => !Bun.deepEquals(is?.[name], was?.[name]))).toEqual([
          original.state?.status === "error" ? "error" : "output",
        ])
      }

      for (const fold of call.newFolds) {
        const message = given.find(({ info }) => info.id === fold.messageID) as HostMessage
        seen.reasons.set(fold.reason, (seen.reasons.get(fold.reason) ?? 0) + 1)
        seen.kinds.set(fold.kind, (seen.kinds.get(fold.kind) ?? 0) + 1)
        // an id means one thing; what is folded is folded once, and texts may be shortened
        expect(ids.get(fold.id) ?? fold.partID).toBe(fold.partID)
        if (!ids.has(fold.id)) expect([...ids.values()]).not.toContain(fold.partID)
        ids.set(fold.id, fold.partID)
        const text = recalled(fold, recallable, conversationGiven.get(fold.messageID) as Message)
        for (const one of stored(fold, message)) expect(text).toContain(one)
        if (fold.kind === "output") expect([text]).toEqual(stored(fold, message))
        if (text.length > PAGE.bytes) seen.paged++
        expect(fold.messageID).not.toBe(String(lastCall?.info.id))
        const isStep = fold.kind === "step"
        for (const part of message.parts) {
          if (part.type !== "tool" || (!isStep && part.id !== fold.partID)) continue
          // an older todo list is superseded
          const isOld = (isStep && part.tool === "todowrite") || standsLater(given, part)
          if (!isOld) expect(ANSWERS).not.toContain(part.tool as string)
          expect(part.tool).not.toBe(PROTECTED_TOOL)
          if (part.tool === "read") expect(part.state?.input?.filePath).not.toEndWith(PROTECTED_FILE)
          if (part.tool === "hud_recall") expect(callsSince(given, part)).toBeGreaterThan(IN_USE)
        }
      }

      // up to the first message that is newly folded or given otherwise, the same is sent again
      const now = { given: given.map((message) => JSON.stringify(message)), sent: units.map(({ bytes }) => bytes) }
      if (before) {
        const foldedIn = new Set(call.newFolds.map(({ messageID }) => messageID))
        const firstFresh = given.findIndex(({ info }) => foldedIn.has(String(info.id)))
        const firstOther = now.given.findIndex((bytes, i) => bytes !== before?.given[i])
        const limit = Math.min(...[firstFresh, firstOther].map((at) => (at < 0 ? given.length : at)))
        const later = new Set(given.slice(limit).map(({ info }) => String(info.id)))
        let same = units.findIndex(({ messageID }) => messageID !== undefined && later.has(messageID))
        if (same < 0) same = units.length
        // a record grows by the steps that follow it
        while (same > 0 && units[same - 1]?.messageID === undefined) same--
        expect(now.sent.slice(0, same)).toEqual(before.sent.slice(0, same))
      }
      before = now
    },
  }
}

/** Calls made after the one that a part is of. */
function callsSince(messages: readonly HostMessage[], part: HostPart): number {
  const at = messages.findIndex(({ parts }) => parts.some(({ id }) => id === part.id))
  return messages.slice(at + 1).filter(({ info }) => info.role === "assistant" && info.summary !== true).length
}

/** Whether a later call has the same arguments and the same result. */
function standsLater(messages: readonly HostMessage[], part: HostPart): boolean {
  const parts = messages.flatMap((message) => message.parts)
  const same = parts.slice(parts.indexOf(part) + 1).find(({ tool, state }) => {
    return tool === part.tool && Bun.deepEquals(state?.input, part.state?.input)
  })
  return same !== undefined && resultOf(same) === resultOf(part)
}

test(`${RUNS} random sessions: everything folded is recalled verbatim, and no byte changes without a decision`, () => {
  const reasons = new Map<string, number>()
  const kinds = new Map<string, number>()
  let kept = 0
  let paged = 0
  fc.assert(
    fc.property(sessions, (session) => {
      const { look, seen } = watch()
      play(session, look)
      for (const [reason, count] of seen.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
      for (const [kind, count] of seen.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count)
      kept += seen.kept
      paged += seen.paged
    }),
    // few random sessions have folds that pay
    { numRuns: RUNS, examples: [[PAYING]] },
  )
  // everything occurred at least once
  for (const reason of ["free", "pays", "must"]) expect(reasons.get(reason) ?? 0, reason).toBeGreaterThan(0)
  for (const kind of ["output", "step"]) expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(0)
  expect(kept).toBeGreaterThan(RUNS)
  expect(paged).toBeGreaterThan(0)
}, 600_000)
