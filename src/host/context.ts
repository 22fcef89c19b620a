// The state and services that all hooks of one directory share, and the two steps that connect a session to them:
// restoring what an earlier process stored, and passing on what a reading of the conversation found.

import { digestCandidates } from "../digest/candidate.ts"
import { type Fold, outputFold, outputKey, recallID, stepFold, stepKey } from "../fold/fold.ts"
import { addFolds, dropFolds } from "../fold/folding.ts"
import { isFoldText } from "../fold/record.ts"
import { compactionFacts } from "../hud/compaction-facts.ts"
import { isHud } from "../hud/render.ts"
import type { Options } from "../options.ts"
import type { RequestOptions } from "../request/request.ts"
import { readCarried, writeCarried } from "../session/carry.ts"
import type { Message } from "../session/conversation.ts"
import { fingerprint, readEntry } from "../session/entry.ts"
import { addEntry, emptyFacts } from "../session/facts.ts"
import { findingsOf } from "../session/findings.ts"
import type { Reading } from "../session/ledger.ts"
import { firstCompaction } from "../session/recorded.ts"
import type { Env } from "../session/tool-event.ts"
import type { Store } from "../store/open.ts"
import { answeredWithin, LATE } from "../system/process.ts"
import { errorMessage } from "../system/values.ts"
import { addEarlier } from "./accounting.ts"
import type { Background } from "./background.ts"
import type { SharedDigests } from "./digests.ts"
import type { Log } from "./log.ts"
import type { Models } from "./models.ts"
import type { Publisher } from "./publisher.ts"
import type { Session, Sessions } from "./sessions.ts"
import type { SharedStore } from "./store.ts"
import { conversationOf } from "./v1/conversation.ts"
import { isMessage } from "./v1/message.ts"

export type HookContext = {
  options: Options
  env: Env
  log: Log
  sessions: Sessions
  models: Models
  digests: SharedDigests
  store: SharedStore
  /** writes what the panel shows, and reads what the user has switched off */
  publisher: Publisher
  background: Background
  /** the part of the options that preparing a request needs */
  requestOptions: RequestOptions
  /** A session's messages as the host stores them: with `ids` at least those that exist. Rejects when it does not answer. */
  storedMessages(sessionID: string, ids?: readonly string[]): Promise<readonly unknown[]>
  /** The ids of the sessions that this one has started; none where the host does not tell. */
  subagents(sessionID: string): Promise<string[]>
  /** the project's folder; the ledger's relative paths are relative to it */
  directory: string
  /** names of agents that may not call `hud_recall` */
  withoutRecall: ReadonlySet<string>
}

/**
 * Restores the folds, the sticky slot's texts and what a compaction carried, for a session resumed in a new process.
 * Requests wait for it, a second at most, because one sent without its folds would not match the provider's cache from the
 * first of them on. A store that opens later restores then. Returns undefined when there is nothing to wait for.
 */
export function restoreSession(context: HookContext, session: Session, messages: readonly Message[] = []) {
  const opening = context.store.opening()
  const head = firstCompaction(messages)
  // a new session has nothing to restore, but one that begins with a compaction or so many messages is a fork
  if (!session.restoring && (head || messages.length >= MIN_FORKED_MESSAGES))
    session.restored = session.ledger.entries.length > 0
  if (session.restored || !opening) return
  const beganMs = Date.now()
  session.restoring ??= opening.then(async (store) => {
    const openedMs = Date.now() - beganMs
    const stored = await store.loadFolds(session.id)
    const folds = stored.length > 0 ? stored : await foldsOfOrigin(store, session, messages, context.env)
    const turns = await store.turns(session.id)
    const carried = await store.loadCarried(session.id)
    const anchors = await store.loadAnchors(session.id)
    const facts = carried && readCarried(carried.data)
    const isMissing = head !== undefined && !(facts && carried.compactionID === head.id)
    const whole = isMissing && (await storedConversation(context, session, openedMs))
    const removed = whole && removedFacts(whole, messages, folds, context.env)
    if (session.restored) return
    session.restored = true
    session.resumed = folds.length > 0 || turns.length > 0
    const { facts: known, entries } = session.ledger
    const folding = addFolds(session.folding, folds.filter(isFoldText))
    // requests that did not wait for the folds have read the messages already
    session.folding = dropFolds(folding, { facts: known, fresh: entries }, context.env).folding
    addEarlier(session.account.finished, turns)
    if (anchors.length > 0 && anchors.every(({ text }) => isHud(text)) && !session.hud.shown)
      session.hud = { ...session.hud, shown: true, anchors: [...anchors] }
    if (facts) session.ledger.restore({ compactionID: carried.compactionID, facts })
    if (head && removed) session.ledger.restore({ compactionID: head.id, facts: removed })
    // the request does not wait for them
    if (turns.length > 0)
      void addSubagents(context, store, session).catch((error) =>
        context.log.say("warn", `what subagents saved earlier is not counted: ${errorMessage(error)}`),
      )
  })
  return session.restoring
}

/** Adds what the subagents of a resumed session, and theirs, saved in earlier processes. */
async function addSubagents({ publisher, subagents }: HookContext, store: Store, session: Session) {
  const family = new Set([session.id])
  for (const id of family) for (const child of await subagents(id)) family.add(child)
  family.delete(session.id)
  const { account } = session
  for (const id of family) addEarlier(account.subagents, await store.turns(id))
  if (account.subagents.length > 0) publisher.publish(session)
}

