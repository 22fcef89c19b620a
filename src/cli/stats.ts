// `hudfold stats`: what the plugin measurably saved in all sessions in which it ran.

import type { PricingOverride } from "../fold/pricing.ts"
import { pricingOverride } from "../options.ts"
import { addable, billChange, costOf, measuredBill, type SessionBill, sumBills } from "../replay/bill.ts"
import { recordedPricing } from "../replay/prices.ts"
import { billWords, localDate, measuredSentence, signedPercent } from "../report/words.ts"
import { StoreError } from "../store/errors.ts"
import { openOpencode, type SessionCosts } from "../store/opencode.ts"
import { callsOfTurn, readTurns } from "../store/turns.ts"
import type { Turn } from "../store/writes.ts"
import { DAY_MS, shortFolder, storePath } from "../system/data-folder.ts"
import { groupBy } from "../system/values.ts"
import { amount, plural } from "../text/format.ts"
import { defineCommand, JSON_ARGUMENT, readChoice, readNumber, UsageError } from "./command.ts"
import { OPTIONS_ARGUMENT, readOptionsGiven } from "./sessions.ts"
import { columns, complain, escapedJson, escapedLine, print, strong, wrapped } from "./terminal.ts"

const KEYS = ["day", "week", "month", "project", "model"] as const
type Key = (typeof KEYS)[number]
const SHOWN: readonly Key[] = ["month", "project", "model"]

export const stats = defineCommand({
  description: "What the plugin has saved in all sessions, from the provider's reports",
  args: {
    by: { type: "string", valueHint: "WHAT", description: `One table only: by ${KEYS.join(", ")}` },
    days: { type: "string", valueHint: "N", description: "Only the last N days; by default all that is kept, 90 days" },
    json: JSON_ARGUMENT,
    options: OPTIONS_ARGUMENT,
  },
  async run(args) {
    const options = readOptionsGiven(args.options)
    const by = readChoice("--by", args.by, KEYS)
    const days = readNumber("--days", args.days)
    const since = days === undefined ? 0 : Date.now() - days * DAY_MS
    const stored = (await readTurns(options.store.path)).filter(({ startedAt }) => startedAt >= since)
    const costs = await readCosts([...new Set(stored.map(({ sessionID }) => sessionID))])
    const turns = measuredTurns(stored, costs, pricingOverride(options))
    if (args.json) print(escapedJson(asJson(turns)))
    else if (turns.length > 0) print(forPeople(turns, by ? [by] : SHOWN))
    else {
      const when = days === undefined ? "yet" : `in the last ${plural(days, "day")}`
      const what = `nothing is measured in ${storePath(options.store.path)} ${when}: a turn counts when it ends, and none does with store.enabled false`
      throw new UsageError(`${what}; \`hudfold doctor\` checks the plugin`)
    }
    return 0
  },
})

/** Empty, with a warning, where OpenCode's database cannot be read. */
async function readCosts(ids: readonly string[]): Promise<SessionCosts> {
  try {
    using database = await openOpencode()
    return database.sessionCosts(ids)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (ids.length > 0) complain(`there are no projects and no sums in money: ${error.message}`)
    return new Map()
  }
}

/** One finished turn in which the plugin prepared requests. */
type MeasuredTurn = ReturnType<typeof measuredTurns>[number]

function measuredTurns(turns: readonly Turn[], costs: SessionCosts, override: PricingOverride) {
  const bySession = groupBy(turns, ({ sessionID }) => sessionID)
  return [...bySession.values()].flatMap((ofSession) =>
    ofSession.flatMap((turn, at) => {
      const { sessionID, startedAt, calls, recalls, tokens, costWithout, providerID, modelID } = turn
      const recorded = costs.get(sessionID)
      const made = callsOfTurn(ofSession, at, recorded?.calls ?? [])
      // what was saved in a turn that was undone is no saving on what is left
      if (costWithout === 0 || (recorded && made.length === 0)) return []
      // a session without any charge has no known price
      const usd = recorded?.calls.some(({ usd }) => usd > 0) ? made.reduce((sum, { usd }) => sum + usd, 0) : undefined
      return {
        /** of a subagent, the session that the user talks to */
        session: rootOf(sessionID, costs),
        startedAt,
        calls,
        recalls,
        /** input tokens that were not sent */
        savedTokens: tokens,
        project: recorded?.directory ?? "unknown (not in OpenCode any more)",
        model: modelID === "" ? "unknown" : `${providerID}/${modelID}`,
        /** what was paid, and what would have been; undefined where fewer tokens save no money */
        bill: billOfTurn(turn, usd, override),
      }
    }),
  )
}

