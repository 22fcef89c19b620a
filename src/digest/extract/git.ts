// Output of git: status, log, diff and the commands that change something.

import { shortPath } from "../../output/checks/report.ts"
import type { Line, View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { cite, citeAll, type Draft, listed, tally } from "./draft.ts"

/** Undefined when the output is in none of git's own formats. */
export function digestGit(view: View, verb: string): Draft | undefined {
  if (verb === "status") return digestStatus(view)
  if (verb === "log" || verb === "reflog" || verb === "shortlog") return digestCommits(view)
  if (verb === "diff" || verb === "show") return digestDiff(view)
  if (/^(?:commit|push|pull|merge|rebase|checkout|switch|clone|fetch|cherry-pick)$/.test(verb))
    return digestAction(view)
  return undefined
}

/** The marks of `git status`, and the first letters of its words: `new file`, `both modified`. */
const STATUS_WORDS: readonly (readonly [marks: readonly string[], word: string])[] = [
  [["M", "MM"], "modified"],
  [["A", "AM", "N"], "added"],
  [["D"], "deleted"],
  [["R"], "renamed"],
  [["??"], "untracked"],
  [["U", "UU", "B"], "conflicted"],
]

function digestStatus(view: View): Draft | undefined {
  const entries: { mark: string; path: string; line: Line }[] = []
  let section = ""
  for (const line of view.lines) {
    if (/^\S.*:$/.test(line.text)) section = /^Untracked/.test(line.text) ? "??" : ""
    const short = /^([ MADRCU?!]{2}) (\S.*)$/.exec(line.text)
    const long = /^\t(?:(new file|modified|deleted|renamed|both modified|typechange): +)?(\S.*)$/.exec(line.text)
    if (short?.[1]?.trim() && short[2]) entries.push({ mark: short[1].trim(), path: short[2], line })
    else if (long?.[2])
      entries.push({ mark: long[1] ? (long[1][0] ?? "").toUpperCase() : section, path: long[2], line })
  }
  const branch = view.lines.find(({ text }) => /^(?:## |On branch |HEAD detached)/.test(text))
  const name = branch ? `${branch.text.replace(/^(?:## |On branch )/, "")}: ` : ""
  if (entries.length === 0) {
    const clean = view.lines.length === 0 || view.lines.some(({ text }) => /nothing to commit|^## /.test(text))
    return clean ? { kind: "git", gist: `${name}clean`, facts: [branch && cite("symbol", branch)] } : undefined
  }
  const counts = tally(
    entries.map(({ mark }) => STATUS_WORDS.find(([marks]) => marks.includes(mark))?.[1] ?? "changed"),
  ).map(([word, count]) => `${count} ${word}`)
  const head = `${name}${counts.join(", ")}`
  const gist = `${head}: ${listed(
    entries.map(({ path }) => shortPath(path)),
    150 - head.length,
  )}`
  return { kind: "git", gist, facts: entries.map(({ path, line }) => cite("path", line, path)) }
}

function digestCommits(view: View): Draft | undefined {
  const commits: { hash: string; title: string; line: Line }[] = []
  for (const [at, line] of view.lines.entries()) {
    const brief = /^[*|\\/ ]*([0-9a-f]{7,40}) (?:HEAD@\{\d+\}: )?(?:\([^)]*\) )?(\S.*)$/.exec(line.text)
    const full = /^commit ([0-9a-f]{40})\b/.exec(line.text)
    const title = full ? view.lines.slice(at + 1, at + 8).find(({ text }) => /^ {4}\S/.test(text)) : undefined
    if (full?.[1]) commits.push({ hash: full[1].slice(0, 8), title: title?.text.trim() ?? "", line: title ?? line })
    else if (brief?.[1] && brief[2] && !line.text.startsWith("    "))
      commits.push({ hash: brief[1].slice(0, 8), title: brief[2], line })
  }
  if (commits.length === 0) return undefined
  const gist = `${plural(commits.length, "commit", view.cut)}: ${listed(
    commits.map(({ hash, title }) => `${hash} ${title}`),
    135,
    "; ",
  )}`
  return { kind: "git", gist, facts: commits.map(({ line }) => cite("symbol", line)) }
}

function digestDiff(view: View): Draft | undefined {
  const files: { path: string; line: Line; added: number; removed: number }[] = []
  const hunks: { line: Line; text: string; row: number }[] = []
  for (const line of view.lines) {
    const head = /^diff --git a\/(.+?) b\/(.+)$/.exec(line.text)
    const stat = /^ (\S.*?) +\| +(?:\d+ [+-]+|Bin .*|\d+)$/.exec(line.text)
    const file = files.at(-1)
    if (head?.[2]) files.push({ path: head[2], line, added: 0, removed: 0 })
    else if (stat?.[1]) files.push({ path: stat[1], line, added: 0, removed: 0 })
    else if (file && /^\+(?!\+\+ )/.test(line.text)) file.added++
    else if (file && /^-(?!-- )/.test(line.text)) file.removed++
    const hunk = /^@@ -\S+ \+(\d+)\S* @@ (\S.*)$/.exec(line.text)
    if (hunk?.[2]) hunks.push({ line, text: hunk[2], row: Number(hunk[1]) })
  }
  const stated = view.lines.findLast(({ text }) => /^ \d+ files? changed/.test(text))
  const names = view.lines.every(({ text }) => /^(?:[AMDRC]\d*\t)?\S+$/.test(text))
  if (files.length === 0 && names)
    for (const line of view.lines) files.push({ path: line.text.replace(/^.*\t/, ""), line, added: 0, removed: 0 })
  if (files.length === 0)
    return view.lines.length === 0 ? { kind: "git", gist: "no differences", facts: [] } : undefined
  const head = stated?.text.trim() ?? plural(files.length, "file", view.cut)
  const each = files.map(
    ({ path, added, removed }) => shortPath(path) + (added + removed > 0 ? ` +${added} -${removed}` : ""),
  )
  const paths = files.slice(0, 7).map(({ path, line }) => cite("path", line, path))
  const at = hunks.map(({ line, text, row }) => cite("symbol", line, text, row))
  return {
    kind: "git",
    gist: `${head}: ${listed(each, 150 - head.length)}`,
    facts: [stated && cite("verdict", stated), ...paths, ...at],
  }
}

function digestAction(view: View): Draft | undefined {
  const results = view.lines.filter(({ text }) =>
    /^\[[^\]]+ [0-9a-f]{7,}\] |^ ?\d+ files? changed|^ ?[*+! -] .*->|^\s*[0-9a-f]{7,}\.\.+[0-9a-f]{7,} |^(?:Everything up-to-date|Already up to date|Switched to|CONFLICT|Automatic merge|Fast-forward|Successfully|nothing to commit|To |fatal:|error:)/.test(
      text,
    ),
  )
  if (results.length === 0) return undefined
  return {
    kind: "git",
    gist: listed(
      results.map(({ text }) => text.trim()),
      150,
      "; ",
    ),
    facts: citeAll("verdict", results),
  }
}
