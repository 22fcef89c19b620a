// Fetched pages and the results of web searches.

import { clip, type Line, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { headingsIn } from "./data.ts"
import { cite, citeAll, type Draft, listed } from "./draft.ts"
import { digestJson } from "./json.ts"

type SearchResult = { title: string; url: string; titleAt: Line; urlAt: Line }

/** Search results: titles and addresses. Undefined when the output lists none. */
export function digestResults(view: View, searched: boolean): Draft | undefined {
  const results: SearchResult[] = []
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
  // a page has titled links of its own
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

const NAVIGATION =
  /^(?:Navigation Menu|Table of Contents|On this page|Search\b.*|Menu|Contents|Sign in.*|Skip to .*|Footer.*|Cookies?.*|Use saved searches.*|Provide feedback|Saved searches.*|Resources|Company|Support)$/i

/** A page: its title and its headings. */
export function digestPage(view: View, output: string): Draft {
  const json = digestJson(output, view.lines)
  if (json) return json
  const html = view.lines.slice(0, 200).some(({ text }) => /<(?:html|head|!doctype)\b/i.test(text))
  const headings = html
    ? htmlHeadings(view.lines)
    : headingsIn(view.lines).filter(({ title }) => !NAVIGATION.test(title))
  const first = view.lines.find(({ text }) => isProse(text))
  const top = headings.find(({ level }) => level <= 1)
  const lead = first && !first.text.startsWith("#") && first.text.trim().length < 120 ? first.text.trim() : undefined
  // the first line is the title or part of a menu: a title repeats the heading or contains a separator
  const titled = lead && (!top || lead.includes(top.title) || / [|·—–-] /.test(lead)) ? lead : undefined
  const title = html ? headings[0]?.title : (titled ?? top?.title ?? first?.text.trim())
  const rest = [...new Set(headings.map((heading) => heading.title))].filter(
    (heading) => heading !== title && !title?.startsWith(heading),
  )
  const head = title ? `"${title.slice(0, 80)}"` : plural(view.lines.length, "line", view.cut)
  return {
    kind: "page",
    gist: rest.length > 0 ? `${head}: ${listed(rest, 150 - head.length, "; ")}` : head,
    facts: [
      first && cite("symbol", first),
      ...headings.slice(0, 11).map(({ line }) => cite("symbol", line)),
      ...prose(view.lines),
    ],
  }
}

function htmlHeadings(lines: readonly Line[]): { level: number; title: string; line: Line }[] {
  return lines.flatMap((line) => {
    const found = /<(title|h[1-4])\b[^>]{0,200}>\s*([^<]{2,200})/i.exec(line.text)
    const level = found?.[1]?.toLowerCase() === "title" ? 0 : Number(found?.[1]?.[1] ?? 1)
    return found?.[2] ? [{ level, title: found[2].trim(), line: { text: found[2], raw: line.raw } }] : []
  })
}

/** The first sentences of the text, for pages without headings. */
function prose(lines: readonly Line[]) {
  return citeAll("symbol", lines.filter(({ text }) => isProse(text) && text.length > 60).slice(0, 3))
}

/** Whether a line is text rather than a link, a list item or part of a navigation table. */
function isProse(text: string): boolean {
  const trimmed = text.trim()
  return (
    /^[\p{L}\p{N}"'“#]/u.test(trimmed) && trimmed.length > 3 && !/^\[|^https?:|^Skip to|\]\([^)]*\)\s*$/.test(trimmed)
  )
}
