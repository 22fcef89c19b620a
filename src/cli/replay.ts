// `hudfold replay`: runs recorded sessions through the plugin and prints what it would have saved and lost.

import { defineCommand } from "citty"
import { allIn, paidOf, savedUsd, sumOf, sumPaid } from "../replay/paid.ts"
import { type Replay, replaySession } from "../replay/replay.ts"
import { forPeople, type Replayed } from "./replay-words.ts"
import { runOnBun } from "./runtime.ts"
import {
  eachSession,
  type FailedSession,
  needBun,
  OPTIONS_ARGUMENT,
  PRICE_ARGUMENT,
  readReplayArguments,
  SESSION,
} from "./sessions.ts"
import { escapedLine, print } from "./terminal.ts"

export const replay = defineCommand({
  meta: {
    name: "replay",
    description:
      "Run recorded sessions through the plugin: what they would have cost with it, and what it would have lost",
  },
  args: {
    "session...": { type: "positional", required: true, description: `${SESSION}; several are also summed up` },
    price: PRICE_ARGUMENT,
    json: { type: "boolean", description: "Print JSON for programs" },
    options: OPTIONS_ARGUMENT,
  },
  async run({ args, rawArgs }) {
    const { given, options, sessions } = readReplayArguments(args, "replay")
    if (needBun(sessions, given)) return runOnBun(["replay", ...rawArgs])
    const { done: replayed, failed } = await eachSession(sessions, given, (session, onCall): Replayed => {
      const { info, skipped, messages, env, ran } = session
      const replay = replaySession(messages, options, env, onCall, ran)
      return { session: info.id, title: escapedLine(info.title) || info.id, skipped, replay }
    })
    if (replayed.length === 0 && !args.json) return 2
    const sum = sumOf(replayed.map((one) => one.replay))
    print(args.json ? JSON.stringify(asJson(replayed, sum, failed), null, 2) : forPeople(replayed, sum))
    return failed.length > 0 ? 2 : 0
  },
})

/** What `--json` prints. Token counts are estimates; costs are in fresh input tokens. */
function asJson(replayed: readonly Replayed[], sum: Replay, failed: readonly FailedSession[]) {
  return {
    sessions: replayed.map(({ replay, ...head }) => ({
      ...head,
      ...figuresOf(replay),
      /** the whole bill, or why there is none */
      bill: paidOf(replay),
    })),
    /** all sessions together; its peaks are the largest of any session */
    sum: figuresOf(sum),
    /** the whole bills of the sessions that have one; `usd` where all have prices */
    bill: billOf(replayed),
    failed,
  }
}

function billOf(replayed: readonly Replayed[]) {
  const bills = replayed.map(({ replay }) => paidOf(replay)).filter((bill) => typeof bill === "object")
  return { sessions: bills.length, ...sumPaid(bills) }
}

/** A replay with ratios; null where the divisor is zero or no price is known. */
function figuresOf(replay: Replay) {
  return {
    ...replay,
    /** cost with the plugin, recalls included, divided by the cost without it */
    costRatio: ratio(allIn(replay), replay.without.cost),
    /** tokens sent with the plugin, divided by those sent without it */
    tokenRatio: ratio(replay.with.tokens, replay.without.tokens),
    recallsPer100Calls: ratio(100 * replay.recalls.calls, replay.calls),
    savedUsd: savedUsd(replay) ?? null,
  }
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}
