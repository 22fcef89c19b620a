// `hudfold stats`: what the plugin measurably saved in all sessions in which it ran.

import { homedir } from "node:os"
import { sep } from "node:path"
import { defineCommand } from "citty"
import { pricingOf } from "../fold/pricing-table.ts"
import { pricingOverride } from "../options.ts"
import { costOf, measuredBill, type Paid } from "../replay/paid.ts"
import {
  billsOfSessions,
  type MeasuredTurn,
  STATS_KEYS,
  type StatsKey,
  type StatsRow,
  statsBy,
  statsRow,
} from "../report/stats.ts"
import { billWords, measuredSentence, signedPercent } from "../report/words.ts"
import { StoreError } from "../store/errors.ts"
import type { SessionCosts } from "../store/opencode.ts"
import type { Turn } from "../store/record.ts"
import { amount, plural } from "../text/format.ts"
import { quoteArgument, readNumber } from "./arguments.ts"
import { runOnBun } from "./runtime.ts"
import { needBun, OPTIONS_ARGUMENT, readOptionsGiven } from "./sessions.ts"
import { BOLD, coloured, columns, escapedLine, print, strong, UsageError, wrapped } from "./terminal.ts"

const DAY_MS = 86_400_000
/** What is shown when nothing is chosen. */
const SHOWN: readonly StatsKey[] = ["month", "project", "model"]

export const stats = defineCommand({
  meta: { name: "stats", description: "What the plugin has saved in all sessions, as measured while it ran" },
  args: {
    by: { type: "string", valueHint: "WHAT", description: `One table only: by ${STATS_KEYS.join(", ")}` },
    days: { type: "string", valueHint: "N", description: "Only the last N days; by default all that is kept, 90 days" },
    json: { type: "boolean", description: "Print JSON for programs" },
    options: OPTIONS_ARGUMENT,
  },
  async run({ args, rawArgs }) {
    const options = readOptionsGiven(args.options)
    const keys = args.by === undefined ? SHOWN : [readKey(args.by)]
    const days = args.days === undefined ? undefined : readNumber("--days", args.days, 36_500)
    if (needBun(["latest"], options)) return runOnBun(["stats", ...rawArgs])
    const { readTurns } = await import("../store/turns.ts")
    const since = days === undefined ? 0 : Date.now() - days * DAY_MS
    const stored = (await readTurns(options.store.path)).filter(({ startedAt }) => startedAt >= since)
    const costs = await readCosts([...new Set(stored.map(({ sessionID }) => sessionID))])
    const turns = measuredTurns(stored, costs, pricingOverride(options))
    if (args.json) print(JSON.stringify(asJson(turns), null, 2))
    else if (turns.length > 0) print(forPeople(turns, keys))
    else {
      const when = days === undefined ? "yet" : `in the last ${plural(days, "day")}`
      const what = `nothing is measured ${when}: a turn counts when it ends`
      throw new UsageError(`${what}; \`hudfold doctor\` checks the plugin`)
    }
    return 0
  },
})

/** Throws UsageError. */
function readKey(given: string): StatsKey {
  const key = STATS_KEYS.find((one) => one === given)
  if (key) return key
  throw new UsageError(`--by must be one of ${STATS_KEYS.join(", ")}, got ${quoteArgument(given)}`)
}

/** Empty where OpenCode's database cannot be read: then there are no projects, and no sums in money. */
async function readCosts(ids: readonly string[]): Promise<SessionCosts> {
  try {
    const { withOpencode } = await import("../store/opencode.ts")
    return await withOpencode((database) => database.sessionCosts(ids))
  } catch (error) {
    if (error instanceof StoreError) return new Map()
    throw error
  }
}

/** A call may have begun this much before the turn it belongs to, by the clocks of two processes. */
const MAX_EARLY_MS = 10_000

