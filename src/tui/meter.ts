// The context drawn as a bar with a mark where OpenCode compacts, and the sizes of the last calls as a sparkline. Pure; the
// component chooses the colours.

/** `fill` is used, `track` is free, `mark` is the threshold; every cell is one column wide. */
export type Cells = { text: string; part: "fill" | "track" | "mark"; onFill?: boolean }

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
const HEIGHTS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/**
 * A bar of `width` columns.
 * - `share`: how full, 0 to 1; anything above is drawn as full
 * - `mark`: where the threshold is, 0 to 1; absent = no mark
 */
export function bar(share: number, width: number, mark?: number): Cells[] {
  const eighths = Math.round(clamp(share) * width * 8)
  const full = Math.floor(eighths / 8)
  const filled = "█".repeat(full) + EIGHTHS[eighths % 8]
  const piece = (from: number, to: number): Cells[] => [
    { text: filled.slice(from, to), part: "fill" },
    { text: " ".repeat(Math.max(0, to - Math.max(from, filled.length))), part: "track" },
  ]
  const at = mark === undefined ? width : Math.min(width - 1, Math.floor(clamp(mark) * width))
  const threshold: Cells = { text: "│", part: "mark", ...(at < full ? { onFill: true } : {}) }
  const cells = at < 0 || at === width ? piece(0, width) : [...piece(0, at), threshold, ...piece(at + 1, width)]
  return cells.filter(({ text }) => text !== "")
}

/** One column for each of the newest `width` sizes, on a scale from 0 to `max`, by default the largest size. */
export function sparkline(sizes: readonly number[], width: number, max = Math.max(...sizes)): string {
  return sizes
    .slice(-Math.max(0, width) || sizes.length)
    .map((size) => HEIGHTS[Math.min(7, Math.floor(clamp(max > 0 ? size / max : 0) * 8))])
    .join("")
}

function clamp(share: number): number {
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0
}
