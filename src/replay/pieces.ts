// A request as the provider sees it: its messages as a list of pieces, in OpenCode's order and wording. System prompt
// and tool definitions are missing, because a recorded session does not contain them.

import { type Fold, type Folds, outputFold, withEpisodes } from "../fold/fold.ts"
import { recordOf } from "../fold/record.ts"
import { NO_HUD } from "../hud/slots.ts"
import type { Change } from "../request/request.ts"
import { CLEARED, type Message, type Part, type ToolPart } from "../session/conversation.ts"
import { blocksOf } from "../session/entry.ts"
import { FILE_CHARS } from "../session/tool-event.ts"
import { tokensOfLength } from "../text/tokens.ts"

/** A cache treats two pieces as equal when label and body are. */
export type Piece = {
  label: string
  body: string
  tokens: number
  /** name of the tool whose call or result it is */
  tool?: string | undefined
  /** written by the plugin */
  isOwn?: true
}

/** What OpenCode sends instead of an output that never came. */
const INTERRUPTED = "[Tool execution was interrupted]"

/** A part is sent with every later call, so its pieces are computed once, folded or not. */
const knownPieces = new WeakMap<Part | Fold, readonly Piece[]>()

/** The part of a change that the pieces show. */
type ShownChange = Pick<Change, "folds" | "hud">

/** The pieces of a request by message. Calls are one message and their results another, as the provider gets them. */
export function piecesByMessage(messages: readonly Message[], change?: ShownChange): Piece[][] {
  const { hud: placement = NO_HUD } = change ?? {}
  const hud = placement.slot === "sticky" ? undefined : placement.text
  const folds: Folds = change?.folds ?? new Map()
  // a HUD text stays behind a message that is not sent
  const sent = messages.filter((message) => blocksOf(message) > 0 || anchorsBehind(message, change).length > 0)
  const wire = withEpisodes(sent, folds).flatMap((item): Piece[][] => {
    if (Array.isArray(item)) return [[ownPiece(recordOf(item))]]
    const pieces = item.error === "failed" ? [] : item.parts.flatMap((part) => piecesOfPart(item, part, folds))
    if (hud !== undefined && placement.slot === "tool" && item === sent.at(-1)) addInside(item, pieces, hud)
    return [...split(pieces), ...anchorsBehind(item, change)]
  })
  return hud === undefined || placement.slot === "tool" ? wire : [...wire, [ownPiece(hud)]]
}

function split(pieces: readonly Piece[]): Piece[][] {
  return [pieces.filter((piece) => !isResult(piece)), pieces.filter(isResult)].filter((message) => message.length > 0)
}

/** Appends a HUD to the last message's last result, or to a user message. */
function addInside(message: Message, pieces: Piece[], hud: string): void {
  if (message.kind === "user") pieces.push(ownPiece(hud))
  const at = pieces.findLastIndex((one) => isResult(one) && one.body !== INTERRUPTED)
  const result = pieces[at]
  if (result)
    pieces[at] = { ...result, body: `${result.body}\n\n${hud}`, tokens: result.tokens + tokensOfLength(hud.length + 2) }
}

function anchorsBehind({ id }: Message, change: ShownChange | undefined): Piece[][] {
  const anchors = change?.hud.slot === "sticky" ? change.hud.anchors : []
  return anchors.flatMap(({ after, text }) => (after === id ? [[ownPiece(text)]] : []))
}

export function isResult({ label }: Piece): boolean {
  return label.startsWith("result ")
}

/** `files`: how many go with it, such as images. */
export function piece(label: string, body: string, files = 0): Piece {
  return { label, body, tokens: tokensOfLength(label.length + body.length + files * FILE_CHARS) }
}

/** In the user's role, since that is how the plugin's text is sent. */
function ownPiece(text: string): Piece {
  return { ...piece("user", text), isOwn: true }
}

/** Tokens of the first `count` pieces. */
export function sumTokens(pieces: readonly Piece[], count = pieces.length): number {
  return pieces.slice(0, count).reduce((sum, { tokens }) => sum + tokens, 0)
}

function piecesOfPart(message: Message, part: Part, folds: Folds): readonly Piece[] {
  const isTool = part.type === "tool"
  const cleared = isTool && (part.clearedMs !== undefined || part.removed)
  const fold = isTool ? outputFold(folds, message.id, { partID: part.id, cleared }) : undefined
  const known = knownPieces.get(fold ?? part)
  if (known) return known
  const pieces = newPieces(message, part, fold)
  knownPieces.set(fold ?? part, pieces)
  return pieces
}

function newPieces({ kind }: Message, part: Part, fold: Fold | undefined): Piece[] {
  const role = kind === "user" ? "user" : "assistant"
  switch (part.type) {
    case "text":
      return part.ignored || part.text === "" ? [] : [piece(role, part.text)]
    case "reasoning":
      return part.text === "" ? [] : [piece("reasoning", part.text)]
    case "compaction":
      return [piece(role, "What did we do so far?")]
    case "file":
      return [piece(`${role} file`, part.name, part.inline ? 0 : 1)]
    case "tool": {
      const files = part.clearedMs === undefined ? part.attached?.length : 0
      return [
        { ...piece(`call ${part.callID} ${part.tool}`, JSON.stringify(part.input)), tool: part.tool },
        { ...piece(`result ${part.callID}`, fold?.text ?? resultOf(part), files), tool: part.tool },
      ]
    }
    default:
      return []
  }
}

function resultOf({ status, output, clearedMs }: ToolPart): string {
  if (status === "completed") return clearedMs === undefined ? output : CLEARED
  return status === "error" ? output : INTERRUPTED
}