/** The turns in which the plugin prepared requests, with what OpenCode recorded as their cost. */
function measuredTurns(
  turns: readonly Turn[],
  costs: SessionCosts,
  override: ReturnType<typeof pricingOverride>,
): MeasuredTurn[] {
  const bySession = Map.groupBy(turns, ({ sessionID }) => sessionID)
  return [...bySession.values()].flatMap((ofSession) => {
    let from = 0
    return ofSession.flatMap((turn): MeasuredTurn[] => {
      const recorded = costs.get(turn.sessionID)
      const begins = Math.max(from, turn.startedAt - MAX_EARLY_MS)
      from = turn.endedAt
      if (turn.inputCostWithout === 0) return []
      const calls = recorded?.calls.filter(({ atMs }) => atMs > begins && atMs <= turn.endedAt) ?? []
      // a session without any charge has no known price
      const usd = recorded?.calls.some(({ usd }) => usd > 0) ? calls.reduce((sum, { usd }) => sum + usd, 0) : undefined
      return [
        {
          session: rootOf(turn.sessionID, costs),
          startedAt: turn.startedAt,
          calls: turn.calls,
          recalls: turn.recalls,
          savedTokens: turn.savedTokens,
          project: recorded?.directory ?? "unknown (not in OpenCode any more)",
          model: turn.modelID === "" ? "unknown" : `${turn.providerID}/${turn.modelID}`,
          bill: billOf(turn, usd, override),
        },
      ]
    })
  })
}

function billOf(turn: Turn, usd: number | undefined, override: ReturnType<typeof pricingOverride>): Paid | undefined {
  const { providerID, modelID, inputCost, inputCostWithout, outputTokens, savedUsd } = turn
  // some models match another row when they have a price; here they had one, but its amount is unknown
  const charged = usd ? { cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 } } : {}
  const { output, billing } = pricingOf({ providerID, modelID, ...charged }, override)
  if (billing !== "tokens") return
  return measuredBill(costOf(inputCost + outputTokens * output, usd), inputCostWithout - inputCost, savedUsd)
}

/** The session that a subagent's session belongs to in the end. */
function rootOf(id: string, costs: SessionCosts): string {
  const seen = new Set([id])
  for (let at = id; ; ) {
    const parent = costs.get(at)?.parentID
    if (parent === undefined || seen.has(parent)) return at
    seen.add(parent)
    at = parent
  }
}

function asJson(turns: readonly MeasuredTurn[]) {
  return {
    /** in milliseconds since 1970; null without a turn */
    since: firstMs(turns) ?? null,
    sum: statsRow("all", turns),
    ...Object.fromEntries(STATS_KEYS.map((key) => [key, statsBy(key, turns)])),
  }
}

function firstMs(turns: readonly MeasuredTurn[]): number | undefined {
  return turns.length > 0 ? Math.min(...turns.map(({ startedAt }) => startedAt)) : undefined
}

function forPeople(turns: readonly MeasuredTurn[], keys: readonly StatsKey[]): string {
  const { sessions, calls, recalls, savedTokens } = statsRow("all", turns)
  const bills = billsOfSessions(turns)
  const since = new Date(firstMs(turns) ?? 0).toLocaleDateString("en-GB", { dateStyle: "medium" })
  const counts = `${plural(calls, "call")}, ${amount(savedTokens)} tokens not sent, ${plural(recalls, "recall")}`
  const unbilled = sessions - bills.length
  return [
    strong(measuredSentence(bills)),
    "",
    wrapped(`Measured from the provider's reports since ${since}: ${counts}.`),
    ...(unbilled > 0
      ? [wrapped(`Not in the sums in money: ${plural(unbilled, "session")} not billed by tokens.`)]
      : []),
    ...keys.flatMap((key) => ["", ...table(key, statsBy(key, turns))]),
  ].join("\n")
}

function table(key: StatsKey, rows: readonly StatsRow[]): string[] {
  const cells = rows.map(({ name, sessions, calls, without, with: paid, change }) => [
    key === "project" ? escapedLine(shortProject(name)) : escapedLine(name),
    `${sessions}`,
    `${calls}`,
    billWords(paid),
    billWords(without),
    signedPercent(change),
  ])
  const head = [key === "week" ? "week of" : key, "sessions", "calls", "paid", "without it", "change"]
  const [titles = "", ...lines] = columns([head, ...cells], (at) => at > 0)
  return [coloured(titles, BOLD), ...lines]
}

/** With `~` for the home folder. */
function shortProject(path: string): string {
  const home = homedir() + sep
  return path.startsWith(home) ? `~${sep}${path.slice(home.length)}` : path
}
