// A terminal's screen as a web page, for pictures of it: each cell in its colours, each as wide as the others.

import { Terminal } from "@xterm/headless"

/** Of a cell, in pixels. */
const CELL = { width: 8, height: 17 }

/** A page with one `pre` as large as the screen. `text` has the screen's lines, colours as escape sequences in them. */
export async function pageOf(text: string, columns: number, rows: number): Promise<string> {
  const screen = new Terminal({ cols: columns, rows, allowProposedApi: true })
  const lines = text.split("\n").slice(0, rows).join("\r\n")
  await new Promise<void>((resolve) => screen.write(lines, resolve))
  const cells = Array.from({ length: rows * columns }, (_, at) => {
    const cell = screen.buffer.active.getLine(Math.floor(at / columns))?.getCell(at % columns)
    if (!cell || cell.getWidth() === 0) return ""
    const char = cell.getChars() || " "
    const colour = cell.isFgRGB() ? hex(cell.getFgColor()) : "#eeeeee"
    const ground = cell.isBgRGB() ? hex(cell.getBgColor()) : "transparent"
    const block = blockOf(char, colour, ground)
    const style = [
      `left:${(at % columns) * CELL.width}px;top:${Math.floor(at / columns) * CELL.height}px`,
      `width:${cell.getWidth() * CELL.width}px;color:${colour};background:${block ?? ground}`,
      ...(cell.isBold() ? ["font-weight:bold"] : []),
    ]
    return `<i style="${style.join(";")}">${block ? "" : escaped(char)}</i>`
  })
  screen.dispose()
  return `<style>
    pre { position: relative; margin: 0; background: #0a0a0a; font: 13px/${CELL.height}px "DejaVu Sans Mono", monospace;
      width: ${columns * CELL.width}px; height: ${rows * CELL.height}px; overflow: hidden; }
    i { position: absolute; font-style: normal; height: ${CELL.height}px; white-space: pre; }
  </style><pre>${cells.join("")}</pre>`
}

/** Blocks fill their cell to the edge in a terminal, whatever the font has to say: drawn as backgrounds. */
function blockOf(text: string, colour: string, ground: string): string | undefined {
  const part = (to: string, eighths: number) =>
    `linear-gradient(to ${to}, ${colour} ${eighths * 12.5}%, ${ground} ${eighths * 12.5}%)`
  const up = "▁▂▃▄▅▆▇█".indexOf(text)
  if (up >= 0) return part("top", up + 1)
  const across = "▏▎▍▌▋▊▉".indexOf(text)
  if (across >= 0) return part("right", across + 1)
  return text === "▀" ? part("bottom", 4) : undefined
}

function hex(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)
}
