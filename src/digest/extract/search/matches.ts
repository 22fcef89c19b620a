// Search results: how many matches in which files, and the first of them with their line numbers. Reads OpenCode's
// grep tool and what grep, rg, ag and `git grep` print.

import { plural, shortPath } from "../../../output/checks/report.ts"
import { clip, type Line, type View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"
import { commonFolder } from "./folder.ts"

type Match = { file: string; line: Line; text: string; no?: number }

const NOTHING =
  /^(?:No (?:files|matches|results) found\b.*|Found 0 matches|\(no output\)|Command exited with code 1|Exit code 1|\s*)$/i

type Files = Map<string, { count: number; line: Line | undefined }>

/** `around`: a word that was searched for with lines of context, which are then no matches themselves. */
export function digestMatches(view: View, around?: string): Draft {
  const matches: Match[] = []
  const files: Files = new Map()
  let file = ""
  let heading: Line | undefined
  const add = (name: string, match: Match) => {
    const known = files.get(name)
    if (known) known.count++
    else files.set(name, { count: 1, line: match.file === file ? heading : match.line })
    matches.push(match)
  }
  for (const line of view.lines) {
    const { text } = line
    if (NOTHING.test(text) || /^(?:Found \d+|\(|--$)/.test(text)) continue
    const under = /^ {2}Line (\d+): (.*)$/.exec(text)
    const inline = /^((?:[A-Za-z]:)?[^\s:][^:]*?)[:-](\d+)[:-](?:\d+:)?(.*)$/.exec(text)
    const bare = /^(\d+)[:-](.*)$/.exec(text)
    const named = /^([^\s:][^:]*\.\w+|[^\s:]*\/[^:]*):(.+)$/.exec(text)
    if (under) add(file, { file, line, text: under[2] ?? "", no: Number(under[1]) })
    else if (bare) add(file, { file, line, text: bare[2] ?? "", no: Number(bare[1]) })
    else if (inline?.[1]) {
      if (text[inline[1].length] === ":")
        add(inline[1], { file: inline[1], line, text: inline[3] ?? "", no: Number(inline[2]) })
    } else if (/^\S.*:$/.test(text)) {
      file = text.slice(0, -1)
      heading = line
    } else if (named?.[1]) add(named[1], { file: named[1], line, text: named[2] ?? "" })
    else if (/^[^\s:]*[\w-][./][^\s:]*$/.test(text)) add(text, { file: text, line, text: "" })
    else add(file, { file, line, text })
  }
  if (matches.length === 0) return { kind: "matches", gist: "no matches", facts: [] }
  return digest(matches, files, view, around)
}

function digest(matches: readonly Match[], files: Files, view: View, around: string | undefined): Draft {
  const stated = view.lines
    .slice(0, 2)
    .flatMap(({ text }) => /^Found (\d+) (?:matches|files?)( \(more)?/.exec(text) ?? [])
  const truncated = view.lines.some(({ text }) => /^\(Results (?:are )?truncated/.test(text))
  const ranked = [...files].filter(([name]) => name !== "").sort((a, b) => b[1].count - a[1].count)
  const only = matches.every(({ text }) => text === "")
  const noun = only ? "file" : around === undefined ? "match" : "line"
  const exact = view.lines.slice(0, 2).some(({ text }) => /^Found \d+ matches \(showing first/.test(text))
  const more = !exact && (Boolean(stated[2]) || truncated || view.cut)
  const total = plural(Math.max(Number(stated[1] ?? 0), matches.length), noun, more)
  const base = ranked.length > 1 ? commonFolder(ranked.map(([name]) => name)) : ""
  const names = ranked.map(([name, { count }]) => {
    const short = base ? name.slice(base.length) : shortPath(name)
    return only || ranked.length === 1 ? short : `${short} ${count}`
  })
  const spread = only ? [] : pick(matches, around)
  const many = ranked.length > 1
  const where = only || ranked.length === 0 ? "" : ` in ${many ? plural(ranked.length, "file") : names[0]}`
  const said = many || only ? names : spread.map(({ text }) => clip(text, 90))
  const head = `${total}${where}`
  const paths = ranked.slice(0, only ? 12 : many ? 5 : 1).map(([name, { line }]) => line && cite("path", line, name))
  const lines = spread.map(({ line, text, no }) => cite("symbol", line, text.trim(), no))
  const gist = said.length > 0 ? `${head}: ${listed(said, 150 - head.length, many || only ? ", " : "; ")}` : head
  return { kind: "matches", gist, facts: [...paths, ...lines] }
}

/** What was searched for, then the first match of every file, then the others. */
function pick(matches: readonly Match[], around: string | undefined): readonly Match[] {
  const seen = new Set<string>()
  const sought = around ? matches.filter(({ text }) => text.includes(around)).slice(0, 3) : []
  const firsts = matches.filter(({ file, text }) => text.trim() !== "" && !seen.has(file) && seen.add(file))
  const others = matches.filter(({ text }) => /\w\W*\w/.test(text)).slice(0, 12)
  return [...new Set([...sought, ...(around ? [] : firsts.slice(0, 6)), ...others])]
}
