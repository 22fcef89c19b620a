// Why a test failed, from the lines about it: what was expected, the message, and the place.

import { cut } from "../../text/sanitize.ts"
import type { CheckFailure } from "./report.ts"

const WANTED =
  /^\s*(?:E {2,}|> +|[|│#] +)?(?:expected(?: (?:value|result|string|pattern|substring|length|number of calls))?|want(?:ed)?|right)\b\s*(?:\[[^\]]*\])?\s*(?::|=(?!=))\s*(\S.*)$/i
const GOT =
  /^\s*(?:E {2,}|> +|[|│#] +)?(?:received(?: (?:value|result|string|length|number of calls))?|actual(?: value| result)?|got|left|but (?:was|got))\b\s*(?::|=(?!=))\s*(\S.*)$/i
const ERROR_LINE =
  /^\s*(?:E {2,}|[|│] +)?(?:[A-Za-z_][\w.$]*(?:Error|Exception|Failure|Failed)\b(?: \[\w+\])?:?|assert\w*[\s:!(]|panic: |\*\* \(|Error:|error:|fatal:)/
const NOISE =
  /^\s*(?:[│─]?$|[-=_─⎯~^|!]{3,}|make\S*: \*\*\*|Start +\d+: |[✓✔] |at\s|\d+ \||>\s*\d+ \||Stack Trace|Error Message:?|Traceback|File "|\(compared using|Diff:|[{}[\]]|---|\.\.\.|stack backtrace|note: run with|ImportError while |Hint: make sure|Error Trace:|STACK:|thread '.+ panicked at .+:$|\S+: Failure$)/i
/** `a.cs(12)` is a place; `cart.total(12)` is a call in the line of code that a runner shows. */
const PLACE =
  /((?:[A-Za-z]:[\\/]|file:\/\/)?[\w\p{L}\p{M}@.\\/+~[\]-]*[\w\p{L}\p{M}@~\]-]\.[A-Za-z]{1,6})(?::|(?<=\.(?:cs|fsx?|vb|[jt]sx?|c|cc|cpp|cxx|hp?p?))\()(\d+)\b/u
const FOREIGN =
  /node_modules|node:|internal\/|site-packages|\/dist-packages|\/rustc\/|\/usr\/lib\/|lib\/python\d|\/go(?:\/?\d+\.[\d.]+)?\/(?:libexec\/)?src\/|_testmain\.go|\/pkg\/mod\/|vendor\/bundle|\/gems\/|^testing\.go$|\.(?:com|org|net|io|local)$/

/** A line that a Go test printed. A log line looks like a failure, which says one of these words, or with Testify goes on below. */
const GO_ROW = /^\s+[^\s:]+\.go:\d+: ?/
const GO_FAILURE = /:\d+: ?$|\b(?:expect|want|got|fail|err|should|must|unexpected|mismatch|missing|differ|not\b)|[!=]=/i

export function explainFailure(lines: readonly string[]): Pick<CheckFailure, "message" | "file" | "line"> {
  const rows = lines.filter((text) => GO_ROW.test(text))
  const failed = rows.find((text) => GO_FAILURE.test(text)) ?? rows.at(-1) ?? lines[0] ?? ""
  const region = lines.slice(Math.max(0, lines.indexOf(failed)))
  // pytest shows the code of the test, and marks what it says of it
  const marked = region.filter((text) => /^E {2,}/.test(text))
  const told = marked.length > 0 ? marked : region
  const valueIn = (pattern: RegExp) => told.map((text) => pattern.exec(text)?.[1]).find(Boolean)
  const place = region.map(sourcePlaceIn).find(Boolean)
  const wanted = valueIn(WANTED)
  const got = valueIn(GOT)
  // of `assert.ok`, and of values over several lines, the message of node says more
  const isOk = /^true\b/.test(wanted ?? "") && told.some((text) => /^\s*operator: '=='/.test(text))
  const isPoor = isOk || wanted === got || /^[|>]-?$/.test(wanted ?? "")
  // jest and bun state both of what a function that did not throw returned
  const inJest = told.find((text) => /^\s*Received (?:function|promise) /.test(text))
  if (wanted && got && !isPoor && !inJest)
    return { message: `expected ${cutValue(wanted)}, got ${cutValue(got)}`, ...place }
  const said = told.filter((text) => !NOISE.test(text))
  const best = inJest ?? said.find((text) => ERROR_LINE.test(text)) ?? said[0]
  if (!best) return place ?? {}
  // TAP writes a message as YAML: in quotes, or on the lines below `|-`
  const message = messageIn(best)
    .replace(/^['"](.+)['"]$/, "$1")
    .replace(/^[|>]-?$/, ":")
  // after `Expected values to be strictly equal:` the values follow
  const after = message.endsWith(":") ? said[said.indexOf(best) + 1] : undefined
  return { message: after ? `${message} ${after.trim()}`.replace(/^: /, "") : message, ...place }
}

/** The source position that a line names, unless it is outside the project's own code. */
function sourcePlaceIn(text: string): { file: string; line: number } | undefined {
  const found = /^\s*File "([^"]+)", line (\d+)/.exec(text) ?? /\bin (\S+):line (\d+)/.exec(text) ?? PLACE.exec(text)
  if (!found?.[1] || !found[2] || FOREIGN.test(found[1]) || /^\w*:?\/\/|^www\./.test(found[1])) return undefined
  return { file: found[1], line: Number(found[2]) }
}

function messageIn(text: string): string {
  return text
    .replace(/^\s*(?:E {2,}|> +|[|│] +)?/, "")
    .replace(
      /^(?:[\w.$]*\.)?(?:AssertionError|AssertionFailedError|ComparisonFailure|Error|error)\b(?: \[\w+\])?: (?=\S)/,
      "",
    )
    .replace(/^\S+\.\w{1,5}:\d+(?::\d+)?:\s+/, "")
    .replace(/ \/\/ Object\.is equality$/, "")
    .trim()
}

function cutValue(value: string): string {
  return cut(value.trim().replace(/,$/, ""), 60)
}
