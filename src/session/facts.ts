// What is known about a session. The facts follow from the entries, added one at a time: `addEntry` is their only writer,
// and adding all entries to empty facts gives the same as adding them as they came. The signals come from elsewhere:
// from the host's events and the file system. A revert changes the facts, not the signals.

import * as z from "zod/mini"
import { checksIn, covers } from "../output/commands.ts"
import type { FileUse } from "../output/tools.ts"
import { defined, renew } from "../system/values.ts"
import { oneLine } from "../text/sanitize.ts"
import type { ModelName, Usage } from "./conversation.ts"
import type { Entry, Todo } from "./entry.ts"
import { isRecall, nameOf, type ToolEvent } from "./tool-event.ts"

// the records that outlive a compaction in the store have a schema, by which they are checked when they are read back
/** A number of calls or compactions; also the number of a call, 0 for none. */
export const countSchema = z.int().check(z.nonnegative())
/** Text from the disk is not trusted to be sanitised. */
export const storedLine = (maxChars = 400) => z.string().check(z.maxLength(maxChars), z.overwrite(oneLine))

export const requestSchema = z.object({ text: storedLine(), call: countSchema })
export type Request = z.output<typeof requestSchema>

export const fileSchema = z.object({
  path: z.string().check(z.maxLength(400)),
  /** the call of the last read, edit and outside change; 0 = never */
  readAt: countSchema,
  editedAt: countSchema,
  changedAt: countSchema,
  /** when the agent last read or wrote it, epoch ms by the host's clock; 0 = unknown */
  usedMs: z.number().check(z.nonnegative()),
  deleted: z.boolean(),
})
export type KnownFile = z.output<typeof fileSchema>

export const failureSchema = z.object({
  /** what was attempted: the command reduced to its essentials, or tool and arguments; shown as it is */
  key: storedLine(),
  detail: storedLine(),
  kind: z.enum(["check", "command", "tool"]),
  /** calls: the first and the last that failed, and how many did */
  since: countSchema,
  last: countSchema,
  times: countSchema,
  /** when the last one ended, epoch ms by the host's clock */
  endedMs: z.optional(z.number()),
})
export type Failure = z.output<typeof failureSchema>

/** `times`: how often the call returned this in a row; `last`: the call that returned it last */
type Result = { what: string; outputHash: string; times: number; last: number }

export type Facts = ReturnType<typeof emptyFacts>

export function emptyFacts() {
  return {
    calls: 0,
    compactions: 0,
    /** when the newest compaction's summary was made, epoch ms, and the calls since; the tail it kept is older */
    compactedMs: 0,
    callsSinceCompaction: 0,
    /** the newest request and, when that one is terse, the last one that was not */
    requests: [] as Request[],
    agent: undefined as string | undefined,
    model: undefined as ModelName | undefined,
    todos: [] as Todo[],
    /** by path, least recently used first */
    files: new Map<string, KnownFile>(),
    failures: new Map<string, Failure>(),
    /** the last result of each call, by the hash of its arguments */
    results: new Map<string, Result>(),
    /** the call of the last edit of any file, by whatever means */
    editedAt: 0,
    /** tools of the last message that are not done */
    running: [] as ToolEvent[],
    /** the last reported usage */
    usage: undefined as Usage | undefined,
    /** estimated tokens of what came after the last report, including its own output */
    unreported: 0,
    /** running ratio of reported to estimated tokens */
    ratio: 1,
    /** tool events of the messages that are still in the conversation */
    events: 0,
    /** estimated tokens of what recalls returned in those messages, without what OpenCode cleared or does not send */
    recalledTokens: 0,
  }
}

const MAX_FILES = 1000
const MAX_FAILURES = 100
const MAX_RESULTS = 2000
/**
 * Calls after which a failure that is no check is dropped: the agent has given up on it. A guess, like the shorter time for
 * which the HUD shows it (`SHOWN_FAILURE_CALLS`).
 */
const DROPPED_AFTER_CALLS = 6
/** A request shorter than this ("yes", "go on") does not describe the task. A letter of East Asia says as much as three others. */
const MIN_TASK_CHARS = 40
const isTask = (text: string) => text.replace(/[\u3040-\ud7ff]/g, "...").length >= MIN_TASK_CHARS

/** A copy to add entries to. It shares its records, so they must be replaced, not modified. */
export function draftOf(facts: Facts): Facts {
  const { files, failures, results } = facts
  return { ...facts, files: new Map(files), failures: new Map(failures), results: new Map(results) }
}

