// How wide text is on a terminal, where a letter may take two columns or none, and text cut to fit. Runs on OpenCode's Bun.

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Columns that a line takes. */
export function widthOf(text: string): number {
  return Bun.stringWidth(text)
}

/** Cuts to at most `width` columns, the last being `…` when something was cut; never inside a letter. */
export function fit(text: string, width: number): string {
  if (width <= 0) return ""
  return widthOf(text) <= width ? text : `${beginning(text, width - 1).trimEnd()}…`
}

/** As much of its start as takes at most `width` columns. */
function beginning(text: string, width: number): string {
  let kept = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += widthOf(segment)
    if (used > width) break
    kept += segment
  }
  return kept
}

/** Breaks a line at its spaces into at most `rows` lines of at most `width` columns; what is left over is cut. */
export function wrap(text: string, width: number, rows: number): string[] {
  const lines: string[] = []
  let rest = text.trim()
  while (rest && lines.length < rows - 1 && widthOf(rest) > width) {
    const head = beginning(rest, width)
    const space = rest[head.length] === " " ? head.length : head.lastIndexOf(" ")
    // a word that fills a line is broken anywhere
    const at = space > head.length / 2 ? space : head.length
    lines.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  return rest && rows > 0 ? [...lines, fit(rest, width)] : lines
}
