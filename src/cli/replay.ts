// `hudfold replay`: runs recorded sessions through the plugin and prints what it would have saved and lost.
import { defineCommand } from "citty"
import { createEnv } from "../digest/digests.ts"
import { conversationOf } from "../host/v1/conversation.ts"
import type { Options } from "../options.ts"
import type { NamedPrice } from "../replay/prices.ts"
import { type CallReplayed, type Replay, replaySession } from "../replay/replay.ts"
import { allIn, savedUsd } from "../replay/saved.ts"
import { sumOf } from "../replay/sum.ts"
import { visibleMessages } from "../store/recording.ts"
import { forPeople, type Replayed } from "./replay-words.ts"
import { hasSqlite, runOnBun } from "./runtime.ts"
import {
  eachSession,
  type FailedSession,
  needDatabase,
  OPTIONS_ARGUMENT,
  PRICE_ARGUMENT,
  readOptionsGiven,
  readPrice,
  readSession,
  replayOptionsOf,
  SESSION,
} from "./sessions.ts"
import { escapedLine, print, UsageError } from "./terminal.ts"

export const replay = defineCommand({
  meta: {
    name: "replay",
    description: "Run recorded sessions through the plugin: what it would have saved, and what it would have lost",
  },
  args: {
    "session...": { type: "positional", required: true, description: `${SESSION}; several are also summed up` },
    price: PRICE_ARGUMENT,
    json: { type: "boolean", description: "Print JSON for programs" },
    options: OPTIONS_ARGUMENT,
  },
  async run({ args, rawArgs }) {
    const options = readOptionsGiven(args.options)
    if (!options.enabled) throw new UsageError("--options: with enabled false there is nothing to replay")
    const price = args.price === undefined ? undefined : readPrice(args.price, options)
    const sessions = [...new Set(args._)]
    if (!hasSqlite() && needDatabase(sessions)) return runOnBun(["replay", ...rawArgs])
    const { done: replayed, failed } = await eachSession(sessions, (session, onCall) =>
      replayOne(session, options, price, onCall),
    )
    if (replayed.length === 0 && !args.json) return 2
    const sum = sumOf(replayed.map((one) => one.replay))
    print(args.json ? JSON.stringify(asJson(replayed, sum, failed), null, 2) : forPeople(replayed, sum))
    return failed.length > 0 ? 2 : 0
  },
})

async function replayOne(
  session: string,
  options: Options,
  price: NamedPrice | undefined,
  onCall: (done: CallReplayed) => void,
): Promise<Replayed> {
  const recording = await readSession(session)
  const { info, skipped } = recording
  const replay = replaySession(
    conversationOf(visibleMessages(recording)),
    { ...replayOptionsOf(options), ...(price ? { price } : {}) },
    createEnv(info.directory),
    onCall,
  )
  return { session: info.id, title: escapedLine(info.title) || info.id, skipped, replay }
}

/** What `--json` prints. Token counts are estimates; costs are in fresh input tokens. */
export type ReplayJson = {
  sessions: ({ session: string; title: string; skipped: number } & Figures)[]
  /** all sessions together; its peaks are the largest of any session */
  sum: Figures
  failed: FailedSession[]
}

/** A replay with ratios; null where the divisor is zero or no price is known. */
type Figures = Replay & {
  /** cost with the plugin, recalls included, divided by the cost without it */
  costRatio: number | null
  /** tokens sent with the plugin, divided by those sent without it */
  tokenRatio: number | null
  recallsPer100Calls: number | null
  savedUsd: number | null
}

function asJson(replayed: readonly Replayed[], sum: Replay, failed: readonly FailedSession[]): ReplayJson {
  return {
    sessions: replayed.map(({ replay, ...head }) => ({ ...head, ...figuresOf(replay) })),
    sum: figuresOf(sum),
    failed: [...failed],
  }
}

function figuresOf(replay: Replay): Figures {
  return {
    ...replay,
    costRatio: ratio(allIn(replay), replay.without.cost),
    tokenRatio: ratio(replay.with.tokens, replay.without.tokens),
    recallsPer100Calls: ratio(100 * replay.recalls.calls, replay.calls),
    savedUsd: savedUsd(replay) ?? null,
  }
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}