/** Adds one entry to a draft of the facts. */
export function addEntry(facts: Facts, entry: Entry): void {
  // only a summary counts as a compaction: a request for one may have failed
  const { kind } = entry
  if (kind === "summary") {
    facts.compactions++
    facts.compactedMs = entry.createdMs
    facts.callsSinceCompaction = 0
    facts.usage = undefined
    facts.unreported = 0
  }
  if (entry.model && kind !== "summary") facts.model = entry.model
  if (entry.agent && kind !== "summary") facts.agent = entry.agent
  if (kind === "step") {
    facts.calls = Math.max(facts.calls + 1, entry.call)
    if (entry.createdMs >= facts.compactedMs) facts.callsSinceCompaction++
  }
  if (entry.request) addRequest(facts, entry.request)
  addUsage(facts, entry)
  // a tool that an earlier message left running was interrupted: a message comes only when all tools are done
  facts.running = []
  for (const event of entry.events) {
    addEvent(facts, event)
    // files show more than their text: that of every image is "Image read successfully"
    if (!entry.opaque && event.fileTokens === 0) addResult(facts, event)
    if (entry.blocks > 0 && isRecall(event)) facts.recalledTokens += event.outputTokens + event.fileTokens
  }
  if (entry.changed.length > 0) facts.editedAt = facts.calls
  for (const path of entry.changed) {
    const file = facts.files.get(path)
    // set, not renewed: a change by others does not make the file the last one used
    if (file) facts.files.set(path, { ...file, changedAt: facts.calls })
  }
  if (entry.todos) facts.todos = entry.todos
  for (const [key, failure] of facts.failures)
    if (failure.kind !== "check" && facts.calls - failure.last > DROPPED_AFTER_CALLS) facts.failures.delete(key)
}

function addRequest(facts: Facts, text: string): void {
  const request = { text, call: facts.calls }
  const task = facts.requests.find((one) => isTask(one.text)) ?? facts.requests[0]
  facts.requests = !isTask(text) && task ? [task, request] : [request]
}

/** A smaller growth than this share of the estimate is no measurement: something was removed meanwhile. */
const MIN_RATIO = 0.5
/** A larger growth is not only of text: images were added, or the system prompt is another agent's. */
const MAX_RATIO = 2
/** Estimates smaller than this are too imprecise to learn from. */
const MIN_LEARNING_TOKENS = 200

function addUsage(facts: Facts, entry: Entry): void {
  // the usage reported in a tail that a compaction kept is the size of the context before it
  if (!entry.usage || entry.kind !== "step" || entry.createdMs < facts.compactedMs) {
    facts.unreported += entry.tokens
    return
  }
  const total = contextTokens(entry.usage)
  const previous = facts.usage ? contextTokens(facts.usage) : 0
  const measured = facts.unreported > MIN_LEARNING_TOKENS ? (total - previous) / facts.unreported : 0
  if (previous && measured >= MIN_RATIO) facts.ratio = facts.ratio * 0.7 + Math.min(MAX_RATIO, measured) * 0.3
  facts.usage = entry.usage
  facts.unreported = entry.tokens
}

/** Size of a call's context, as the provider reported it. */
export function contextTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite
}

/** Whether a compaction may have removed what came with this call. */
export function isCompacted({ compactions, calls, callsSinceCompaction }: Facts, call: number): boolean {
  return compactions > 0 && call <= calls - callsSinceCompaction
}

/**
 * Size of the context now: the last report plus an estimate of what came after it; without a report, an estimate of what is
 * sent. `folded`: what folds leave out of the request.
 */
export function contextNow(facts: Facts, folded = { savedTokens: 0 }) {
  if (!facts.usage && facts.unreported === 0) return
  const { usage, unreported, ratio } = facts
  if (usage) return { tokens: Math.round(contextTokens(usage) + unreported * ratio), estimated: false }
  return { tokens: Math.round(Math.max(0, unreported - folded.savedTokens) * ratio), estimated: true }
}

function addEvent(facts: Facts, event: ToolEvent): void {
  facts.events++
  if (event.status === "pending" || event.status === "running") {
    facts.running.push(event)
    return
  }
  for (const use of event.files) addFile(facts, use, event)
  addFailure(facts, event)
}

const UNTOUCHED = { readAt: 0, editedAt: 0, changedAt: 0, usedMs: 0, deleted: false }

function addFile(facts: Facts, use: FileUse, event: ToolEvent): void {
  const file: KnownFile = { path: use.path, ...UNTOUCHED, ...facts.files.get(use.path) }
  renew(facts.files, use.path, file, MAX_FILES)
  file.usedMs = event.endedMs ?? file.usedMs
  file.deleted = use.use === "delete"
  // an agent that writes a whole file knows its content
  if (use.use === "read" || use.use === "write") file.readAt = facts.calls
  if (use.use === "read") return
  facts.editedAt = facts.calls
  file.editedAt = facts.calls
}

