// Search results and lists of paths: the search and list tools, `grep`, `rg`, `git grep`, `ls`, `find` and `tree`.

import { shortPath } from "../../output/checks/report.ts"
import { clip, type View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { type Draft, listed, tally } from "./draft.ts"

type Match = { file: string; text: string }

const NOTHING =
  /^(?:No (?:files|matches|results) found\b.*|Found 0 matches|\(no output\)|Command exited with code 1|Exit code 1|\s*)$/i

/**
 * Search results: how many matches in which files, and the first of them. `around`: the word that was searched for with
 * lines of context, which are no matches themselves.
 */
export function digestMatches(view: View, around?: string): Draft {
  const matches: Match[] = []
  let file = ""
  const add = (name: string, text: string) => matches.push({ file: name, text })
  for (const text of view.lines) {
    if (NOTHING.test(text) || /^(?:Found \d+|\(|--$)/.test(text)) continue
    const under = /^ {2}Line \d+: (.*)$/.exec(text) ?? /^\d+[:-](.*)$/.exec(text)
    const inline = /^((?:[A-Za-z]:)?[^\s:][^:]*?)[:-](\d+)[:-](?:\d+:)?(.*)$/.exec(text)
    const named = /^([^\s:][^:]*\.\w+|[^\s:]*\/[^:]*):(.+)$/.exec(text)
    if (under) add(file, under[1] ?? "")
    else if (inline?.[1]) {
      if (text[inline[1].length] === ":") add(inline[1], inline[3] ?? "")
    } else if (/^\S.*:$/.test(text)) file = text.slice(0, -1)
    else if (named?.[1]) add(named[1], named[2] ?? "")
    else if (/^[^\s:]*[\w-][./][^\s:]*$/.test(text)) add(text, "")
    else add(file, text)
  }
  if (matches.length === 0) return { kind: "matches", gist: "no matches" }
  return digestFound(matches, view, around)
}

function digestFound(matches: readonly Match[], view: View, around: string | undefined): Draft {
  const stated = view.lines.slice(0, 2).flatMap((text) => /^Found (\d+) (?:matches|files?)( \(more)?/.exec(text) ?? [])
  const truncated = view.lines.some((text) => /^\(Results (?:are )?truncated/.test(text))
  const ranked = tally(matches.map(({ file }) => file)).filter(([name]) => name !== "")
  const only = matches.every(({ text }) => text === "")
  const noun = only ? "file" : around === undefined ? "match" : "line"
  const exact = view.lines.slice(0, 2).some((text) => /^Found \d+ matches \(showing first/.test(text))
  const more = !exact && (Boolean(stated[2]) || truncated || view.cut)
  const total = plural(Math.max(Number(stated[1] ?? 0), matches.length), noun, more)
  const base = ranked.length > 1 ? commonFolder(ranked.map(([name]) => name)) : ""
  const names = ranked.map(([name, count]) => {
    const short = base ? name.slice(base.length) : shortPath(name)
    return only || ranked.length === 1 ? short : `${short} ${count}`
  })
  const many = ranked.length > 1
  const where = only || ranked.length === 0 ? "" : ` in ${many ? plural(ranked.length, "file") : names[0]}`
  const words = many || only ? names : selectMatches(matches, around).map(({ text }) => clip(text, 90))
  const head = `${total}${where}`
  const gist = words.length > 0 ? `${head}: ${listed(words, 150 - head.length, many || only ? ", " : "; ")}` : head
  return { kind: "matches", gist }
}

/** Lines with the searched word, then the first match of every file, then the others. */
function selectMatches(matches: readonly Match[], around: string | undefined): readonly Match[] {
  const seen = new Set<string>()
  const sought = around ? matches.filter(({ text }) => text.includes(around)).slice(0, 3) : []
  const firsts = matches.filter(({ file, text }) => text.trim() !== "" && !seen.has(file) && seen.add(file))
  const others = matches.filter(({ text }) => /\w\W*\w/.test(text)).slice(0, 12)
  return [...new Set([...sought, ...(around ? [] : firsts.slice(0, 6)), ...others])]
}

const NOT_A_PATH =
  /^(?:total \d+|\(.*\)|No files found.*|<\/?\w+>|\d+ director(?:y|ies), \d+ files?|\.|\.\.|Shell cwd was reset.*|\(no output\))$/
/** `-rw-r--r--@ 1 user staff 262 Feb  9 09:38 name`, with the time in any format */
const LONG =
  /^([-dlbcps])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+[\d,.]+[KMGTP]?\s+(?:\w{3}\s+\d+\s+[\d:]+|\d+\s+\w{3}\s+[\d:]+|[\d-]+ [\d:.]+(?: [+-]\d+)?|[\d-]+\s+[\d:]+)\s+(.+)$/

/** A list of paths, one per line, as the columns of `ls -l`, or as a tree. */
export function digestPaths(view: View): Draft {
  const paths: string[] = []
  let folder = ""
  for (const line of view.lines) {
    const long = LONG.exec(line)
    const heading = /^(\S.*):$/.exec(line)?.[1]
    if (heading !== undefined && !long) folder = heading.replace(/\/?$/, "/")
    const text = long
      ? `${long[2]?.replace(/ -> .*$/, "")}${long[1] === "d" ? "/" : ""}`
      : line.replace(/^[│├└─\s|`+-]+(?=\S)/, "")
    if (text.trim() === "" || NOT_A_PATH.test(text.replace(/\/$/, "")) || (heading !== undefined && !long)) continue
    paths.push(`${folder}${text}`.replace(/^\.\/(?=.)/, ""))
  }
  const more =
    view.cut || view.lines.some((text) => /truncated|more (?:results|files)/i.test(text) && text.startsWith("("))
  return digestListing(paths, more)
}

/** The entries of a directory that the read tool shows. */
export function digestEntries(lines: readonly string[]): Draft {
  return digestListing(
    lines.map((text) => text.trim()).filter((path) => path !== "" && !NOT_A_PATH.test(path)),
    false,
  )
}

function digestListing(paths: readonly string[], more: boolean): Draft {
  if (paths.length === 0) return { kind: "listing", gist: "no files" }
  const base = commonFolder(paths)
  const rest = paths.map((path) => path.slice(base.length))
  const gist = `${plural(paths.length, "path", more)}${base ? ` under ${base.replace(/(.)\/$/, "$1")}` : ""}`
  if (paths.length <= 6) return { kind: "listing", gist: `${gist}: ${listed(rest, 150 - gist.length)}` }
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
  return { kind: "listing", gist: `${gist}: ${listed(words.length > 0 ? words : rest, 150 - gist.length)}` }
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
