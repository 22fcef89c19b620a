// Why one test failed, read from the lines its runner printed about it. Assertion libraries differ more than runners
// do, so every runner shares this.

import type { Line } from "../lines.ts"
import type { Failure } from "./report.ts"

const WANTED =
  /^\s*(?:E {2,}|> +|\| +)?(?:expected(?: (?:value|result|string|pattern|substring))?|want(?:ed)?|right)\b\s*(?:\[[^\]]*\])?\s*(?::|=(?!=))\s*(\S.*)$/i
const GOT =
  /^\s*(?:E {2,}|> +|\| +)?(?:received(?: (?:value|result|string))?|actual(?: value| result)?|got|left|but was)\b\s*(?::|=(?!=))\s*(\S.*)$/i
const ERROR_LINE =
  /^\s*(?:E {2,}|> +|\| +)?(?:[A-Za-z_][\w.$]*(?:Error|Exception|Failure|Failed)\b(?: \[\w+\])?:?|assert\w*[\s:!(]|panic: |Error:|error:|fatal:)/
const NOISE =
  /^\s*(?:$|[-=_─⎯~^|]{3,}|at\s|\d+ \||>\s*\d+ \||Stack Trace|Error Message:?|Traceback|File "|\(compared using|Diff:|[{}[\]]|---|\.\.\.|stack backtrace|note: run with|Error Trace:|STACK:)/i
const PLACE = /((?:[A-Za-z]:[\\/]|file:\/\/)?[\w@.\\/+~[\]-]*[\w@~\]-]\.[A-Za-z]{1,6})(?::|\()(\d+)/
const FOREIGN =
  /node_modules|node:|internal\/|site-packages|\/dist-packages|\/rustc\/|\/usr\/lib\/|\/go\/src\/|\/pkg\/mod\/|vendor\/bundle|\/gems\//

/** What a region of lines says of one failure: its message, where it happened, and the lines that say so. */
export function explain(region: readonly Line[]): Pick<Failure, "message" | "file" | "line" | "quotes"> {
  let wanted: [string, Line] | undefined
  let got: [string, Line] | undefined
  let error: Line | undefined
  let plain: Line | undefined
  let file: string | undefined
  let line: number | undefined
  for (const candidate of region) {
    const { text } = candidate
    if (file === undefined) {
      const place = placeIn(text)
      if (place) ({ file, line } = place)
    }
    const wants = wanted ? null : WANTED.exec(text)
    if (wants?.[1]) wanted = [wants[1], candidate]
    const gets = got ? null : GOT.exec(text)
    if (gets?.[1]) got = [gets[1], candidate]
    if (!error && ERROR_LINE.test(text) && !NOISE.test(text)) error = candidate
    if (!plain && !NOISE.test(text)) plain = candidate
  }
  const place = file === undefined || line === undefined ? {} : { file, line }
  if (wanted && got) {
    const message = `expected ${brief(wanted[0])}, got ${brief(got[0])}`
    return { message, quotes: [wanted[1], got[1]], ...place }
  }
  const best = error ?? plain
  if (!best) return { quotes: [], ...place }
  const message = messageOf(best.text)
  // `Expected values to be strictly equal:` and then the values
  const after = message.endsWith(":")
    ? region.slice(region.indexOf(best) + 1).find(({ text }) => !NOISE.test(text))
    : undefined
  return after
    ? { message: `${message} ${after.text.trim()}`, quotes: [best, after], ...place }
    : { message, quotes: [best], ...place }
}

/** The source position a line names, unless it lies in code that is not the project's. */
export function placeIn(text: string): { file: string; line: number } | undefined {
  const python = /^\s*File "([^"]+)", line (\d+)/.exec(text) ?? /\bin (\S+):line (\d+)/.exec(text)
  const found = python ?? PLACE.exec(text)
  if (!found?.[1] || !found[2] || FOREIGN.test(found[1]) || /^\w*:?\/\/|^www\./.test(found[1])) return undefined
  return { file: found[1], line: Number(found[2]) }
}

function messageOf(text: string): string {
  return text
    .replace(/^\s*(?:E {2,}|> +|\| +)?/, "")
    .replace(/^(?:[\w.$]*\.)?(?:AssertionError|AssertionFailedError|Error)\b(?: \[\w+\])?: (?=\S)/, "")
    .replace(/^\S+\.\w{1,5}:\d+(?::\d+)?:\s+/, "")
    .replace(/ \/\/ Object\.is equality$/, "")
    .trim()
}

function brief(value: string): string {
  const text = value.trim().replace(/,$/, "")
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