/** How long OpenCode may take to return a stored session. */
const MAX_ASKING_MS = 500

/** The session as OpenCode has stored it; nothing if it does not answer in time. `spentMs`: how much of that has passed. */
export async function storedConversation({ storedMessages }: HookContext, { id }: Session, spentMs = 0) {
  const stored = spentMs < MAX_ASKING_MS ? await answeredWithin(storedMessages(id), MAX_ASKING_MS - spentMs) : LATE
  return conversationOf(stored === LATE ? [] : stored.filter(isMessage))
}

/** Messages from before a compaction that are read. Of older steps only the number counts: reading them would take too long. */
const MAX_READ = 300

/**
 * The facts of what a compaction has removed, where no process has stored them: a fork has none of its origin's, and the process
 * that compacted may have ended. If OpenCode does not answer, folds tell how many steps there were at least: if the numbers
 * began again, two steps would share one.
 */
function removedFacts(stored: readonly Message[], messages: readonly Message[], folds: readonly Fold[], env: Env) {
  const facts = emptyFacts()
  let steps = 0
  const places = new Map(messages.map(({ id, kind }) => [id, kind === "step" ? ++steps : 0]))
  const head = firstCompaction(messages)
  const end = stored.findIndex(({ id }) => id === head?.id)
  const removed = stored.slice(0, Math.max(0, end)).filter(({ id }) => !places.has(id))
  for (const [at, message] of removed.entries())
    if (message.kind === "step" && at < removed.length - MAX_READ) facts.calls++
    else addEntry(facts, readEntry(message, fingerprint(message), facts.calls, env))
  const shown = folds.filter(({ messageID }) => places.has(messageID))
  // steps that the request does not show may also have been reverted, and their numbers used again
  const counted = shown.length > 0 || removed.length > 0 ? shown : folds
  const before = counted.map(({ messageID, step }) => step - (places.get(messageID) ?? 0))
  if (before.length > 0) facts.calls = Math.max(0, ...before)
  return facts
}

/** A fork with fewer messages cannot have folds of its origin. */
const MIN_FORKED_MESSAGES = 10

/**
 * The folds of the session that this one was forked from, under this one's message and part ids. They are found by fold id,
 * which is a hash of the content and so the same in both. Without them the fork would miss its origin's cached prefix.
 */
async function foldsOfOrigin(store: Store, session: Session, messages: readonly Message[], env: Env): Promise<Fold[]> {
  if (messages.length < MIN_FORKED_MESSAGES) return []
  const places = new Map<string, Pick<Fold, "messageID" | "partID">>()
  for (const entry of session.ledger.read(messages).entries) {
    const { id: messageID, kind, events } = entry
    if (kind === "step") places.set(recallID(env.hash(stepKey(entry))), { messageID, partID: messageID })
    for (const event of events) places.set(recallID(env.hash(outputKey(event))), { messageID, partID: event.partID })
  }
  const found = await store.findFolds([...places.keys()])
  if (session.deleted) return []
  const folds = found.map((fold) => ({ ...fold, ...places.get(fold.id) }))
  if (folds.length > 0) store.saveFolds(session.id, folds)
  return folds
}

/**
 * The facts for a summary of `removed`, if there are any, and the HUD is on. Before that the conversation is read, with the
 * `kept` messages after those: its last step is newer than the last request, and a session that was resumed only to be
 * compacted has not been read at all.
 */
export async function factsForCompaction(
  context: HookContext,
  session: Session,
  removed: readonly Message[],
  kept: readonly Message[] = [],
): Promise<string | undefined> {
  const { ledger, signals } = session
  const messages = [...removed, ...kept]
  if (ledger.entries.length === 0) await restoreSession(context, session, messages)
  const reading = ledger.read(messages)
  // if messages are missing that the ledger knows, accepting this reading would lose them
  if (reading.gone.length === 0 && !session.deleted) acceptReading(context, session, messages, reading)
  if (context.options.hud.enabled) return compactionFacts(ledger.facts, signals, findingsOf(removed, context.env))
}

/** Accepts a reading from which no request is prepared, and drops the folds of what has changed. */
export function acceptReading(context: HookContext, session: Session, messages: readonly Message[], reading: Reading) {
  const { folding, dropped } = dropFolds(session.folding, reading, context.env)
  session.ledger.accept(reading)
  session.folding = folding
  recordReading(context, session, messages, reading, dropped)
}

/**
 * Passes an accepted reading on: the store keeps what a compaction removed and deletes the folds that were given up
 * (`dropped`, by part id), and the digest queue learns of outputs that came and went. Part of a commit.
 */
export function recordReading(
  { store, digests }: HookContext,
  { id, folding: { folds } }: Session,
  messages: readonly Message[],
  { carried, fresh, gone }: Reading,
  dropped: readonly string[],
): void {
  if (carried) store.use((open) => open.saveCarried(id, carried.compactionID, writeCarried(carried.facts)))
  if (dropped.length) store.use((open) => open.dropFolds(id, dropped))
  if (gone.length) digests.queue?.cancel({ sessionID: id, messageIDs: gone })
  // for what is folded, such as most of a resumed session, a digest comes too late
  const whole = fresh
    .filter((entry) => !stepFold(folds, entry.id))
    .map((entry) => ({ ...entry, events: entry.events.filter((event) => !outputFold(folds, entry.id, event)) }))
  digests.queue?.offer(digestCandidates(messages, whole))
}
