// Search results and lists of paths: the search and list tools, `grep`, `rg`, `git grep`, `ls`, `find` and `tree`.

import { shortPath } from "../../output/checks/report.ts"
import { clip, type Line, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { cite, type Draft, listed, tally } from "./draft.ts"

type Match = { file: string; line: Line; text: string; no?: number }

const NOTHING =
  /^(?:No (?:files|matches|results) found\b.*|Found 0 matches|\(no output\)|Command exited with code 1|Exit code 1|\s*)$/i

type Files = Map<string, { count: number; line: Line | undefined }>

/**
 * Search results: how many matches in which files, and the first of them. `around`: the word that was searched for with
 * lines of context, which are no matches themselves.
 */
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
  return digestFound(matches, files, view, around)
}

function digestFound(matches: readonly Match[], files: Files, view: View, around: string | undefined): Draft {
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
  const spread = only ? [] : selectMatches(matches, around)
  const many = ranked.length > 1
  const where = only || ranked.length === 0 ? "" : ` in ${many ? plural(ranked.length, "file") : names[0]}`
  const said = many || only ? names : spread.map(({ text }) => clip(text, 90))
  const head = `${total}${where}`
  const paths = ranked.slice(0, only ? 12 : many ? 5 : 1).map(([name, { line }]) => line && cite("path", line, name))
  const lines = spread.map(({ line, text, no }) => cite("symbol", line, text.trim(), no))
  const gist = said.length > 0 ? `${head}: ${listed(said, 150 - head.length, many || only ? ", " : "; ")}` : head
  return { kind: "matches", gist, facts: [...paths, ...lines] }
}

/** Lines with the searched word, then the first match of every file, then the others. */
function selectMatches(matches: readonly Match[], around: string | undefined): readonly Match[] {
  const seen = new Set<string>()
  const sought = around ? matches.filter(({ text }) => text.includes(around)).slice(0, 3) : []
  const firsts = matches.filter(({ file, text }) => text.trim() !== "" && !seen.has(file) && seen.add(file))
  const others = matches.filter(({ text }) => /\w\W*\w/.test(text)).slice(0, 12)
  return [...new Set([...sought, ...(around ? [] : firsts.slice(0, 6)), ...others])]
}

type Entry = { path: string; line: Line }

const NOT_A_PATH =
  /^(?:total \d+|\(.*\)|No files found.*|<\/?\w+>|\d+ director(?:y|ies), \d+ files?|\.|\.\.|Shell cwd was reset.*|\(no output\))$/
/** `-rw-r--r--@ 1 user staff 262 Feb  9 09:38 name`, with the time in any format */
const LONG =
  /^([-dlbcps])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+[\d,.]+[KMGTP]?\s+(?:\w{3}\s+\d+\s+[\d:]+|\d+\s+\w{3}\s+[\d:]+|[\d-]+ [\d:.]+(?: [+-]\d+)?|[\d-]+\s+[\d:]+)\s+(.+)$/

/** A list of paths, one per line, as the columns of `ls -l`, or as a tree. */
export function digestPaths(view: View): Draft {
  const entries: Entry[] = []
  let folder = ""
  for (const line of view.lines) {
    const long = LONG.exec(line.text)
    const heading = /^(\S.*):$/.exec(line.text)?.[1]
    if (heading !== undefined && !long) folder = heading.replace(/\/?$/, "/")
    const text = long
      ? `${long[2]?.replace(/ -> .*$/, "")}${long[1] === "d" ? "/" : ""}`
      : line.text.replace(/^[│├└─\s|`+-]+(?=\S)/, "")
    if (text.trim() === "" || NOT_A_PATH.test(text.replace(/\/$/, "")) || (heading !== undefined && !long)) continue
    entries.push({ path: `${folder}${text}`.replace(/^\.\/(?=.)/, ""), line })
  }
  const more =
    view.cut || view.lines.some(({ text }) => /truncated|more (?:results|files)/i.test(text) && text.startsWith("("))
  return digestListing(entries, more)
}

/** The entries of a directory that the read tool shows. */
export function digestEntries(lines: readonly Line[]): Draft {
  return digestListing(
    lines
      .filter(({ text }) => text.trim() !== "" && !NOT_A_PATH.test(text))
      .map((line) => ({ path: line.text.trim(), line })),
    false,
  )
}

function digestListing(entries: readonly Entry[], more: boolean): Draft {
  if (entries.length === 0) return { kind: "listing", gist: "no files", facts: [] }
  const base = commonFolder(entries.map(({ path }) => path))
  const rest = entries.map(({ path }) => path.slice(base.length))
  const gist = `${plural(entries.length, "path", more)}${base ? ` under ${base.replace(/(.)\/$/, "$1")}` : ""}`
  const facts = selectEntries(entries, base.length).map(({ path, line }) => cite("path", line, pathOnLine(path, line)))
  if (entries.length <= 6) return { kind: "listing", gist: `${gist}: ${listed(rest, 150 - gist.length)}`, facts }
  const folders = tally(
    rest.map((path) => /^[^/]+\/(?=.)/.exec(path)?.[0] ?? (path.endsWith("/") ? "folders" : "files here")),
  )
  const kinds = tally(rest.flatMap((path) => /[^/.]\.(\w{1,8})$/.exec(path)?.[1] ?? []))
  const words =
    folders.length > 1 && folders.some(([name]) => name.endsWith("/"))
      ? folders.map(([name, count]) => `${name} ${count}`)
      : [
          ...kinds.map(([name, count]) => `${count} .${name}`),
          ...(folders.find(([name]) => name === "folders")
            ? [plural(rest.filter((path) => path.endsWith("/")).length, "folder")]
            : []),
        ]
  return { kind: "listing", gist: `${gist}: ${listed(words.length > 0 ? words : rest, 150 - gist.length)}`, facts }
}

/** A short list whole. Of a long one the first of every folder, then files of a unique type, then the rest. */
function selectEntries(entries: readonly Entry[], base: number): readonly Entry[] {
  if (entries.length <= 12) return entries
  const ending = ({ path }: Entry) => /\.\w+$/.exec(path)?.[0] ?? ""
  const endings = new Map(tally(entries.map(ending)))
  const alone = entries.filter((entry) => endings.get(ending(entry)) === 1 && ending(entry) !== "").slice(0, 4)
  const seen = new Set<string>()
  const firsts = entries.filter(({ path }) => {
    const folder = /^[^/]*\//.exec(path.slice(base))?.[0] ?? ""
    return !seen.has(folder) && seen.add(folder)
  })
  return [...new Set([...firsts.slice(0, 8), ...alone, ...entries.slice(0, 12)])].slice(0, 12)
}

/** The part of the path that its line contains: below a heading of `ls -R` only the name. */
function pathOnLine(path: string, line: Line): string {
  const bare = path.replace(/(.)\/$/, "$1")
  return line.text.includes(path) ? path : line.text.includes(bare) ? bare : bare.replace(/^.*\//, "")
}

/** The folder that all paths share, with its slash; "" when they share none worth naming. */
function commonFolder(paths: readonly string[]): string {
  let base = parent(paths[0] ?? "")
  for (const path of paths) {
    while (base !== "" && !path.startsWith(base)) base = parent(base)
    if (base === "") return ""
  }
  return base === "./" || base === "/" ? "" : base
}

function parent(path: string): string {
  return path.length < 2 ? "" : path.slice(0, path.lastIndexOf("/", path.length - 2) + 1)
}
