// A fetched page: its title and its headings.

import { plural } from "../../../output/checks/report.ts"
import type { Line, View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"
import { digestJson } from "../other/json.ts"
import { headingsIn } from "../read/markdown.ts"

const NAVIGATION =
  /^(?:Navigation Menu|Table of Contents|On this page|Search\b.*|Menu|Contents|Sign in.*|Skip to .*|Footer.*|Cookies?.*|Use saved searches.*|Provide feedback|Saved searches.*|Resources|Company|Support)$/i

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
  // the first line of a page is its title or a piece of its menu: a title repeats the heading or has a separator
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

/** The first sentences of the text itself, for pages without headings. */
function prose(lines: readonly Line[]) {
  return lines
    .filter(({ text }) => isProse(text) && text.length > 60)
    .slice(0, 3)
    .map((line) => cite("symbol", line))
}

/** Not a link, a list item or a table of navigation. */
function isProse(text: string): boolean {
  const trimmed = text.trim()
  return (
    /^[\p{L}\p{N}"'“#]/u.test(trimmed) && trimmed.length > 3 && !/^\[|^https?:|^Skip to|\]\([^)]*\)\s*$/.test(trimmed)
  )
}
