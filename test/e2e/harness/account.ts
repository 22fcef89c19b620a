// Normalises an event stream so that two runs of one script compare equal, and lists the differences of two such accounts.
//
// Left out or made equal, because they depend on a clock, a random number or the machine's speed:
// - ids of sessions, messages, parts, calls and permissions: named by their place, such as `s1 m2 p3`
// - times and durations, references to the log, slugs, the project's id (a commit's hash), folders, the provider's port
// - heartbeats, and what the file watcher happens to see inside of `.git`; and the catalogue that OpenCode's other runtime announces while it starts, some time after the first call
// - how a text was cut into deltas: the deltas of one part are joined
// - how often a running command's output so far was shown: a running tool's metadata is left out
// - how often a record was repeated: each field of a session, message or part keeps its distinct consecutive values, and a
//   sum (tokens, cost, the summary of changes) its last value. Background jobs write them, and an event shows the record
//   as it is when the event is sent
// - a message's summary of changes: a background job writes it some steps later, and a session's end drops the last ones
// - which of several parallel tools finished first: the order is kept per part, and among parts by when they begin
// Nothing else. Tokens and costs are compared as they are, so the scripted model must report fixed ones.

/** As OpenCode's server tells it, or a line of `opencode run` put the same way. */
export type ServerEvent = { type: string; properties: Record<string, unknown> }

/** Sent by a part of OpenCode that starts in the background, at no fixed time; and `sync`, which repeats other events. */
const BACKGROUND = [
  ...["server.heartbeat", "plugin.added", "project.updated", "sync"],
  ...["catalog.updated", "reference.updated", "integration.updated"],
]
/** Repeated whenever a field changes, by jobs that race; how often is random. */
const REPEATED = ["message.updated", "session.updated", "session.diff", "message.part.updated", "message.part.delta"]
const SUMS = ["tokens", "cost", "summary"]
const UNSTABLE = new Set(["time", "slug", "projectID", "timestamp", "next", "start", "end", "date"])

type Json = Record<string, unknown>

/** Lines, sorted by entity; the lines of one entity keep their order. */
export type Account = string[]

export type Rules = {
  /** texts that stand for the same thing in both runs, such as a folder or an address, and a word for each */
  words: Readonly<Record<string, string>>
  /** whether an event is left out as an expected difference; called with the event as it came */
  without?(event: ServerEvent): boolean
}

