// Fetched pages and the results of web searches.

import { clip, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { headingsIn } from "./data.ts"
import { type Draft, listed } from "./draft.ts"
import { digestJson } from "./json.ts"

/** Search results: their titles. Undefined when the output lists none. */
export function digestResults(view: View, searched: boolean): Draft | undefined {
  const titles: string[] = []
  let title: string | undefined
  for (const text of view.lines) {
    if (/^(?:\*\*)?Title:/.test(text)) title = text.replace(/^\W*Title:\W*/, "")
    if (/^(?:\*\*)?(?:URL|Link|Source):(?:\*\*)? \S/.test(text)) {
      if (title !== undefined) titles.push(title)
      title = undefined
    }
    const linked = searched ? /^\s*(?:\d+\.|[-*#]+) \[([^\]]+)\]\((https?:[^)\s]+)\)/.exec(text)?.[1] : undefined
    if (linked) titles.push(linked)
    if (text.includes('"url":'))
      for (const [, found] of text.matchAll(/"title":"((?:[^"\\]|\\.)+)","url":"[^"]+"/g)) titles.push(found ?? "")
  }
  // an ordinary page has titled links too
  if (titles.length < (searched ? 1 : 3)) return undefined
  const head = plural(titles.length, "result", view.cut)
  const shown = titles.map((one) => clip(one, 60))
  return { kind: "results", gist: `${head}: ${listed(shown, 150 - head.length, "; ")}` }
}

const NAVIGATION =
  /^(?:Navigation Menu|Table of Contents|On this page|Search\b.*|Menu|Contents|Sign in.*|Skip to .*|Footer.*|Cookies?.*|Use saved searches.*|Provide feedback|Saved searches.*|Resources|Company|Support)$/i

/** A page: its title and its headings. */
export function digestPage(view: View, output: string): Draft {
  const json = digestJson(output)
  if (json) return json
  const html = view.lines.slice(0, 200).some((text) => /<(?:html|head|!doctype)\b/i.test(text))
  const headings = html
    ? htmlHeadings(view.lines)
    : headingsIn(view.lines).filter(({ title }) => !NAVIGATION.test(title))
  const first = view.lines.find((text) => isProse(text))
  const top = headings.find(({ level }) => level <= 1)
  const lead = first && !first.startsWith("#") && first.trim().length < 120 ? first.trim() : undefined
  // the first line is the title or part of a menu: a title repeats the heading or contains a separator
  const titled = lead && (!top || lead.includes(top.title) || / [|·—–-] /.test(lead)) ? lead : undefined
  const title = html ? headings[0]?.title : (titled ?? top?.title ?? first?.trim())
  const rest = [...new Set(headings.map((heading) => heading.title))].filter(
    (heading) => heading !== title && !title?.startsWith(heading),
  )
  const head = title ? `"${title.slice(0, 80)}"` : plural(view.lines.length, "line", view.cut)
  return { kind: "page", gist: rest.length > 0 ? `${head}: ${listed(rest, 150 - head.length, "; ")}` : head }
}

function htmlHeadings(lines: readonly string[]): { level: number; title: string }[] {
  return lines.flatMap((text) => {
    const found = /<(title|h[1-4])\b[^>]{0,200}>\s*([^<]{2,200})/i.exec(text)
    const level = found?.[1]?.toLowerCase() === "title" ? 0 : Number(found?.[1]?.[1] ?? 1)
    return found?.[2] ? [{ level, title: found[2].trim() }] : []
  })
}

/** Whether a line is text rather than a link, a list item or part of a navigation table. */
function isProse(text: string): boolean {
  const trimmed = text.trim()
  return (
    /^[\p{L}\p{N}"'“#]/u.test(trimmed) && trimmed.length > 3 && !/^\[|^https?:|^Skip to|\]\([^)]*\)\s*$/.test(trimmed)
  )
}