function billOfTurn(turn: Turn, usd: number | undefined, override: PricingOverride): SessionBill | undefined {
  const { providerID, modelID, cost, costWithout, output } = turn
  const pricing = recordedPricing({ providerID, modelID }, Boolean(usd), override)
  if (pricing.billing !== "tokens") return
  return measuredBill(costOf(cost + output * pricing.output, usd), costWithout - cost, turn.usd)
}

/** The session that a subagent's session belongs to in the end. `below`: in a damaged database it may belong to itself. */
function rootOf(id: string, costs: SessionCosts, below: readonly string[] = []): string {
  const parent = costs.get(id)?.parentID
  return parent === undefined || below.includes(parent) ? id : rootOf(parent, costs, [...below, id])
}

type Row = ReturnType<typeof rowOf>

function rowOf(name: string, turns: readonly MeasuredTurn[]) {
  const sum = (key: "calls" | "recalls" | "savedTokens") => turns.reduce((total, turn) => total + turn[key], 0)
  const bill = sumBills(turns.flatMap((turn) => turn.bill ?? []))
  return {
    name,
    sessions: new Set(turns.map(({ session }) => session)).size,
    calls: sum("calls"),
    recalls: sum("recalls"),
    savedTokens: sum("savedTokens"),
    /** all that was paid, and what would have been; without turns that are not billed by tokens */
    ...bill,
    /** what the plugin adds to the bill as a share of it; negative when it saves */
    change: billChange(bill),
  }
}

/** One row for each day, project and so on: times newest first, others by what was paid. */
function rowsBy(key: Key, turns: readonly MeasuredTurn[]): Row[] {
  const rows = [...groupBy(turns, (turn) => nameIn(key, turn))].map(([name, group]) => rowOf(name, group))
  if (key === "project" || key === "model") return rows.sort((a, b) => b.with.cost - a.with.cost)
  return rows.sort((a, b) => (a.name < b.name ? 1 : -1))
}

/** Days, weeks and months are those of the local time zone; a week is named by its Monday. */
function nameIn(key: Key, turn: MeasuredTurn): string {
  if (key === "project" || key === "model") return turn[key]
  const date = new Date(turn.startedAt)
  if (key === "week") date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  return localDate(date).slice(0, key === "month" ? 7 : undefined)
}

function firstMs(turns: readonly MeasuredTurn[]): number {
  return Math.min(...turns.map(({ startedAt }) => startedAt))
}

function asJson(turns: readonly MeasuredTurn[]) {
  return {
    /** in milliseconds since 1970; null without a turn */
    since: turns.length > 0 ? firstMs(turns) : null,
    sum: rowOf("all", turns),
    ...Object.fromEntries(KEYS.map((key) => [key, rowsBy(key, turns)])),
  }
}

function forPeople(turns: readonly MeasuredTurn[], keys: readonly Key[]): string {
  const { sessions, calls, recalls, savedTokens } = rowOf("all", turns)
  const billsOfSessions = [...groupBy(turns, ({ session }) => session).values()].map((group) =>
    group.flatMap(({ bill }) => bill ?? []),
  )
  const bills = billsOfSessions.flatMap((group) => (group.length > 0 ? { ran: true, ...sumBills(group) } : []))
  const since = new Date(firstMs(turns)).toLocaleDateString("en-GB", { dateStyle: "medium" })
  const sent = `${amount(Math.abs(savedTokens))} tokens ${savedTokens < 0 ? "more" : "not"} sent`
  const counts = `${plural(calls, "call")}, ${sent}, ${plural(recalls, "recall")}`
  const unbilled = sessions - addable(bills).length
  return [
    strong(measuredSentence(bills)),
    "",
    wrapped(`From the provider's reports since ${since}: ${counts}.`),
    ...(unbilled > 0
      ? [wrapped(`Not in the sums in money: ${plural(unbilled, "session")} not billed by tokens or without a price.`)]
      : []),
    ...keys.flatMap((key) => ["", ...table(key, rowsBy(key, turns))]),
  ].join("\n")
}

function table(key: Key, rows: readonly Row[]): string[] {
  const cells = rows.map(({ name, sessions, calls, without, with: paid, change }) => [
    escapedLine(key === "project" ? shortFolder(name) : name),
    `${sessions}`,
    `${calls}`,
    // nothing in it is billed by tokens
    ...(without.cost > 0 ? [billWords(paid), billWords(without), signedPercent(change)] : ["–", "–", "–"]),
  ])
  const head = [key === "week" ? "week of" : key, "sessions", "calls", "paid", "without it", "change"]
  return columns(head, cells)
}