export function accountOf(events: readonly ServerEvent[], { words, without }: Rules): Account {
  const names = nameAll(events)
  const plain = (value: unknown): string => {
    let text = JSON.stringify(stable(value)) ?? "nothing"
    for (const [one, word] of Object.entries(words)) text = text.replaceAll(one, word)
    for (const [id, name] of names) if (text.includes(id)) text = text.replaceAll(id, name)
    return text
      .replace(/\d+(\.\d+)?\s?ms\b|duration_ms:? \d+(\.\d+)?/g, "some ms")
      .replace(/\berr_[0-9a-f]{8}\b/g, "a reference")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "some time")
  }
  const said = new Map<string, string[]>()
  const say = (what: string, value: unknown, isRecord = true) => {
    const values = said.get(what) ?? []
    const text = plain(value)
    if (!isRecord || values.at(-1) !== text) values.push(text)
    said.set(what, values)
  }
  const sayFields = (what: string, record: unknown) => {
    for (const [field, value] of Object.entries((record ?? {}) as Json))
      if (SUMS.includes(field)) said.set(`${what} ${field}`, [plain(value)])
      else if (!UNSTABLE.has(field)) say(`${what} ${field}`, value)
  }
  const began = new Map<string, string[]>()
  const begin = (session: string, what: string, everyTime = false) => {
    const list = began.get(session) ?? []
    if (everyTime || !list.includes(what)) list.push(what)
    began.set(session, list)
  }
  const counts = new Map<string, number>()

  for (const event of events) {
    const { type, properties } = event
    if (BACKGROUND.includes(type) || String(properties.file).includes("/.git/") || without?.(event)) continue
    if (!REPEATED.includes(type)) counts.set(type, (counts.get(type) ?? 0) + 1)
    else if (!counts.has(type)) counts.set(type, 1)
    const session = nameOf(names, properties.sessionID) ?? "no session"
    if (type === "message.part.delta") {
      const what = `${nameOf(names, properties.partID)} delta`
      said.set(what, [(said.get(what)?.[0] ?? "") + String(properties.delta)])
    } else if (type === "message.part.updated") {
      const part = settled(properties.part as Json)
      const name = nameOf(names, part.id) ?? "a part"
      begin(session, `${name} ${String(part.type)}`)
      say(name, part)
    } else if (type === "message.updated") {
      const name = nameOf(names, (properties.info as Json).id) ?? "a message"
      begin(session, name)
      const { summary, ...info } = properties.info as Json
      // of a compaction's message it is a flag
      sayFields(name, typeof summary === "object" ? info : properties.info)
    } else if (type === "session.updated" || type === "session.created" || type === "session.deleted") {
      sayFields(`${session} record`, properties.info)
    } else if (type === "session.diff") {
      say(`${session} diff`, properties.diff)
    } else {
      // busy is said at every step, and once more by whatever job ends last
      const isStatus = type === "session.status"
      say(isStatus ? `${session} status` : `${session} ${type}`, properties, isStatus)
      if (/^session\.(idle|error|compacted)|^permission/.test(type)) begin(session, type, true)
    }
  }
  // how often busy is said depends on the jobs beside the turn as well
  counts.delete("session.status")
  return [
    ...[...counts].map(([type, count]) => `${count}x ${type}`).sort(),
    ...[...began].sort(byKey).map(([session, list]) => `${session} began: ${list.join(", ")}`),
    ...[...said].sort(byKey).flatMap(([what, values]) => values.map((value, at) => `${what} #${at + 1}: ${value}`)),
  ]
}

/** The lines in which two accounts differ; empty when they are equal. */
export function differencesOf(one: Account, other: Account): string[] {
  const missing = (from: Account, inside: Account) => {
    const left = [...inside]
    return from.filter((line) => {
      const at = left.indexOf(line)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
  }
  const lost = missing(one, other).map((line) => `- ${line}`)
  const added = missing(other, one).map((line) => `+ ${line}`)
  return [...lost, ...added].map((line) => (line.length > 600 ? `${line.slice(0, 600)}…` : line))
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

/** Names by place: sessions as they are first heard of, messages within their session, parts and calls within those. */
function nameAll(events: readonly ServerEvent[]): Map<string, string> {
  const names = new Map<string, string>()
  const counters = new Map<string, number>()
  const name = (id: unknown, within: string, letter: string): string => {
    const key = String(id)
    const known = names.get(key)
    if (known !== undefined) return known
    const counter = `${within}${letter}`
    const number = (counters.get(counter) ?? 0) + 1
    counters.set(counter, number)
    const made = `${within}${within && " "}${letter}${number}`
    if (id !== undefined) names.set(key, made)
    return made
  }
  for (const { type, properties } of events) {
    if (properties.sessionID === undefined) continue
    const session = name(properties.sessionID, "", "s")
    if (type === "message.updated") name((properties.info as Json).id, session, "m")
    if (type === "permission.asked") name(properties.id, session, "permission")
    const part = properties.part as Json | undefined
    if (!part) continue
    const message = name(part.messageID, session, "m")
    name(part.id, message, "p")
    if (part.callID !== undefined) name(part.callID, message, "call")
  }
  return names
}

function nameOf(names: ReadonlyMap<string, string>, id: unknown): string | undefined {
  return names.get(String(id))
}

/** A part without what a running tool shows of its output so far. */
function settled(part: Json): Json {
  const state = part.state as Json | undefined
  if (part.type !== "tool" || state?.status !== "running") return part
  const { metadata, ...rest } = state
  return { ...part, state: rest }
}

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !UNSTABLE.has(key))
  return Object.fromEntries(kept.sort(byKey).map(([key, inner]) => [key, stable(inner)]))
}