/** The error of a call that the user or a rule of theirs rejected, in the words of OpenCode and Claude Code. */
const REJECTED =
  /^The user (?:rejected permission|dismissed this question|has specified a rule|doesn't want to proceed)/

function addFailure(facts: Facts, event: ToolEvent): void {
  const command = event.kind === "command"
  // a patch may be retried with other files, so any patch that works settles one that failed
  const key = event.kind === "patch" ? event.tool : event.attempt
  if (event.ok && !command)
    for (const [other, { kind }] of facts.failures) {
      // a terminal has another number in each run
      const isOfTool = event.isCheck && kind === "tool" && other.startsWith(`${event.tool} `)
      if (other === key || isOfTool) facts.failures.delete(other)
    }
  for (const passed of event.ok && command && !event.isCheck ? [key] : event.passed)
    for (const [other, { kind }] of facts.failures) {
      // of checks that ran one after the other, the one that is run again is the one that failed
      const failed = kind === "check" && event.isCheck ? checksIn(other) : [other]
      if (failed.some((one) => covers(passed, one))) facts.failures.delete(other)
    }
  if (event.ok) return
  // `npm test | tail` hides its exit code; but the same command has shown the failure, and shows none now
  const isSameView = (one: string) => facts.failures.get(one)?.last === facts.results.get(event.inputHash)?.last
  if (event.isCheck && !event.ranNothing)
    for (const one of [...event.unseen, event.unseen.join(" && ")].filter(isSameView)) facts.failures.delete(one)
  // a call that the user rejected is not to be tried again, and says nothing about a check
  if (!event.failure || REJECTED.test(event.failure)) return
  if (event.beside) addFailure(facts, { ...event, ...event.beside, passed: [], unseen: [], beside: undefined })
  const known = facts.failures.get(key)
  // a run that was aborted or mistyped says nothing about it either
  if (known?.kind === "check" && !event.isCheck) return
  const failure: Failure = {
    key,
    detail: event.failure,
    kind: !command ? "tool" : event.isCheck ? "check" : "command",
    since: known?.since ?? facts.calls,
    last: facts.calls,
    times: (known?.times ?? 0) + 1,
    ...defined({ endedMs: event.endedMs }),
  }
  renew(facts.failures, key, failure, MAX_FAILURES)
}

function addResult(facts: Facts, event: ToolEvent): void {
  if (event.status !== "completed" || event.outputHash === undefined) return
  if (["edit", "write", "patch", "todo", "question", "skill"].includes(event.kind)) return
  const known = facts.results.get(event.inputHash)
  const asked = facts.requests.at(-1)?.call ?? 0
  // a command run again after an edit or a message of the user's is a check, not a repeat; reading an unchanged file again is a
  // repeat, unless a compaction has removed what was read
  const isNew = ({ last }: Result) =>
    isCompacted(facts, last) || (event.kind === "command" && (facts.editedAt > last || asked >= last))
  const again = known?.outputHash === event.outputHash && !isNew(known)
  const times = known && again ? known.times + 1 : 1
  const result = { what: nameOf(event), outputHash: event.outputHash, times, last: facts.calls }
  renew(facts.results, event.inputHash, result, MAX_RESULTS)
}

export type Signals = ReturnType<typeof noSignals>

export function noSignals() {
  return {
    /** open permission requests: what each is for, by request id */
    permissions: new Map<string, string>(),
    /** the files in use as they were seen on disk, by the ledger's path, oldest first; of one that is gone, the hash is "" */
    versions: new Map<string, readonly { modifiedMs: number; hash: string }[]>(),
  }
}

/** File systems and clocks differ by up to this much. Without it the agent's own writes would count as outside changes. */
const MAX_CLOCK_SKEW_MS = 2000

/** What is said of a file. */
export function stateOf(file: KnownFile, signals: Signals) {
  const found = onDisk(file, signals)
  if (found ? found === "changed" : file.changedAt > Math.max(file.readAt, file.editedAt))
    return "changed on disk since read"
  return found === "deleted" || file.deleted ? "deleted" : file.editedAt > 0 ? "edited" : "read"
}

/** Whether a command names a file that was removed after it failed, so that it cannot be run again. If it failed later, the missing file may be why. */
export function namesDeleted({ key, endedMs = 0 }: Failure, facts: Facts, signals: Signals): boolean {
  const files = key.split(" ").flatMap((word) => facts.files.get(word) ?? [])
  return files.some((file) => {
    const goneMs = file.deleted ? file.usedMs : signals.versions.get(file.path)?.at(-1)?.modifiedMs
    return stateOf(file, signals) === "deleted" && goneMs !== undefined && goneMs >= endedMs
  })
}

/**
 * What became of a file on disk since the agent last used it, whatever the messages show. It may be the same although it was
 * written: after an undo, or a `git stash` and its `pop`. Undefined if it was not written, or nobody has looked.
 */
export function onDisk(file: KnownFile, signals: Signals): "same" | "changed" | "deleted" | undefined {
  const { path, usedMs, deleted } = file
  const versions = signals.versions.get(path) ?? []
  const now = versions.at(-1)
  if (!now || usedMs === 0) return
  // the last one before its use, and those that may have been
  const first = versions.findLastIndex(({ modifiedMs }) => modifiedMs <= usedMs)
  const used = versions.slice(Math.max(0, first)).filter((one) => one.modifiedMs <= usedMs + MAX_CLOCK_SKEW_MS)
  if (used.includes(now)) return
  if (now.hash === "") return "deleted"
  return !deleted && used.some(({ hash }) => hash === now.hash) ? "same" : "changed"
}
