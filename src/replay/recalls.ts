// What the agent would have missed: lines it copied into a tool call that by then only a folded step or output contained.
// It would have had to recall them, at the cost of a call. Also what it would not have missed: names and lines whose
// originals were folded, but that a digest line, a record or the HUD still contained.

import { type Fold, type Folds, outputFold, stepFold } from "../fold/fold.ts"
import type { Pricing } from "../fold/pricing.ts"
import { RECALL_TOOL } from "../output/shows.ts"
import { stringsIn } from "../session/arguments.ts"
import type { Message, Part } from "../session/conversation.ts"
import { isClearedAt } from "../session/recorded.ts"
import { KEPT_WHOLE_STEPS } from "../session/steps.ts"
import { namesIn } from "../text/names.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { RecordedCall } from "./calls.ts"

/** A line of this length that also occurs in the context counts as copied; shorter ones match by chance. */
const MIN_COPIED_CHARS = 24
const MAX_COPIED_CHARS = 400
/** Output tokens of a call that recalls something. */
const RECALL_CALL_TOKENS = 80

/** A call with its answer, the folds applied to its context, and its HUD. */
type AnsweredCall = Pick<RecordedCall, "number" | "nowMs" | "context"> & { answer: Message; folds: Folds; hud: string }

/** A name or line that the agent used after all texts that contain it were folded. */
export type Need = {
  text: string
  /** a line that was copied; otherwise a path or an identifier */
  isLine: boolean
  /** the newest text that contains it */
  source: Source
  /** whether a digest line, a record or the HUD says it */
  held: boolean
}

export function newRecalls() {
  const sources = newSources()
  /** the number of the call in which a part would last have been recalled */
  const recalledAt = new Map<Part, number>()

  /** "shown" when a text of the request contains it, "absent" when no text of the context does. */
  function needOf(text: string, isLine: boolean, sent: ReadonlySet<Part>, call: AnsweredCall) {
    const { folds, hud, number, nowMs } = call
    let newest: Source | undefined
    let held = false
    for (const source of sources.holding(text, !isLine)) {
      if (!sent.has(source.part) || (source.side === "output" && isClearedAt(source.part, nowMs))) continue
      const fold = foldOver(source, folds)
      if (!fold || number - (recalledAt.get(source.part) ?? Number.NEGATIVE_INFINITY) < KEPT_WHOLE_STEPS) return "shown"
      held ||= fold.text.includes(text)
      newest ??= source
    }
    if (!newest) return "absent"
    return { text, isLine, source: newest, held: held || hud.includes(text) } satisfies Need
  }

  return {
    /** What a call used of its context that was folded. The calls must come in order. */
    missedBy(call: AnsweredCall) {
      sources.read(call.context)
      const lines = copiedLines(call.answer)
      const names = namesIn(argumentsIn(call.answer).join("\n"))
      const sent = new Set(call.context.flatMap(({ parts }) => parts))
      const texts = [...new Set([...lines, ...names])]
      const found = texts.map((text) => needOf(text, lines.has(text), sent, call))
      const needs = found.filter((need) => typeof need === "object")
      const lost = needs.filter(({ isLine, held }) => isLine && !held)
      const recalled = new Map(lost.map(({ source }) => [source.part, source.body]))
      for (const part of recalled.keys()) recalledAt.set(part, call.number)
      return {
        /** lines that were copied from the context, and those of them that only a folded step or output contained */
        copied: texts.filter((text, at) => lines.has(text) && found[at] !== "absent").length,
        lost: lost.length,
        /** tokens of the originals that would have been recalled; 0 when nothing was missed */
        recalledTokens: [...recalled.values()].reduce((sum, { length }) => sum + tokensOfLength(length), 0),
        /** the names and lines the call used that were folded everywhere */
        needs,
      }
    },
  }
}

function foldOver({ messageID, part, side }: Source, folds: Folds): Fold | undefined {
  const step = stepFold(folds, messageID)
  if (step || side !== "output" || part.type !== "tool") return step
  return outputFold(folds, messageID, { partID: part.id, cleared: false })
}

/** What recalling so many tokens costs: one more call over a warm prefix, its output, and the originals written once. */
export function recallCost(tokens: number, requestTokens: number, { read, write, output }: Pricing): number {
  return tokens === 0 ? 0 : requestTokens * read + RECALL_CALL_TOKENS * output + tokens * write
}

/** The lines in the tool arguments of an answer that may have been copied from its context. */
function copiedLines(answer: Message): Set<string> {
  const lines = argumentsIn(answer).flatMap((text) => text.split("\n").map((line) => line.trim()))
  return new Set(lines.filter(({ length }) => length >= MIN_COPIED_CHARS && length <= MAX_COPIED_CHARS))
}

/** The texts in the tool arguments of an answer; what it asks to recall was not copied. */
function argumentsIn({ parts }: Message): string[] {
  return parts.flatMap((part) => (part.type === "tool" && part.tool !== RECALL_TOOL ? stringsIn(part.input) : []))
}

/** A text of a session that a line may have been copied from. */
export type Source = {
  messageID: string
  part: Part
  /** of a tool call, whether the text is its arguments or its result */
  side: "text" | "input" | "output"
  body: string
}

/** Shorter words are too common to index. */
const WORD = /\w{3,}/g

/**
 * Finds the texts that contain a line without searching all of them: an index maps words to texts, and only texts with
 * the line's rarest word are searched.
 */
export function newSources() {
  const sources: Source[] = []
  /** by word, the texts that contain it, oldest first */
  const places = new Map<string, Source[]>()
  const seen = new WeakSet<Part>()

  function add({ id }: Message, part: Part, side: Source["side"], body: string): void {
    const source = { messageID: id, part, side, body }
    sources.push(source)
    for (const word of new Set(body.match(WORD))) {
      const holding = places.get(word)
      if (holding) holding.push(source)
      else places.set(word, [source])
    }
  }

  /** The texts with the word that the fewest have. A word at either end of a line may be part of a longer one in the text. */
  function candidates(text: string, isName: boolean): readonly Source[] {
    const words = [...text.matchAll(WORD)].filter(
      ({ 0: word, index }) => isName || (index > 0 && index + word.length < text.length),
    )
    const found = words.map(([word]) => places.get(word) ?? [])
    return found.sort((one, other) => one.length - other.length)[0] ?? sources
  }

  return {
    /** Adds the messages that were not read yet. */
    read(messages: readonly Message[]): void {
      for (const message of messages)
        for (const part of message.parts) {
          if (seen.has(part)) continue
          seen.add(part)
          if (part.type === "tool") {
            add(message, part, "input", stringsIn(part.input).join("\n"))
            add(message, part, "output", part.output)
          } else if (part.type === "reasoning" || (part.type === "text" && !part.ignored))
            add(message, part, "text", part.text)
        }
    },
    /** The texts that contain the line or, as whole words, the name, newest first. */
    *holding(text: string, isName = false): Generator<Source> {
      for (const source of candidates(text, isName).toReversed()) if (source.body.includes(text)) yield source
    },
  }
}
