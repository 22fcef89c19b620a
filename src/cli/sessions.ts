// The sessions, options and prices that a command line names, and the loop over several sessions.

import { existsSync } from "node:fs"
import { createEnv } from "../digest/digests.ts"
import { addSaving, noSaving, type Saving } from "../fold/saving.ts"
import { conversationOf } from "../host/v1/conversation.ts"
import { type Options, pricingOverride, readOptions, requestOptionsOf } from "../options.ts"
import type { ReplayOptions } from "../replay/calls.ts"
import { PRICE_NAMES, priceNamed } from "../replay/prices.ts"
import type { ReplayedCall } from "../replay/replay.ts"
import type { Message } from "../session/conversation.ts"
import { StoreError } from "../store/errors.ts"
import { EXPORT_COMMAND, readExport } from "../store/export.ts"
import { openOpencode } from "../store/opencode.ts"
import { visibleMessages } from "../store/recording.ts"
import { NO_SQLITE } from "../store/sqlite.ts"
import { callsOfTurn, readTurns } from "../store/turns.ts"
import type { Turn } from "../store/writes.ts"
import { hasSqlite } from "../system/sqlite.ts"
import { groupBy, parseJson } from "../system/values.ts"
import { plural } from "../text/format.ts"
import { redact } from "../text/redact/redact.ts"
import { quoteArgument, UsageError } from "./command.ts"
import { startProgress } from "./progress.ts"
import { complain } from "./terminal.ts"

/** The ways to name a session, for the help. */
export const SESSION = "A session id, its beginning, `latest` (of all folders), or a file written by `opencode export`"

export const OPTIONS_ARGUMENT = {
  type: "string",
  valueHint: "JSON",
  description: "The plugin's options, as in opencode.json",
} as const

export const PRICE_ARGUMENT = {
  type: "string",
  valueHint: "NAME",
  description: "Use the prices of this provider, such as anthropic or openai, instead of the session's own",
} as const

/**
 * A session in the form that a replay takes, by its id, which needs SQLite, or from a file. Secrets are removed from its
 * title, and one without a title is called by its id. Throws UsageError, StoreError.
 */
export async function readSession(argument: string) {
  const isFile = isSessionFile(argument)
  if (!isFile && !hasSqlite()) throw new StoreError("NO_SQLITE", `${NO_SQLITE}, or name a file: ${EXPORT_COMMAND}`)
  using database = isFile ? undefined : await openOpencode()
  const recording = database ? database.readSession(argument) : await readExport(argument)
  const { skipped } = recording
  const info = { ...recording.info, title: redact(recording.info.title).trim() || recording.info.id }
  return { info, skipped, messages: conversationOf(visibleMessages(recording)), env: createEnv(info.directory) }
}

/** True for a path, false for a session id. Throws UsageError for what looks like neither. */
function isSessionFile(argument: string): boolean {
  if (existsSync(argument)) return true
  if (argument === "latest" || /^ses_\w*$/.test(argument)) return false
  if (/[./\\]/.test(argument)) return true
  const what = `${quoteArgument(argument)} is neither a file nor a session id (those begin with ses_)`
  throw new UsageError(`${what}; \`opencode session list\` lists the sessions`)
}

/** The turns of the sessions in which the plugin ran, by their ids. Empty, with a warning, if that cannot be read. */
export async function measuredSessions({ store }: Options): Promise<ReadonlyMap<string, Turn[]>> {
  try {
    // in a turn without calls it left every request alone
    const turns = (await readTurns(store.path)).filter(({ calls }) => calls > 0)
    return groupBy(turns, ({ sessionID }) => sessionID)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    complain(`${error.message}; what hudfold saved in a session is not known`)
    return new Map()
  }
}

/** What was saved in the turns that were not undone. */
function savedIn(turns: readonly Turn[], messages: readonly Message[]): Saving {
  const calls = messages.flatMap(({ kind, createdMs }) => (kind === "step" ? { atMs: createdMs } : []))
  return turns.filter((_, at) => callsOfTurn(turns, at, calls).length > 0).reduce<Saving>(addSaving, noSaving())
}

/** The plugin's options from `--options`, or the defaults. Throws UsageError. */
export function readOptionsGiven(text: string | undefined): Options {
  if (text === undefined) return readOptions({}).options
  const given = parseJson(text)
  if (given === undefined)
    throw new UsageError(`--options must be JSON such as '{"hud":{"budgetTokens":200}}', got ${quoteArgument(text)}`)
  const { options, problems } = readOptions(given)
  const [problem] = problems
  if (problem) throw new UsageError(`--options: ${problem.message.replace(/[;,]? (?:using|it is ignored)\b[^.]*/, "")}`)
  return options
}

/** The options in the form that a replay takes. `price` is the provider that `--price` names. Throws UsageError. */
export function replayOptionsOf(options: Options, price?: string): ReplayOptions {
  if (!options.enabled) throw new UsageError("--options: with enabled false there is no HUD, and nothing is folded")
  const override = pricingOverride(options)
  const namedPrice = price === undefined ? undefined : priceNamed(price, override)
  if (price !== undefined && !namedPrice) {
    const known = PRICE_NAMES.map((one) => JSON.stringify(one)).join(", ")
    const expected = `one of ${known}, or a provider's id such as anthropic or google`
    throw new UsageError(`--price: the prices of ${quoteArgument(price)} are not known; expected ${expected}`)
  }
  const { disabledAgents } = options
  return { ...requestOptionsOf(options), disabledAgents, pricingOverride: override, namedPrice }
}

/** What the arguments of `replay` and `report` have in common. Throws UsageError. */
export function readReplayArguments(args: { options: string | undefined; price: string | undefined; _: string[] }) {
  const options = readOptionsGiven(args.options)
  return { options, replayOptions: replayOptionsOf(options, args.price), sessions: args._ }
}

/** A session that could not be read, as named on the command line, and why. */
export type FailedSession = { session: string; error: string }

/** Work that takes less time shows no progress. */
const SHOW_AFTER_MS = 1000

type ReadSession = Awaited<ReturnType<typeof readSession>>

/**
 * Runs `work` for each session once, one after the other, with what the plugin saved when it ran in it. One that cannot be read is
 * reported and does not stop the others. `work` passes every finished call to `onCall`, for the progress.
 */
export async function eachSession<T>(
  sessions: readonly string[],
  options: Options,
  work: (session: ReadSession & { ran: Saving | undefined }, onCall: (done: ReplayedCall) => void) => T,
): Promise<{ done: T[]; failed: FailedSession[] }> {
  const measured = await measuredSessions(options)
  const onScreenFromMs = Date.now() + SHOW_AFTER_MS
  const done: T[] = []
  const failed: FailedSession[] = []
  const seen = new Set<string>()
  for (const [i, session] of sessions.entries()) {
    const label = sessions.length > 1 ? `session ${i + 1} of ${sessions.length}` : "replaying"
    const progress = startProgress(process.stderr, label, { onScreenFromMs, amount: (count) => plural(count, "call") })
    try {
      const read = await readSession(session)
      // `latest`, the beginning of an id and an export may name the same one; an export may also be older than another
      if (seen.has(read.info.id)) {
        complain(`${session} is the same session as one named before it, so it is left out`)
        continue
      }
      seen.add(read.info.id)
      const turns = measured.get(read.info.id)
      const ran = turns && savedIn(turns, read.messages)
      done.push(work({ ...read, ran }, ({ number, calls }) => progress.update(number, calls)))
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof StoreError)) throw error
      progress.end()
      complain(error.message)
      failed.push({ session, error: error.message })
    } finally {
      progress.end()
    }
  }
  return { done, failed }
}
