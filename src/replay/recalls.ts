// What the agent would have missed: lines it copied into a tool call that by then stood in a folded output alone. Each
// such output is one that it would have had to ask back, and that costs a call.

import type { Fold } from "../fold/fold.ts"
import { ASKING_TOKENS, NEEDS } from "../fold/need.ts"
import type { Tariff } from "../fold/tariff.ts"
import type { Message, Part } from "../session/conversation.ts"
import { RECALL_TOOL } from "../output/shows.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { isClearedAt } from "./pruned.ts"
import { newSources, type Source, textsIn } from "./sources.ts"

/** Lines of these lengths are taken for copied when they stand in the context: shorter ones come about by chance. */
const SHORTEST = 24
const LONGEST = 400
/** Calls for which an output that was handed back stands in the context at least. */
const STANDS = NEEDS.recalled.hold

/** One call, as far as this has to know it. */
export type Asker = {
  /** number of the call, from 1, and when it was made */
  number: number
  nowMs: number
  /** the message it wrote */
  wrote: Message
  /** what it had before it as recorded, what of it went out folded, and the HUD */
  context: readonly Message[]
  folds: ReadonlyMap<string, Fold>
  hud: string
}

export type Missed = {
  /** lines that were copied from the context, and those of them that only a folded output held */
  copied: number
  lost: number
  /** tokens of the originals to be handed back; none when nothing had to be asked for */
  back: readonly number[]
}

export type Recalls = { missed(asker: Asker): Missed }

export function newRecalls(): Recalls {
  const sources = newSources()
  const handedBack = new Map<Part, number>()

  function find(
    line: string,
    here: ReadonlySet<Part>,
    { folds, hud, number, nowMs }: Asker,
  ): "shown" | "absent" | Source {
    let newest: Source | undefined
    for (const source of sources.holding(line)) {
      if (!here.has(source.part) || (source.side === "output" && isClearedAt(source.part, nowMs))) continue
      const fold = source.part.type === "tool" ? folds.get(source.part.id) : undefined
      if (fold?.side !== source.side || fold.text.includes(line)) return "shown"
      if (number - (handedBack.get(source.part) ?? Number.NEGATIVE_INFINITY) < STANDS) return "shown"
      newest ??= source
    }
    if (!newest) return "absent"
    return hud.includes(line) ? "shown" : newest
  }

  return {
    missed(asker) {
      sources.read(asker.context)
      const lines = copiedLines(asker.wrote)
      if (lines.size === 0) return { copied: 0, lost: 0, back: [] }
      const here = new Set(asker.context.flatMap(({ parts }) => parts))
      const wanted = new Map<Part, Source>()
      let copied = 0
      let lost = 0
      for (const line of lines) {
        const found = find(line, here, asker)
        if (found === "absent") continue
        copied++
        if (found === "shown") continue
        lost++
        wanted.set(found.part, found)
      }
      for (const part of wanted.keys()) handedBack.set(part, asker.number)
      return { copied, lost, back: [...wanted.values()].map(({ body }) => tokensOfLength(body.length)) }
    },
  }
}

/** What asking outputs back costs: one more call over a warm prefix, the asking, and the originals, written once. */
export function recallCost(back: readonly number[], requestTokens: number, tariff: Tariff): number {
  const tokens = back.reduce((sum, one) => sum + one, 0)
  return back.length === 0 ? 0 : requestTokens * tariff.read + ASKING_TOKENS * tariff.output + tokens * tariff.write
}

/** The lines of what a call wrote that may have been copied from its context. */
export function copiedLines({ parts }: Message): Set<string> {
  const lines = new Set<string>()
  for (const part of parts) {
    if (part.type !== "tool" || part.tool === RECALL_TOOL) continue
    for (const text of textsIn(part.input))
      for (const whole of text.split("\n")) {
        const line = whole.trim()
        if (line.length >= SHORTEST && line.length <= LONGEST) lines.add(line)
      }
  }
  return lines
}
