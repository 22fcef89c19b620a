// Outputs of any size in shapes that are hard to process: without line ends, of line ends only, of bytes, encoded, in escapes.

/** Made of lines until the size is reached, in characters. */
export function numbered(size: number, lineOf: (n: number) => string): string {
  const lines: string[] = []
  for (let n = 0, made = 0; made < size; n++) {
    const line = lineOf(n)
    lines.push(line)
    made += line.length + 1
  }
  return lines.join("\n")
}

const fill = (unit: string) => (size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

const records = (size: number) =>
  Array.from({ length: Math.ceil(size / 60) }, (_, n) => ({ id: n, name: `item-${n}`, error: null, path: "src/a.ts" }))

/** No two stretches alike, and no line's end: what an image looks like in JSON. */
const encoded = (size: number) =>
  numbered(size, (n) => Bun.hash(String(n)).toString(36).repeat(6)).replaceAll("\n", "+")

export const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  text: (size) => numbered(size, (n) => `src/a/file${n}.ts:${n}:4 error TS2345: expected ${n}, got 401`),
  "one line": (size) => numbered(size, (n) => `word${n} and more`).replaceAll("\n", " "),
  "one word": fill("a"),
  "empty lines": fill("\n"),
  blanks: fill(" "),
  bytes: fill("\u0000\u0001\ufffdPK\u0003\u0004abc\u00ff\u0007"),
  JSON: (size) => JSON.stringify(records(size)),
  "JSON on lines": (size) => JSON.stringify(records(size), null, 2),
  base64: encoded,
  progress: fill("progress 10% of the work\r"),
  escapes: fill("\u001b[31mred\u001b[0m \u001b]0;title\u0007"),
  tags: fill("<hud><a><!--"),
  surrogates: fill("\ud83d"),
  "other scripts": fill("日本語の出力😀 "),
}
