// What package managers say when they install: what came, what is old or unsafe, what went wrong.

import type { View } from "../../../output/lines.ts"
import { cite, type Draft, listed } from "../draft.ts"

const SUMMARY =
  /^(?:(?:added|changed|removed|up to date)\b.*packages?\b|\d+ packages? (?:installed|are looking)|Checked \d+ installs|Successfully installed |Requirement already satisfied|Installed \d+ packages|Resolved \d+ packages|Packages: [+-]|Done in |Already up to date|Lockfile is up to date|installed \S+@|\d+ packages? (?:installed|removed)|success |Saved lockfile|found \d+ vulnerabilit|\d+ (?:\w+ severity )?vulnerabilit|Bundle complete!|Writing lock file|Package operations: |\d+ upgraded, )/
const TROUBLE = /^(?:npm (?:warn|WARN|error|ERR!)|warning|warn:?|error|ERROR|E:|WARNING|✕|ERR_PNPM\w*)/
const ARRIVAL = /^(?:\+ \S+|installed \S+@\S+.*|Installing \S+ \(.*\)|\s*- Installing \S+ \(.*)$/

/** Undefined when no line is a package manager's. */
export function digestPackages(view: View): Draft | undefined {
  const summary = view.lines.filter(({ text }) => SUMMARY.test(text.trim()))
  const trouble = view.lines.filter(({ text }) => TROUBLE.test(text.trim()) && !/npm (?:error|ERR!)\s*$/.test(text))
  const arrivals = view.lines.filter(({ text }) => ARRIVAL.test(text))
  if (summary.length + arrivals.length === 0) return undefined
  const told = summary.length > 0 ? summary : arrivals
  const words = [...told].map(({ text }) => text.trim())
  return {
    kind: "install",
    gist: listed([...words, ...trouble.map(({ text }) => text.trim())], 150, "; "),
    facts: [
      ...trouble.slice(0, 4).map((line) => cite("error", line)),
      ...summary.slice(0, 5).map((line) => cite("verdict", line)),
      ...arrivals.map((line) => cite("symbol", line)),
    ],
  }
}
