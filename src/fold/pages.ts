// What a tool hands over in one answer: as much as OpenCode passes on whole, cut at line ends. OpenCode would keep the
// head of anything longer, write the rest to a file and say so.

/** What OpenCode passes on whole of a tool's answer, unless `tool_output` in its configuration says otherwise. */
export const HOST_LIMITS: Limits = { bytes: 51_200, lines: 2_000 }

/** Size in UTF-8, and lines as `split("\n")` counts them. */
export type Limits = { bytes: number; lines: number }

/** One thing to hand over: its text, verbatim, under a line that says what it is. An empty text has that line only. */
export type Block = {
  text: string
  /** The line above. `fromLine` and `toLine` count from 0 in the text; absent when all of it is there. */
  head(part?: { fromLine: number; toLine: number }): string
}

/** A page is its pieces in order; the texts of a block's pieces, put together, are the block's text. */
export type Piece = { head: string; text: string }

/** Smallest page: whoever sets OpenCode's limits below this gets pages that OpenCode cuts. */
const LEAST: Limits = { bytes: 2_000, lines: 20 }
/** Lines that a piece has besides its text's: its head, the end of line its text may have, the empty line after it. */
const FRAME_LINES = 3
/** The ends of line around a text. */
const FRAME_BYTES = 3

export function fits(text: string, limits: Limits): boolean {
  return byteLength(text) <= limits.bytes && lineCount(text) <= limits.lines
}

/** `reserved` bytes and one line stay free on every page for what is said below it. */
export function paginate(blocks: readonly Block[], limits: Limits, reserved: number): Piece[][] {
  const whole = {
    bytes: Math.max(limits.bytes, LEAST.bytes) - reserved,
    lines: Math.max(limits.lines, LEAST.lines) - 1,
  }
  const pages: Piece[][] = []
  let left = { bytes: 0, lines: 0 }
  const add = (piece: Piece) => {
    pages.at(-1)?.push(piece)
    left = { bytes: left.bytes - frameBytes(piece.head) - byteLength(piece.text), lines: left.lines - linesOf(piece) }
  }
  const turn = () => {
    pages.push([])
    left = whole
  }
  for (const block of blocks) {
    const piece = { head: block.head(), text: block.text }
    const size = { bytes: frameBytes(piece.head) + byteLength(piece.text), lines: linesOf(piece) }
    const doesFit = (room: Limits) => size.bytes <= room.bytes && size.lines <= room.lines
    if (!doesFit(left)) turn()
    if (doesFit(left)) {
      add(piece)
      continue
    }
    const last = lineCount(block.text) - 1
    for (let at = 0, fromLine = 0; at < block.text.length; ) {
      if (at > 0) turn()
      const room = left.bytes - frameBytes(block.head({ fromLine: last, toLine: last }))
      const text = takeChunk(block.text, at, { bytes: room, lines: left.lines - FRAME_LINES })
      at += text.length
      const ends = text.split("\n").length - 1
      const toLine = fromLine + (text.endsWith("\n") ? ends - 1 : ends)
      add({ head: block.head({ fromLine, toLine }), text })
      fromLine += ends
    }
  }
  return pages
}

/** A page as it is handed over: an empty line sets each text apart from what comes after it. */
export function renderPage(pieces: readonly Piece[]): string {
  return pieces.map(({ head, text }) => (text === "" ? head : `${head}\n${text}`)).join("\n\n")
}

/** The next whole lines that fit; of a line that does not fit by itself, its beginning up to a code point's border. */
function takeChunk(text: string, from: number, room: Limits): string {
  const most = Math.max(LONGEST_POINT, room.bytes)
  // no fewer bytes than characters, so that of a line of 10 MB no page looks further than this
  const near = text.slice(from, from + most + 1)
  const fitting = encoder.encodeInto(near, new Uint8Array(most)).read
  let at = 0
  for (let lines = 0; lines < room.lines; lines++) {
    const end = near.indexOf("\n", at)
    const next = end < 0 ? near.length : end + 1
    if (next > fitting) break
    at = next
  }
  return near.slice(0, at || fitting)
}

/** Bytes of one code point, which is the least that a page takes. */
const LONGEST_POINT = 4

const encoder = new TextEncoder()

/** In UTF-8; a lone surrogate counts as the U+FFFD it is sent as. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** Lines, a last one without an end of line included. */
export function lineCount(text: string): number {
  let lines = 1
  // counted one by one: a list of the ten million lines that 10 MB may have takes a second to make
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) lines++
  return lines
}

const LINE_FEED = 10

function linesOf({ text }: Piece): number {
  return FRAME_LINES + (text === "" ? 0 : lineCount(text))
}

function frameBytes(head: string): number {
  return byteLength(head) + FRAME_BYTES
}
