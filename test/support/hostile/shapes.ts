// Sizes, nesting and names: what makes code slow, deep, large, or reach for what is not its own.

import { LARGE } from "../large.ts"
import { type Input, spellings } from "./input.ts"

/** Texts of up to a megabyte in the large run, else of a tenth. */
const many = (count: number) => (LARGE ? count : Math.ceil(count / 10))

const sizes: Readonly<Record<string, string>> = {
  empty: "",
  space: " ",
  blanks: " \t\n\r\u00a0\u2003\u3000 ",
  "one-line": "x".repeat(many(1_000_000)),
  "one-line-of-tags": "</hud>".repeat(many(100_000)),
  "one-line-of-brackets": "<".repeat(many(300_000)),
  "one-line-of-words": "failed ".repeat(many(100_000)),
  "short-lines": "x\n".repeat(many(100_000)),
  "empty-lines": "\n".repeat(many(200_000)),
  "tag-lines": "</hud>\n".repeat(many(20_000)),
  "deep-arrays": `${"[".repeat(many(50_000))}${"]".repeat(many(50_000))}`,
  "deep-objects": `${'{"a":'.repeat(many(20_000))}1${"}".repeat(many(20_000))}`,
  "deep-tags": `${"<div>".repeat(many(20_000))}`,
  "deep-quotes": "> ".repeat(many(20_000)),
  repeated: "Error: the same again and again\n".repeat(many(30_000)),
  wide: "\u{1f600}".repeat(many(100_000)),
  marks: `a${"\u0301".repeat(many(100_000))}`,
  escapes: "\u001b[0m".repeat(many(50_000)),
  "open-escapes": "\u001b]".repeat(many(50_000)),
  surrogates: "\ud83d".repeat(many(100_000)),
  entities: "&lt;".repeat(many(50_000)),
  "half-entities": "&#0".repeat(many(50_000)),
  percents: "%25".repeat(many(50_000)),
}

/** Against patterns that go back over what they have read. */
const bombs: Readonly<Record<string, string>> = {
  letters: `${"a".repeat(many(100_000))}!`,
  paths: `${"a/".repeat(many(50_000))} `,
  dots: `${"a.".repeat(many(50_000))}`,
  dashes: `${"-".repeat(many(100_000))}x`,
  "spaces-end": `x${" ".repeat(many(100_000))}y`,
  colons: `${"a:1:".repeat(many(30_000))}`,
  quotes: `"${"\\".repeat(many(100_001))}`,
  assignments: "password ".repeat(many(20_000)),
  tokens: `sk-${"a".repeat(many(100_000))}`,
  urls: `${"http://".repeat(many(15_000))}`,
  brackets: "[".repeat(many(100_000)),
  digits: "1".repeat(many(100_000)),
  totals: "1 passed, ".repeat(many(20_000)),
  "error-words": "Error: Error: ".repeat(many(20_000)),
  "word-chars": `${"_a1".repeat(many(30_000))}.`,
  "base64-like": `${"A".repeat(119)} `.repeat(many(2_000)),
}

const names: Readonly<Record<string, string>> = {
  proto: "__proto__",
  constructor: "constructor",
  prototype: "prototype",
  "to-string": "toString",
  "value-of": "valueOf",
  "has-own": "hasOwnProperty",
  getter: "__defineGetter__",
  awaited: "then",
  "to-json": "toJSON",
  length: "length",
  extension: "notes.constructor",
  "proto-json": '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}',
  command: "constructor --fix && toString x | __proto__ y",
  traversal: "../../../../etc/passwd",
  "traversal-encoded": "..%2f..%2fetc%2fpasswd",
  "traversal-windows": "..\\..\\windows\\system32\\cmd.exe",
  "traversal-nul": "safe.txt\u0000../../etc/passwd",
  "device-name": "CON",
  "drive-stream": "C:\\a.txt:stream:$DATA",
  "unc-path": "\\\\evil\\share\\x",
  home: "~/.ssh/id_rsa",
  dash: "--output=/etc/passwd",
  "line-feed": "a\nb.ts",
  "quotes-and-pipes": "a'b\"c`d|e;f&g.ts",
  separators: "a, b; c: d {e} (f).ts",
  glob: "src/**/[a-z]?.{ts,js}",
  dots: "...",
  slashes: "//////",
  dot: ".",
  root: "/",
  "very-long": `${"folder/".repeat(3_000)}file.ts`,
  "long-segment": `src/${"n".repeat(5_000)}.ts`,
}

export const shapes: readonly Input[] = [
  ...spellings("size", "be too much", sizes),
  ...spellings("bomb", "keep a pattern busy", bombs),
  ...spellings("name", "be more than a name", names),
]
