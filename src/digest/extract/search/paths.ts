// Lists of paths: what `glob`, `list`, `ls`, `find` and `tree` print, told by number, folder and what stands out.

import { plural } from "../../../output/checks/report.ts"
import type { Line, View } from "../../../output/lines.ts"
import { cite, type Draft, listed, tally } from "../draft.ts"
import { commonFolder } from "./folder.ts"

type Entry = { path: string; line: Line }

const NOT_A_PATH =
  /^(?:total \d+|\(.*\)|No files found.*|<\/?\w+>|\d+ director(?:y|ies), \d+ files?|\.|\.\.|Shell cwd was reset.*|\(no output\))$/
/** `-rw-r--r--@ 1 user staff 262 Feb  9 09:38 name`, whatever the format of the time */
const LONG =
  /^([-dlbcps])[rwxsStT-]{9}[@+.]?\s+\d+\s+\S+\s+\S+\s+[\d,.]+[KMGTP]?\s+(?:\w{3}\s+\d+\s+[\d:]+|\d+\s+\w{3}\s+[\d:]+|[\d-]+ [\d:.]+(?: [+-]\d+)?|[\d-]+\s+[\d:]+)\s+(.+)$/

/** Output that lists one path per line, or the columns of `ls -l`, or a tree. */
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
  return digest(entries, more)
}

/** The entries of a directory as the read tool shows it. */
export function digestEntries(lines: readonly Line[]): Draft {
  return digest(
    lines
      .filter(({ text }) => text.trim() !== "" && !NOT_A_PATH.test(text))
      .map((line) => ({ path: line.text.trim(), line })),
    false,
  )
}

function digest(entries: readonly Entry[], more: boolean): Draft {
  if (entries.length === 0) return { kind: "listing", gist: "no files", facts: [] }
  const base = commonFolder(entries.map(({ path }) => path))
  const rest = entries.map(({ path }) => path.slice(base.length))
  const gist = `${plural(entries.length, "path", more)}${base ? ` under ${base.replace(/(.)\/$/, "$1")}` : ""}`
  const facts = choose(entries, base.length).map(({ path, line }) => cite("path", line, tail(path, line)))
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

/** All of a short list; of a long one what is alone of its kind, then the first of every folder, then the rest. */
function choose(entries: readonly Entry[], base: number): readonly Entry[] {
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

/** What of the path stands on its line: under a heading of `ls -R` only the name does. */
function tail(path: string, line: Line): string {
  const bare = path.replace(/(.)\/$/, "$1")
  return line.text.includes(path) ? path : line.text.includes(bare) ? bare : bare.replace(/^.*\//, "")
}
