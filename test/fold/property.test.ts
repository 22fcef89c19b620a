// For any session at any time: folding loses nothing, and nothing that was sent changes without a decision.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { type Fold, originalText } from "../../src/fold/fold.ts"
import { answerRecall, isFile, type Original, readRequest } from "../../src/fold/recall.ts"
import { originalOf } from "../../src/host/v1/copies.ts"
import { type HostMessage, type HostPart, isOwnMessage } from "../../src/host/v1/message.ts"
import { toolPart } from "../support/conversation.ts"
import { sized } from "../support/size.ts"
import { ANSWERS, PROTECTED_FILE, PROTECTED_TOOL, play, type Sent, sessions } from "./sessions.ts"

const RUNS = sized(100, 400)
/** Calls during which a recalled output must stay. */
const IN_USE = 3

type Placed = { part: HostPart; bytes: string }

/** The request's parts in order, without the HUD in whichever slot. */
function partsOf({ messages, call }: Pick<Sent, "messages" | "call">): Placed[] {
  const hud = call.hud ? JSON.stringify(`\n\n${call.hud.text}`).slice(1, -1) : ""
  return messages
    .filter(({ info }) => !isOwnMessage(info.id))
    .flatMap(({ parts }) => parts)
    .filter(({ id }) => id !== "prt_hudfold")
    .map((part) => ({ part, bytes: hud ? JSON.stringify(part).replace(hud, "") : JSON.stringify(part) }))
}

/** What the agent gets when it recalls all pages of an original. */
function recalled(fold: Fold, byID: ReadonlyMap<string, Fold>, original: HostPart): string {
  const part = toolPart(original)
  const text = originalText(part, fold.side)
  const originals = new Map<string, Original>([[fold.id, { kind: "found", text, isFile: isFile(part, fold.side) }]])
  // small pages, so that long outputs have several
  const limits = { bytes: 2_000, lines: 30 }
  const texts: string[] = []
  for (let next: object | undefined = { ids: fold.id }; next; ) {
    const request = readRequest(next)
    if (typeof request === "string") throw new Error(request)
    const page = answerRecall(request, byID, originals, limits)
    const note = /\n\n\[page \d+ of \d+(?:, the last|; the next is hud_recall (\{.*\}))\]$/.exec(page)
    if (!note) return page
    texts.push(page.slice(page.indexOf("\n") + 1, note.index))
    next = note[1] === undefined ? undefined : (JSON.parse(note[1]) as object)
  }
  return texts.join("")
}

/** The field of a tool part's state that a fold replaces. */
function sideOf({ side }: Fold, { state }: HostPart): string {
  return side === "input" ? "input" : state?.status === "error" ? "error" : "output"
}

/** The content a fold replaces, as stored. */
function stored(fold: Fold, part: HostPart): string {
  const value = part.state?.[sideOf(fold, part)]
  return typeof value === "string" ? value : JSON.stringify(value, null, 2)
}

/** Checks the requests of one session in order, each against those before. */
function watch() {
  const ids = new Map<string, string>()
  const sentAs = new Map<string, string>()
  const seen = { reasons: new Map<string, number>(), kept: 0, paged: 0 }
  let before: { given: string[]; sent: string[] } | undefined

  return {
    seen,
    look(sent: Sent) {
      const { given, messages, call, conversation } = sent
      const { folds, byID } = conversation.folding
      const placed = partsOf(sent)
      const originals = given.flatMap(({ parts }) => parts)
      const fresh = new Map(call.folded.map((fold) => [fold.partID, fold]))
      const lastCall = messages.findLast(({ info }) => info.role === "assistant" && info.summary !== true)

      // with the originals back in place of the copies the array is as before; none of them was written to
      const unfolded = placed.map(({ part }) => originalOf(part))
      expect(unfolded.length).toBe(originals.length)
      expect(unfolded.every((part, i) => part === originals[i])).toBe(true)

      for (const { part, bytes } of placed) {
        const original = originalOf(part)
        const fold = folds.get(part.id ?? "")
        const isPruned = original.state?.time?.compacted !== undefined
        const isFolded = bytes !== JSON.stringify(original)
        expect(isFolded).toBe(fold !== undefined && !isPruned)
        if (!fold || !isFolded) continue
        // a folded part is sent with the same bytes from then on
        if (sentAs.has(fold.partID)) seen.kept++
        expect(bytes).toBe(sentAs.get(fold.partID) ?? bytes)
        sentAs.set(fold.partID, bytes)
        // only the side that is folded changes: a failed call keeps its error, any other its arguments
        const [was, is] = [original, JSON.parse(bytes) as HostPart].map(({ state }) => ({ ...state }))
        expect(Object.keys(is ?? {}).filter((name) => !Bun.deepEquals(is?.[name], was?.[name]))).toEqual([
          sideOf(fold, original),
        ])
      }

      for (const fold of call.folded) {
        const part = originals.find(({ id }) => id === fold.partID) as HostPart
        seen.reasons.set(fold.reason, (seen.reasons.get(fold.reason) ?? 0) + 1)
        expect(ids.get(fold.id) ?? fold.partID).toBe(fold.partID)
        expect([...ids.values()]).not.toContain(fold.partID)
        ids.set(fold.id, fold.partID)
        const text = recalled(fold, byID, part)
        expect(text).toBe(stored(fold, part))
        if (text.length > 2_000) seen.paged++
        expect(ANSWERS).not.toContain(part.tool as string)
        expect(part.tool).not.toBe(PROTECTED_TOOL)
        if (part.tool === "read") expect(part.state?.input?.filePath).not.toEndWith(PROTECTED_FILE)
        if (part.tool === "hud_recall") expect(callsSince(messages, part)).toBeGreaterThan(IN_USE)
        if (lastCall?.parts.some(({ id }) => id === part.id)) expect(standsAbove(placed, part)).toBe(true)
      }

      // up to the first newly folded part, the same is sent again
      const now = { given: originals.map((part) => JSON.stringify(part)), sent: placed.map(({ bytes }) => bytes) }
      if (before) {
        const firstFresh = placed.findIndex(({ part }) => fresh.has(part.id ?? ""))
        const firstOther = now.given.findIndex((bytes, i) => bytes !== before?.given[i])
        const same = Math.min(...[firstFresh, firstOther].map((at) => (at < 0 ? now.given.length : at)))
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

/** Whether the same call's same output is there verbatim before the part. */
function standsAbove(placed: readonly Placed[], part: HostPart): boolean {
  return placed
    .slice(
      0,
      placed.findIndex((one) => one.part.id === part.id),
    )
    .some(
      (other) =>
        other.part.tool === part.tool &&
        JSON.stringify(other.part.state?.input) === JSON.stringify(part.state?.input) &&
        other.part.state?.output === part.state?.output &&
        other.part.state?.time?.compacted === undefined,
    )
}

test(`${RUNS} random sessions: every output is recalled verbatim, and no byte changes without a decision`, () => {
  const reasons = new Map<string, number>()
  let kept = 0
  let paged = 0
  fc.assert(
    fc.property(sessions, (session) => {
      const { look, seen } = watch()
      play(session, look)
      for (const [reason, count] of seen.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count)
      kept += seen.kept
      paged += seen.paged
    }),
    { numRuns: RUNS },
  )
  // everything occurred at least once
  for (const reason of ["free", "pays", "must"]) expect(reasons.get(reason) ?? 0, reason).toBeGreaterThan(0)
  expect(kept).toBeGreaterThan(RUNS)
  expect(paged).toBeGreaterThan(0)
}, 600_000)
