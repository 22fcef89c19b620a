// What the plugin saved while it ran, over all sessions: their bills added up by day, week, month, project and model.

import { billChange, type Cost, type Paid, sumPaid } from "../replay/paid.ts"

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

export type StatsRow = {
  name: string
  sessions: number
  calls: number
  recalls: number
  savedTokens: number
  /** all that was paid, and what would have been; without turns that are not billed by tokens */
  without: Cost
  with: Cost
  /** what the plugin adds to the bill as a share of it; negative when it saves */
  change: number
}

export function statsRow(name: string, turns: readonly MeasuredTurn[]): StatsRow {
  const sum = (key: "calls" | "recalls" | "savedTokens") => turns.reduce((total, turn) => total + turn[key], 0)
  const bill = sumPaid(turns.flatMap((turn) => turn.bill ?? []))
  return {
    name,
    sessions: new Set(turns.map(({ session }) => session)).size,
    calls: sum("calls"),
    recalls: sum("recalls"),
    savedTokens: sum("savedTokens"),
    ...bill,
    change: billChange(bill),
  }
}

/** One row for each day, project and so on: times newest first, others by what was paid. */
export function statsBy(key: StatsKey, turns: readonly MeasuredTurn[]): StatsRow[] {
  const groups = new Map<string, MeasuredTurn[]>()
  for (const turn of turns) {
    const name = nameIn(key, turn)
    const group = groups.get(name) ?? []
    group.push(turn)
    groups.set(name, group)
  }
  const rows = [...groups].map(([name, group]) => statsRow(name, group))
  const isTime = key === "day" || key === "week" || key === "month"
  return rows.sort((a, b) => (isTime ? (a.name < b.name ? 1 : -1) : b.with.cost - a.with.cost))
}

/** The bills of the sessions, in the order of their first turns. */
export function billsOfSessions(turns: readonly MeasuredTurn[]): Paid[] {
  const sessions = new Map<string, Paid[]>()
  for (const { session, bill } of turns) if (bill) sessions.set(session, [...(sessions.get(session) ?? []), bill])
  return [...sessions.values()].map((bills) => ({ ran: true, ...sumPaid(bills) }))
}

/** Days, weeks and months are those of the local time zone; a week is named by its Monday. */
function nameIn(key: StatsKey, { startedAt, project, model }: MeasuredTurn): string {
  if (key === "project") return project
  if (key === "model") return model
  const date = new Date(startedAt)
  if (key === "week") date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  const two = (number: number) => String(number).padStart(2, "0")
  const month = `${date.getFullYear()}-${two(date.getMonth() + 1)}`
  return key === "month" ? month : `${month}-${two(date.getDate())}`
}
