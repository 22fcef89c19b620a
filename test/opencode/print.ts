// How the demo prints: a little colour where a person is looking, and columns that line up.

export type Painter = Readonly<Record<"bold" | "dim" | "cyan" | "green" | "yellow", (text: string) => string>>

/** Whether to print in colour: on a terminal, unless the user said otherwise (https://no-color.org). */
export function wantsColour(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb"
}

export function painter(colour: boolean): Painter {
  const code = (open: number, close: number) => (text: string) =>
    colour ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return { bold: code(1, 22), dim: code(2, 22), cyan: code(36, 39), green: code(32, 39), yellow: code(33, 39) }
}

/** Rows as lines, every column as wide as its longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length)
    })
  }
  const lines = rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd())
  return `${lines.join("\n")}\n`
}
