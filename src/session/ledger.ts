// What the plugin knows of one session, derived from the message array OpenCode hands over at every call. An update
// costs what is new: messages seen before are only compared. When the array is another one than last time (revert,
// undo, fork, compaction, import) the facts are folded again from the entries that are still in it.

import { renew } from "../bounded.ts"
import type { HostMessage } from "../host/v1/message.ts"
import { type Entry, fingerprint, readEntry } from "./entry.ts"
import { emptyFacts, type Facts, fold } from "./facts.ts"
import type { Env } from "./normalize.ts"

export type Update = {
  /** entries read anew, oldest first */
  fresh: readonly Entry[]
  /** ids of messages that were there at the last update and are no more */
  gone: readonly string[]
  /** the facts were folded anew: the first array, or one that did not merely grow */
  rebuilt: boolean
  /** set when this update saw a compaction happen: what it swallowed, worth keeping across a restart */
  carried?: Carried
}

/** The facts as they stood when a compaction took the messages away, by the id of the message that asked for it. */
export type Carried = { compactionID: string; facts: Facts }

export type Ledger = {
  readonly facts: Facts
  readonly entries: readonly Entry[]
  /** how many things it keeps: messages, tool events, and what compactions carried; each is half a kilobyte or so */
  readonly size: number
  /** Brings the facts up to date with the array. Reads it only; keeps no reference to it. */
  update(messages: readonly HostMessage[]): Update
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

/** `ignore` names messages that are this plugin's own. */
export function createLedger(env: Env, ignore: (id: string) => boolean): Ledger {
  let facts = emptyFacts()
  let entries: Entry[] = []
  let events = 0
  const carried = new Map<string, Facts>()
  let outdated = false

  // a repeat is worth the answer's gist; digesting every output would be most of what a call costs
  const isRepeat = (inputHash: string, outputHash: string) => facts.results.get(inputHash)?.outputHash === outputHash

  /** The entry when it was read anew. */
  function append(message: HostMessage, known?: Map<string, Entry>): Entry[] {
    const print = fingerprint(message)
    const old = known?.get(message.info.id ?? "")
    const same = old !== undefined && old.fingerprint === print
    const entry = same ? old : readEntry(message, print, facts.calls, isRepeat, env)
    entries.push(entry)
    events += entry.events.length
    fold(facts, entry)
    return same ? [] : [entry]
  }

  function rebuild(messages: readonly HostMessage[]): Update {
    const known = new Map(entries.map((entry) => [entry.id, entry]))
    const ids = new Set(messages.map((message) => message.info.id ?? ""))
    const first = entries[0]
    const head = messages.find((message) => isReal(message, ignore))
    const headID = head && isCompaction(head) ? (head.info.id ?? "") : undefined
    const swallowing = headID !== undefined && !carried.has(headID) && first !== undefined && !ids.has(first.id)
    if (swallowing) {
      const before = structuredClone(carried.get(first.id) ?? emptyFacts())
      for (const entry of entries) if (!ids.has(entry.id)) fold(before, entry)
      renew(carried, headID, before, MAX_CARRIED)
    }
    const base = headID === undefined ? undefined : carried.get(headID)
    facts = base ? structuredClone(base) : emptyFacts()
    entries = []
    events = 0
    outdated = false
    const fresh = messages.flatMap((message) => (isReal(message, ignore) ? append(message, known) : []))
    const gone = [...known.keys()].filter((id) => !ids.has(id))
    const carrying = swallowing && base ? { carried: { compactionID: headID, facts: base } } : {}
    return { fresh, gone, rebuilt: true, ...carrying }
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
    update(messages) {
      if (outdated || entries.length === 0) return rebuild(messages)
      const newTurn = messages.at(-1)?.info.role === "user"
      let at = 0
      let next = 0
      for (; next < messages.length && at < entries.length; next++) {
        const message = messages[next] as HostMessage
        if (!isReal(message, ignore)) continue
        const entry = entries[at] as Entry
        const look = newTurn || at >= entries.length - RECENT || entry.parts !== message.parts.length
        if (entry.id !== (message.info.id ?? "") || (look && entry.fingerprint !== fingerprint(message)))
          return rebuild(messages)
        at++
      }
      if (at < entries.length) return rebuild(messages)
      const fresh = messages.slice(next).flatMap((message) => (isReal(message, ignore) ? append(message) : []))
      return { fresh, gone: [], rebuilt: false }
    },
    restore({ compactionID, facts: before }) {
      if (carried.has(compactionID)) return
      renew(carried, compactionID, before, MAX_CARRIED)
      outdated = entries.length > 0
    },
  }
}

function isReal(message: HostMessage, ignore: (id: string) => boolean): boolean {
  const info = message?.info
  return typeof info === "object" && info !== null && !(typeof info.id === "string" && ignore(info.id))
}

function isCompaction(message: HostMessage): boolean {
  return (
    message.info.role === "user" &&
    Array.isArray(message.parts) &&
    message.parts.some((part) => part?.type === "compaction")
  )
}
