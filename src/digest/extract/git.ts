// Output of git: status, log, diff and the commands that change something.

import { shortPath } from "../../output/checks/report.ts"
import type { View } from "../../output/lines.ts"
import { plural } from "../../text/format.ts"
import { type Draft, listed, tally } from "./draft.ts"

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
  const entries: { mark: string; path: string }[] = []
  let section = ""
  for (const text of view.lines) {
    if (/^\S.*:$/.test(text)) section = /^Untracked/.test(text) ? "??" : ""
    const short = /^([ MADRCU?!]{2}) (\S.*)$/.exec(text)
    const long = /^\t(?:(new file|modified|deleted|renamed|both modified|typechange): +)?(\S.*)$/.exec(text)
    if (short?.[1]?.trim() && short[2]) entries.push({ mark: short[1].trim(), path: short[2] })
    else if (long?.[2]) entries.push({ mark: long[1] ? (long[1][0] ?? "").toUpperCase() : section, path: long[2] })
  }
  const branch = view.lines.find((text) => /^(?:## |On branch |HEAD detached)/.test(text))
  const name = branch ? `${branch.replace(/^(?:## |On branch )/, "")}: ` : ""
  if (entries.length === 0) {
    const clean = view.lines.length === 0 || view.lines.some((text) => /nothing to commit|^## /.test(text))
    return clean ? { kind: "git", gist: `${name}clean` } : undefined
  }
  const counts = tally(
    entries.map(({ mark }) => STATUS_WORDS.find(([marks]) => marks.includes(mark))?.[1] ?? "changed"),
  ).map(([word, count]) => `${count} ${word}`)
  const head = `${name}${counts.join(", ")}`
  const paths = entries.map(({ path }) => shortPath(path))
  return { kind: "git", gist: `${head}: ${listed(paths, 150 - head.length)}` }
}

function digestCommits(view: View): Draft | undefined {
  const commits: string[] = []
  for (const [at, line] of view.lines.entries()) {
    const brief = /^[*|\\/ ]*([0-9a-f]{7,40}) (?:HEAD@\{\d+\}: )?(?:\([^)]*\) )?(\S.*)$/.exec(line)
    const full = /^commit ([0-9a-f]{40})\b/.exec(line)
    const title = full ? view.lines.slice(at + 1, at + 8).find((text) => /^ {4}\S/.test(text)) : undefined
    if (full?.[1]) commits.push(`${full[1].slice(0, 8)} ${title?.trim() ?? ""}`)
    else if (brief?.[1] && brief[2] && !line.startsWith("    ")) commits.push(`${brief[1].slice(0, 8)} ${brief[2]}`)
  }
  if (commits.length === 0) return undefined
  return { kind: "git", gist: `${plural(commits.length, "commit", view.cut)}: ${listed(commits, 135, "; ")}` }
}

function digestDiff(view: View): Draft | undefined {
  const files: { path: string; added: number; removed: number }[] = []
  for (const text of view.lines) {
    const head = /^diff --git a\/(.+?) b\/(.+)$/.exec(text)
    const stat = /^ (\S.*?) +\| +(?:\d+ [+-]+|Bin .*|\d+)$/.exec(text)
    const path = head?.[2] ?? stat?.[1]
    const file = files.at(-1)
    if (path) files.push({ path, added: 0, removed: 0 })
    else if (file && /^\+(?!\+\+ )/.test(text)) file.added++
    else if (file && /^-(?!-- )/.test(text)) file.removed++
  }
  const stated = view.lines.findLast((text) => /^ \d+ files? changed/.test(text))
  const names = view.lines.every((text) => /^(?:[AMDRC]\d*\t)?\S+$/.test(text))
  if (files.length === 0 && names)
    for (const text of view.lines) files.push({ path: text.replace(/^.*\t/, ""), added: 0, removed: 0 })
  if (files.length === 0) return view.lines.length === 0 ? { kind: "git", gist: "no differences" } : undefined
  const head = stated?.trim() ?? plural(files.length, "file", view.cut)
  const each = files.map(
    ({ path, added, removed }) => shortPath(path) + (added + removed > 0 ? ` +${added} -${removed}` : ""),
  )
  return { kind: "git", gist: `${head}: ${listed(each, 150 - head.length)}` }
}

function digestAction(view: View): Draft | undefined {
  const results = view.lines.filter((text) =>
    /^\[[^\]]+ [0-9a-f]{7,}\] |^ ?\d+ files? changed|^ ?[*+! -] .*->|^\s*[0-9a-f]{7,}\.\.+[0-9a-f]{7,} |^(?:Everything up-to-date|Already up to date|Switched to|CONFLICT|Automatic merge|Fast-forward|Successfully|nothing to commit|To |fatal:|error:)/.test(
      text,
    ),
  )
  const words = results.map((text) => text.trim())
  return words.length > 0 ? { kind: "git", gist: listed(words, 150, "; ") } : undefined
}
