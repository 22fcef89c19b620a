// Web search results: titles and addresses.

import { plural } from "../../../output/checks/report.ts"
import { clip, type Line, type View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"

type Result = { title: string; url: string; titleAt: Line; urlAt: Line }

/** Undefined when the output lists no results. */
export function digestResults(view: View, searched: boolean): Draft | undefined {
  const results: Result[] = []
  let title: Line | undefined
  for (const line of view.lines) {
    if (/^(?:\*\*)?Title:/.test(line.text)) title = line
    const url = /^(?:\*\*)?(?:URL|Link|Source):(?:\*\*)? (\S+)/.exec(line.text)?.[1]
    if (url && title) results.push({ title: title.text.replace(/^\W*Title:\W*/, ""), url, titleAt: title, urlAt: line })
    if (url) title = undefined
    const linked = !searched ? null : /^\s*(?:\d+\.|[-*#]+) \[([^\]]+)\]\((https?:[^)\s]+)\)/.exec(line.text)
    if (linked?.[1] && linked[2]) results.push({ title: linked[1], url: linked[2], titleAt: line, urlAt: line })
    for (const found of line.text.includes('"url":')
      ? line.text.matchAll(/"title":"((?:[^"\\]|\\.)*)","url":"([^"]+)"/g)
      : []) {
      if (found[1] && found[2]) results.push({ title: found[1], url: found[2], titleAt: line, urlAt: line })
    }
  }
  // a page may link to things, and even title them
  if (results.length < (searched ? 1 : 3)) return undefined
  const head = plural(results.length, "result", view.cut)
  return {
    kind: "results",
    gist: `${head}: ${listed(
      results.map((result) => clip(result.title, 60)),
      150 - head.length,
      "; ",
    )}`,
    facts: results.flatMap((result) => [
      cite("path", result.urlAt, result.url),
      results.length <= 6 ? cite("symbol", result.titleAt, result.title) : undefined,
    ]),
  }
}
