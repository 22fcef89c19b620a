// A document in markdown: its title and its headings.

import type { Line } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"
import type { Shown } from "./rows.ts"

type Heading<Of extends Line = Line> = { level: number; title: string; line: Of }

export function digestMarkdown(shown: Shown, extent: string): Draft {
  const headings = headingsIn(shown.rows)
  const named = frontmatter(shown.rows)
  const whole = shown.rows[0]?.no === 1
  const title =
    named?.text.replace(/^\w+:\s*/, "").replace(/^["']|["']$/g, "") ?? (whole ? headings[0]?.title : undefined)
  const first = shown.rows.find(({ text }) => /^[^\s#<>`|{}[\]!-]/.test(text))
  const rest = (named || !whole ? headings : headings.slice(1))
    .filter(({ level }, _, all) => level <= shallow(all))
    .map((heading) => heading.title)
  const head = `${title ? `"${title.slice(0, 70)}", ` : ""}${extent}`
  return {
    kind: "document",
    gist: `${head}${rest.length > 0 ? `: ${listed(rest, 150 - head.length, "; ")}` : title || !first ? "" : `: ${first.text}`}`,
    facts: [
      named && cite("symbol", named, undefined, named.no),
      ...headings.slice(0, 11).map(({ line }) => cite("symbol", line, line.text, line.no)),
      headings.length < 4 && first ? cite("symbol", first, first.text, first.no) : undefined,
    ],
  }
}

/** What the head of a document calls it. */
function frontmatter(rows: Shown["rows"]): Shown["rows"][number] | undefined {
  if (rows[0]?.no !== 1 || rows[0].text !== "---") return undefined
  const end = rows.findIndex(({ text }, at) => at > 0 && text === "---")
  const head = rows.slice(1, end < 0 ? 20 : end)
  return ["title", "name", "description"]
    .map((key) => head.find(({ text }) => text.startsWith(`${key}: `)))
    .find(Boolean)
}

/** The headings outside of code fences. */
export function headingsIn<Of extends Line>(lines: readonly Of[]): Heading<Of>[] {
  const headings: Heading<Of>[] = []
  let fence = ""
  for (const line of lines) {
    const mark = /^\s*(```|~~~)/.exec(line.text)?.[1]
    if (mark && (fence === "" || fence === mark)) fence = fence === "" ? mark : ""
    const found = fence === "" ? /^(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$/.exec(line.text) : null
    const title = found?.[2]
      ?.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[*`]+/g, "")
      .replace(/\\([^\w\s])/g, "$1")
      .trim()
    if (found?.[1] && title) headings.push({ level: found[1].length, title, line })
  }
  return headings
}

/** Sections only when there are enough of them, subsections when there are not. */
function shallow(headings: readonly Heading[]): number {
  for (const level of [1, 2, 3]) if (headings.filter((heading) => heading.level <= level).length >= 3) return level
  return 6
}
