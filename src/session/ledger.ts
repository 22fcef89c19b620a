// What the plugin knows of one session, derived from the conversation the host hands over at every call. Reading costs what
// is new: messages read before are only compared. When the conversation did not merely grow (revert, undo, fork,
// compaction, import) the facts follow again from the entries that are still in it.

import { renew } from "../system/values.ts"
import type { Message } from "./conversation.ts"
import { type Entry, fingerprint, readEntry } from "./entry.ts"
import { addEntry, draftOf, emptyFacts, type Facts } from "./facts.ts"
import type { Env } from "./normalize.ts"

/** What a conversation comes to. Nothing in the ledger has changed until it is accepted. */
export type Reading = {
  readonly facts: Facts
  readonly entries: readonly Entry[]
  /** entries read for the first time, oldest first */
  readonly fresh: readonly Entry[]
  /** ids of messages that were there at the last reading and are no more */
  readonly gone: readonly string[]
  /** the facts were derived from the start: the first conversation, or one that did not merely grow */
  readonly rebuilt: boolean
  /** set when this reading saw a compaction happen: what it swallowed, worth keeping across a restart */
  readonly carried?: Carried
}

/** The facts as they stood when a compaction took the messages away, by the id of the message that asked for it. */
export type Carried = { compactionID: string; facts: Facts }

export type Ledger = {
  readonly facts: Facts
  readonly entries: readonly Entry[]
  /** how many things it keeps: messages, tool events, and what compactions carried; each is half a kilobyte or so */
  readonly size: number
  /** Reads a conversation. Changes nothing, and keeps no reference to it. */
  read(messages: readonly Message[]): Reading
  /** Makes a reading the state of the ledger. */
  accept(reading: Reading): void
  /** Takes back what an earlier process carried across a compaction; without effect when that one was seen here. */
  restore(carried: Carried): void
}

/**
 * Messages compared part by part at every call. Older ones are compared so at the first call of a turn, the only time
 * OpenCode changes them (pruning); within a turn their id and number of parts must do, which keeps a call of a session
 * with 10,000 tool parts short.
 */
const RECENT = 100

/** Compactions whose carried facts are kept, so that a revert past the newest one finds the one before. */
const MAX_CARRIED = 8

export function createLedger(env: Env): Ledger {
  let facts = emptyFacts()
  let entries: readonly Entry[] = []
  let events = 0
  const carried = new Map<string, Facts>()
  let outdated = false

  /** Adds messages to a draft of the facts; answers their entries, and those read for the first time. */
  function extend(draft: Facts, messages: readonly Message[], known?: ReadonlyMap<string, Entry>) {
    // a repeat is worth the answer's gist; digesting every output would be most of what a call costs
    const isRepeat = (inputHash: string, outputHash: string) => draft.results.get(inputHash)?.outputHash === outputHash
    const fresh: Entry[] = []
    const added = messages.map((message) => {
      const print = fingerprint(message)
      const old = known?.get(message.id)
      if (old?.fingerprint === print) {
        addEntry(draft, old)
        return old
      }
      const entry = readEntry(message, print, draft.calls, isRepeat, env)
      fresh.push(entry)
      addEntry(draft, entry)
      return entry
    })
    return { added, fresh }
  }

  function rebuild(messages: readonly Message[]): Reading {
    const known = new Map(entries.map((entry) => [entry.id, entry]))
    const ids = new Set(messages.map(({ id }) => id))
    const [first] = entries
    const [head] = messages
    const headID = head && isCompaction(head) ? head.id : undefined
    const swallowing = headID !== undefined && !carried.has(headID) && first !== undefined && !ids.has(first.id)
    let base = headID === undefined ? undefined : carried.get(headID)
    if (swallowing) {
      base = draftOf(carried.get(first.id) ?? emptyFacts())
      for (const entry of entries) if (!ids.has(entry.id)) addEntry(base, entry)
    }
    const draft = base ? draftOf(base) : emptyFacts()
    const { added, fresh } = extend(draft, messages, known)
    const gone = [...known.keys()].filter((id) => !ids.has(id))
    const carrying = swallowing && base ? { carried: { compactionID: headID, facts: base } } : {}
    return { facts: draft, entries: added, fresh, gone, rebuilt: true, ...carrying }
  }

  return {
    get facts() {
      return facts
    },
    get entries() {
      return entries
    },
    get size() {
      const kept = [...carried.values()].reduce((sum, { files, results }) => sum + files.size + results.size, 0)
      return entries.length + events + kept
    },
    read(messages) {
      if (outdated || entries.length === 0 || messages.length < entries.length) return rebuild(messages)
      const newTurn = messages.at(-1)?.kind === "user"
      for (const [at, entry] of entries.entries()) {
        const message = messages[at] as Message
        const look = newTurn || at >= entries.length - RECENT || entry.parts !== message.size
        if (entry.id !== message.id || (look && entry.fingerprint !== fingerprint(message))) return rebuild(messages)
      }
      if (messages.length === entries.length) return { facts, entries, fresh: [], gone: [], rebuilt: false }
      const draft = draftOf(facts)
      const { added, fresh } = extend(draft, messages.slice(entries.length))
      return { facts: draft, entries: [...entries, ...added], fresh, gone: [], rebuilt: false }
    },
    accept(reading) {
      if (reading.rebuilt) {
        outdated = false
        events = 0
      }
      for (const entry of reading.rebuilt ? reading.entries : reading.entries.slice(entries.length))
        events += entry.events.length
      facts = reading.facts
      entries = reading.entries
      if (reading.carried) renew(carried, reading.carried.compactionID, reading.carried.facts, MAX_CARRIED)
    },
    restore({ compactionID, facts: before }) {
      if (carried.has(compactionID)) return
      renew(carried, compactionID, before, MAX_CARRIED)
      outdated = entries.length > 0
    },
  }
}

function isCompaction({ kind, parts }: Message): boolean {
  return kind === "user" && parts.some(({ type }) => type === "compaction")
}
