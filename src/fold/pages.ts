// Splits a tool's answer into pages of the size that OpenCode passes on in full, cut at line ends. Of anything longer,
// OpenCode would keep the head and write the rest to a file.

/** The size of a tool's answer that OpenCode passes on in full, unless `tool_output` in its configuration differs. */
export const HOST_LIMITS: PageLimits = { bytes: 51_200, lines: 2_000 }

/** Size in UTF-8, and lines as `split("\n")` counts them. */
export type PageLimits = { bytes: number; lines: number }

/** A verbatim text under a head line that says what it is. An empty text has the head line only. */
export type Block = {
  text: string
  /** lines of it that a search found */
  found?: number
  /** The head line of a part of the text, or of all of it. `fromLine` and `toLine` count from 0. */
  head(part?: { fromLine: number; toLine: number }): string
}

/** A page is a list of pieces; the texts of a block's pieces, concatenated, are the block's text. */
type PagePiece = { head: string; text: string }

/** Smallest page: if OpenCode's limits are set below this, it cuts the pages. */
const MIN_LIMITS: PageLimits = { bytes: 2_000, lines: 20 }
/** Lines of a piece besides its text: its head, the line end its text may have, the empty line after it. */
const FRAME_LINES = 3
/** The line ends around a text. */
const FRAME_BYTES = 3

export function fits(text: string, limits: PageLimits): boolean {
  return Buffer.byteLength(text) <= limits.bytes && lineCount(text) <= limits.lines
}

/** `reserved` bytes and one line stay free on every page for a note below it. */
export function paginate(blocks: readonly Block[], limits: PageLimits, reserved: number): PagePiece[][] {
  const whole = {
    bytes: Math.max(limits.bytes, MIN_LIMITS.bytes) - reserved,
    lines: Math.max(limits.lines, MIN_LIMITS.lines) - 1,
  }
  const pages: PagePiece[][] = []
  let left = { bytes: 0, lines: 0 }
  for (const piece of blocks.flatMap((block) => piecesOf(block, whole))) {
    const { bytes, lines } = sizeOf(piece)
    if (bytes > left.bytes || lines > left.lines) {
      pages.push([])
      left = whole
    }
    pages.at(-1)?.push(piece)
    left = { bytes: left.bytes - bytes, lines: left.lines - lines }
  }
  return pages
}

/** The block in as few pieces as fit on a page each. */
function piecesOf({ text, head }: Block, page: PageLimits): PagePiece[] {
  const all = { head: head(), text }
  const { bytes, lines } = sizeOf(all)
  if (bytes <= page.bytes && lines <= page.lines) return [all]
  const last = lineCount(text) - 1
  const frame = sizeOf({ head: head({ fromLine: last, toLine: last }), text: "" })
  const room = { bytes: page.bytes - frame.bytes, lines: page.lines - frame.lines }
  const pieces: PagePiece[] = []
  for (let at = 0, fromLine = 0; at < text.length; ) {
    const chunk = takeChunk(text, at, room)
    const ends = lineCount(chunk) - 1
    const toLine = fromLine + (chunk.endsWith("\n") ? ends - 1 : ends)
    pieces.push({ head: head({ fromLine, toLine }), text: chunk })
    at += chunk.length
    fromLine += ends
  }
  return pieces
}

/** A page as text, with an empty line between its pieces. */
export function renderPage(pieces: readonly PagePiece[]): string {
  return pieces.map(({ head, text }) => (text === "" ? head : `${head}\n${text}`)).join("\n\n")
}

/** The next whole lines that fit; if not even one fits, its beginning, cut between code points. */
function takeChunk(text: string, from: number, room: PageLimits): string {
  const maxBytes = Math.max(MAX_POINT_BYTES, room.bytes)
  // a character has at least one byte, so no page needs more than this of a line of 10 MB
  const near = text.slice(from, from + maxBytes + 1)
  const fitting = new TextEncoder().encodeInto(near, new Uint8Array(maxBytes)).read
  let at = 0
  for (let lines = 0; lines < room.lines; lines++) {
    const end = near.indexOf("\n", at)
    const next = end < 0 ? near.length : end + 1
    if (next > fitting) break
    at = next
  }
  return near.slice(0, at || fitting)
}

/** Bytes of the longest code point: every chunk has room for one. */
const MAX_POINT_BYTES = 4

/** Number of lines, including a last one without a line end. */
export function lineCount(text: string): number {
  let lines = 1
  // a loop, because splitting 10 MB into up to ten million lines takes a second
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) lines++
  return lines
}

const LINE_FEED = 10

function sizeOf({ head, text }: PagePiece): PageLimits {
  return {
    bytes: Buffer.byteLength(head) + FRAME_BYTES + Buffer.byteLength(text),
    lines: FRAME_LINES + (text === "" ? 0 : lineCount(text)),
  }
}
