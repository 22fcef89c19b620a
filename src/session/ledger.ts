// The ledger of a session, derived from the conversation that the host passes at every call. Only new messages are read;
// known ones are compared by fingerprint. If the conversation did not merely grow (revert, undo, fork, compaction,
// import), the facts are derived again from the entries that are still in it.

import { renew } from "../system/values.ts"
import type { Message } from "./conversation.ts"
import { type Entry, fingerprint, readEntry } from "./entry.ts"
import { addEntry, draftOf, emptyFacts, type Facts } from "./facts.ts"
import { firstCompaction } from "./recorded.ts"
import type { Env } from "./tool-event.ts"

/** The result of reading a conversation. It does not change the ledger until it is accepted. */
export type Reading = {
  readonly facts: Facts
  readonly entries: readonly Entry[]
  /** entries read for the first time, oldest first */
  readonly fresh: readonly Entry[]
  /** ids of messages that have disappeared since the last reading */
  readonly gone: readonly string[]
  /** the facts were derived from the start: the first conversation, or one that did not merely grow */
  readonly rebuilt: boolean
  /** set when a compaction happened since the last reading: the facts of the messages it removed, to be stored */
  readonly carried?: Carried
}

/** The facts from the messages that a compaction removed, with the id of the message that requested it. */
type Carried = { compactionID: string; facts: Facts }

/**
 * Messages compared part by part at every call. Older ones are compared that way only at the first call of a turn, the
 * only time when OpenCode changes them (pruning). Within a turn their id and number of parts are compared, so that a call
 * stays fast in a session with 10,000 tool parts.
 */
const MAX_RECENT = 100

/** Compactions whose carried facts are kept, so that a revert past the newest one finds the previous one. */
const MAX_CARRIED = 8

export function createLedger(env: Env) {
  let facts = emptyFacts()
  let entries: readonly Entry[] = []
  const carried = new Map<string, Facts>()
  let outdated = false
  // a long session seen for the first time is read twice: to look for its folds, and to prepare the request
  let latest: Reading | undefined

  /** Adds messages to a draft of the facts. Returns their entries, and those read for the first time. */
  function extend(draft: Facts, messages: readonly Message[], known?: ReadonlyMap<string, Entry>) {
    const fresh: Entry[] = []
    const added = messages.map((message) => {
      const print = fingerprint(message)
      const old = known?.get(message.id)
      const number = old?.kind === "step" ? old.call : 0
      const isSame = old?.fingerprint === print && (number === 0 || number > draft.calls)
      // a step keeps its number where another plugin has removed those before it
      const entry = isSame ? old : readEntry(message, print, Math.max(draft.calls, number - 1), env)
      if (entry !== old) fresh.push(entry)
      addEntry(draft, entry)
      return entry
    })
    return { added, fresh }
  }

  function rebuild(messages: readonly Message[]): Reading {
    // where several messages have one id, the first counts
    const known = new Map(entries.toReversed().map((entry) => [entry.id, entry]))
    const ids = new Set(messages.map(({ id }) => id))
    const compaction = firstCompaction(messages)
    const removed = compaction && factsBefore(compaction, ids)
    const draft = removed ? { ...draftOf(removed), events: 0, recalledTokens: 0 } : emptyFacts()
    const { added, fresh } = extend(draft, messages, known)
    const gone = entries.map(({ id }) => id).filter((id) => !ids.has(id))
    const reading = { facts: draft, entries: added, fresh, gone, rebuilt: true }
    if (!removed || carried.has(compaction.id)) return reading
    return { ...reading, carried: { compactionID: compaction.id, facts: removed } }
  }

  /** The facts from the messages that a compaction removed; `kept`: the ids of those that are left. Undefined when unknown. */
  function factsBefore(compaction: Message, kept: ReadonlySet<string>): Facts | undefined {
    const known = carried.get(compaction.id)
    const head = entries.find(({ id, kind }) => kind !== "user" || id === compaction.id || carried.has(id))
    // another plugin may have put a message in front of the compaction
    const first = head?.kind === "user" ? head : entries[0]
    if (known || !first || first.id === compaction.id) return known
    // reverted to an older compaction, which only an earlier process has seen: numbers of steps are not used again
    if (compaction.createdMs > 0 && compaction.createdMs < first.createdMs)
      return { ...emptyFacts(), calls: facts.calls }
    const before = draftOf(carried.get(first.id) ?? emptyFacts())
    for (const entry of entries) if (!kept.has(entry.id)) addEntry(before, entry)
    return before
  }

  function readNew(messages: readonly Message[]): Reading {
    if (outdated || entries.length === 0 || messages.length < entries.length) return rebuild(messages)
    const newTurn = messages.at(-1)?.kind === "user"
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as Entry
      const message = messages[at] as Message
      const isCompared = newTurn || at >= entries.length - MAX_RECENT || entry.size !== message.size
      if (entry.id !== message.id || (isCompared && entry.fingerprint !== fingerprint(message)))
        return rebuild(messages)
    }
    if (messages.length === entries.length) return { facts, entries, fresh: [], gone: [], rebuilt: false }
    const draft = draftOf(facts)
    const { added, fresh } = extend(draft, messages.slice(entries.length))
    return { facts: draft, entries: [...entries, ...added], fresh, gone: [], rebuilt: false }
  }

  return {
    get facts() {
      return facts
    },
    get entries() {
      return entries
    },
    /** number of records kept: messages, tool events, and carried facts; each takes about half a kilobyte */
    get size() {
      const kept = [...carried.values()].reduce((sum, { files, results }) => sum + files.size + results.size, 0)
      return entries.length + facts.events + kept
    },
    /**
     * Reads a conversation. Changes nothing, and keeps no reference to it. The same conversation read again before the reading
     * is accepted is the same reading.
     */
    read(messages: readonly Message[]): Reading {
      if (!latest || !isReadingOf(latest, messages)) latest = readNew(messages)
      return latest
    },
    /** Makes a reading the state of the ledger. */
    accept(reading: Reading): void {
      latest = undefined
      if (reading.rebuilt) outdated = false
      facts = reading.facts
      entries = reading.entries
      if (reading.carried) renew(carried, reading.carried.compactionID, reading.carried.facts, MAX_CARRIED)
    },
    /** Restores facts that an earlier process carried, unless this process saw that compaction itself. */
    restore({ compactionID, facts: before }: Carried): void {
      if (carried.has(compactionID)) return
      latest = undefined
      renew(carried, compactionID, before, MAX_CARRIED)
      outdated = entries.length > 0
    },
  }
}

function isReadingOf({ entries }: Reading, messages: readonly Message[]): boolean {
  const isSame = (message: Message, at: number) =>
    message.id === entries[at]?.id && fingerprint(message) === entries[at]?.fingerprint
  return messages.length === entries.length && messages.every(isSame)
}
