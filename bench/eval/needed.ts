// What a digest should have contained: strings that the agent used later, that are in this output, and that do not occur
// earlier in the session.

import type { Sample, Session } from "./outputs.ts"

/** Number of tool calls after an output in which a use of it counts. */
const MAX_LATER_CALLS = 20
const MIN_CHARS = 4

export type Needed = {
  /** as written in the output */
  text: string
  kind: "path" | "place" | "symbol" | "phrase"
  /** its forms: a full path, one relative to the project, a file name */
  forms: readonly string[]
}

/** Whether a digest contains it, in any of its forms. */
export function isIn(digest: string, needed: Needed): boolean {
  return needed.forms.some((form) => form.length >= MIN_CHARS && standsAlone(digest, form))
}

/** What later calls took from a sample, without duplicates, in order of use. */
export function neededFrom(sample: Sample): Needed[] {
  const { session, at, source } = sample
  const earlier = saidBefore(session, at)
  const own = JSON.stringify(source.input)
  const later = session.steps
    .slice(at + 1)
    .flatMap((step) => step.source ?? [])
    .slice(0, MAX_LATER_CALLS)
  const found = new Map<string, Needed>()
  for (const call of later)
    for (const wanted of stringsOf(call.input, session.root)) {
      const text = wanted.forms.find((form) => form.length >= MIN_CHARS && standsAlone(source.output, form))
      if (text === undefined || found.has(text)) continue
      if (earlier.has(text) || wanted.forms.some((form) => own.includes(form))) continue
      found.set(text, { text, ...wanted })
    }
  return [...found.values()]
}

type Wanted = { kind: Needed["kind"]; forms: string[] }

/** The strings in a call's arguments that may come from an output, each in the forms an output may use. */
function stringsOf(input: Readonly<Record<string, unknown>>, root: string): Wanted[] {
  const wanted: Wanted[] = []
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== "string" || /^(?:description|oldString|old_string|prompt|content)$/.test(name)) continue
    if (/path|file|dir|url/i.test(name)) wanted.push(pathForms(value, root))
    else if (/^new_?[sS]tring$/.test(name)) wanted.push(...symbolsOf(value, String(input.oldString ?? "")))
    else if (/^patch/.test(name)) wanted.push(...ofPatch(value, root))
    else wanted.push(...ofText(value, root))
  }
  if (typeof input.content === "string") wanted.push(...symbolsOf(input.content, ""))
  return wanted
}

function pathForms(path: string, root: string): Wanted {
  const relative = root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  const base = path.split("/").at(-1) ?? path
  return { kind: "path", forms: [...new Set([path, relative, ...(base.includes(".") ? [base] : [])])] }
}

/** A pattern, a query or a command: the whole of it where it is a phrase, and its paths, positions and identifiers. */
function ofText(text: string, root: string): Wanted[] {
  const places = text.match(/[\w./@-]+\.\w{1,5}:\d+/g) ?? []
  const paths = text.match(/[\w.@-]*\/[\w./@-]+|\b[\w-]+\.(?:[a-z]{1,4}|json|yaml|toml|lock)\b/g) ?? []
  const phrase = text.length <= 60 && /\w/.test(text) ? [{ kind: "phrase" as const, forms: [text] }] : []
  return [
    ...phrase,
    ...places.map((place): Wanted => ({ kind: "place", forms: [place] })),
    ...paths.map((path) => pathForms(path, root)),
    ...symbolsOf(text, ""),
  ]
}

function ofPatch(patch: string, root: string): Wanted[] {
  const files = [...patch.matchAll(/^\*\*\* (?:Update|Delete|Add) File: (.+)$/gm)].map((found) => found[1] ?? "")
  const rows = patch.split("\n")
  const added = rows.filter((row) => row.startsWith("+")).join("\n")
  const others = rows.filter((row) => !row.startsWith("+")).join("\n")
  return [...files.map((file) => pathForms(file, root)), ...symbolsOf(added, others)]
}

/** Identifiers, but not plain words, which could come from anywhere. The text being replaced came from the edited file. */
function symbolsOf(text: string, known: string): Wanted[] {
  const names = text.match(/[A-Za-z_$][\w$]*/g) ?? []
  return [...new Set(names)]
    .filter((name) => /[a-z][A-Z]|\w_\w|[A-Za-z]\d|^[A-Z][A-Z_]{3,}$/.test(name) && !known.includes(name))
    .map((name): Wanted => ({ kind: "symbol", forms: [name] }))
}

function standsAlone(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (!/[\w$]/.test(text[at - 1] ?? "") && !/[\w$]/.test(text[at + part.length] ?? "")) return true
  return false
}

/** Whether a string occurs before a step: in texts, arguments or outputs. */
function saidBefore(session: Session, at: number): { has(text: string): boolean } {
  const said = session.steps.slice(0, at).flatMap(({ text, source }) => [text, source?.output ?? ""])
  return { has: (text) => said.some((one) => one.includes(text)) }
}
