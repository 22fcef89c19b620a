// What the plugin saved while it ran, over all sessions: their bills added up by day, week, month, project and model.

import { billChange, type Paid, sumPaid } from "../replay/paid.ts"
import { localDate } from "./words.ts"

/** One finished turn of a session in which the plugin ran. */
export type MeasuredTurn = {
  /** of a subagent, the session that the user talks to */
  session: string
  startedAt: number
  calls: number
  recalls: number
  /** input tokens that were not sent */
  savedTokens: number
  project: string
  model: string
  /** undefined where fewer tokens save no money */
  bill: Paid | undefined
}

export const STATS_KEYS = ["day", "week", "month", "project", "model"] as const
export type StatsKey = (typeof STATS_KEYS)[number]

export type StatsRow = ReturnType<typeof statsRow>

export function statsRow(name: string, turns: readonly MeasuredTurn[]) {
  const sum = (key: "calls" | "recalls" | "savedTokens") => turns.reduce((total, turn) => total + turn[key], 0)
  const bill = sumPaid(turns.flatMap((turn) => turn.bill ?? []))
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
export function statsBy(key: StatsKey, turns: readonly MeasuredTurn[]): StatsRow[] {
  const rows = [...Map.groupBy(turns, (turn) => nameIn(key, turn))].map(([name, group]) => statsRow(name, group))
  const isTime = key === "day" || key === "week" || key === "month"
  return rows.sort((a, b) => (isTime ? (a.name < b.name ? 1 : -1) : b.with.cost - a.with.cost))
}

/** The bills of the sessions, in the order of their first turns. */
export function billsOfSessions(turns: readonly MeasuredTurn[]): Paid[] {
  const billed = turns.flatMap(({ session, bill }) => (bill ? [{ session, bill }] : []))
  const sessions = Map.groupBy(billed, ({ session }) => session)
  return Array.from(sessions.values(), (bills) => ({ ran: true, ...sumPaid(bills.map(({ bill }) => bill)) }))
}

/** Days, weeks and months are those of the local time zone; a week is named by its Monday. */
function nameIn(key: StatsKey, { startedAt, project, model }: MeasuredTurn): string {
  if (key === "project") return project
  if (key === "model") return model
  const date = new Date(startedAt)
  if (key === "week") date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  return localDate(date).slice(0, key === "month" ? 7 : undefined)
}
