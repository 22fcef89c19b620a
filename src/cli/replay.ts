// `hudfold replay`: runs recorded sessions through the plugin and prints what it would have saved and lost.

import { REASONS } from "../fold/fold.ts"
import { addable, billChange, billOf, billsOf, savedCost, sumBills, sumReplays } from "../replay/bill.ts"
import { type Replay, replaySession } from "../replay/replay.ts"
import { billSentence, billWords, figuresOf, pricesWords, signedPercent, UNBILLED } from "../report/words.ts"
import { FIRST_FOLD } from "../status/words.ts"
import { amount, percent, plural, REASON_WORDS } from "../text/format.ts"
import { cut } from "../text/sanitize.ts"
import { defineCommand, JSON_ARGUMENT } from "./command.ts"
import {
  eachSession,
  type FailedSession,
  OPTIONS_ARGUMENT,
  PRICE_ARGUMENT,
  readReplayArguments,
  SESSION,
} from "./sessions.ts"
import { BOLD, coloured, columns, escapedJson, escapedLine, print, strong, wrapped } from "./terminal.ts"

export const replay = defineCommand({
  description:
    "Run recorded sessions through the plugin: what they would have cost with it, and what it would have lost",
  args: {
    "session...": { type: "positional", required: true, description: `${SESSION}; several are also summed up` },
    price: PRICE_ARGUMENT,
    json: JSON_ARGUMENT,
    options: OPTIONS_ARGUMENT,
  },
  async run(args) {
    const { options, replayOptions, sessions } = readReplayArguments(args)
    const { done: replayed, failed } = await eachSession(sessions, options, (session, onCall): Replayed => {
      const { info, skipped, messages, env, ran } = session
      const replay = replaySession(messages, replayOptions, env, onCall, ran)
      return { session: info.id, title: escapedLine(info.title), skipped, replay }
    })
    if (replayed.length === 0 && !args.json) return 2
    const sum = sumReplays(replayed.map((one) => one.replay))
    print(args.json ? escapedJson(asJson(replayed, sum, failed)) : forPeople(replayed, sum, options.fold.enabled))
    return failed.length > 0 ? 2 : 0
  },
})

/** What `--json` prints. Token counts are estimates; costs are in fresh input tokens. */
function asJson(replayed: readonly Replayed[], sum: Replay, failed: readonly FailedSession[]) {
  const bills = addable(billsOf(replayed.map(({ replay }) => replay)))
  return {
    sessions: replayed.map(({ replay, ...head }) => ({
      ...head,
      ...replay,
      /** the whole bill, or why there is none */
      bill: billOf(replay),
    })),
    /** all sessions together; its peaks are the largest of any session */
    sum,
    /** the whole bills of the sessions that have one in money, or else of those that have one */
    bill: { sessions: bills.length, ...sumBills(bills) },
    failed,
  }
}

type Replayed = {
  session: string
  title: string
  /** messages and parts that could not be read */
  skipped: number
  replay: Replay
}

const MAX_TITLE_CHARS = 40
const LABEL_COLUMNS = 20

function forPeople(replayed: readonly Replayed[], sum: Replay, mayFold: boolean): string {
  const [only] = replayed
  const name = replayed.length === 1 && only ? only.title : `${replayed.length} sessions`
  if (sum.calls === 0) return `${name}: no model calls, so there is nothing to replay`
  const isFolded = sum.folds.cuts > 0
  const rows = [...(isFolded ? figures(sum) : []), ...notes(replayed, sum)]
  const explained = isFolded
    ? "The first sentence is about all that is paid. The rows are about the conversation, estimated at four characters a token and 1,500 tokens an image or other file, without system prompt, tool definitions and the model's answers. `hudfold report` shows each fold, and what each tool costs."
    : unfoldedWords(replayed, sum, mayFold)
  return [
    strong(billSentence(replayed.map(({ replay }) => replay))),
    "",
    ...(replayed.length > 1 ? [...table(replayed), ""] : []),
    wrapped(`${name}, ${plural(sum.calls, "call")}, at ${pricesWords(sum)}`),
    wrapped(explained),
    ...(rows.length > 0 ? [""] : []),
    ...rows.map(
      ([title, said]) =>
        `  ${coloured(title.padEnd(LABEL_COLUMNS), BOLD)}${wrapped(escapedLine(said), LABEL_COLUMNS + 2)}`,
    ),
  ].join("\n")
}

/** What there is to say where nothing was folded: what the plugin would have added. */
function unfoldedWords(replayed: readonly Replayed[], { hud }: Replay, mayFold: boolean): string {
  const { from, to } = FIRST_FOLD
  const isShort = replayed.every(({ replay }) => replay.calls < to)
  const begins = isShort ? `that usually begins between calls ${from} and ${to}` : "no cut would have paid"
  const added = [
    ...(hud.noticeTokens > 0 ? ["the description of hud_recall in each request"] : []),
    ...(hud.calls > 0 ? [`a HUD of ${Math.round(hud.tokens / hud.calls)} tokens in ${plural(hud.calls, "call")}`] : []),
  ]
  const what = added.length > 0 ? ` hudfold would have added ${added.join(" and ")}.` : ""
  const why = mayFold ? begins : "the option fold.enabled is false"
  if (!replayed.some(({ replay }) => replay.ran)) return `Nothing would have been folded; ${why}.${what}`
  const room = "to make room, since the record does not say how large a request may be"
  return `With the options of this command, nothing would have been folded; ${why}.${what} Where hudfold ran, it may have folded all the same: with other options, or ${room}.`
}

type Row = readonly [title: string, said: string]

function figures(sum: Replay): Row[] {
  const { needs, heldNeeds } = sum.recalls
  const { cuts, byReason } = sum.folds
  const reasons = REASONS.flatMap((reason) => {
    const { count, tokens } = byReason[reason]
    return count > 0 ? [`${plural(count, "fold")} ${REASON_WORDS[reason]} (${amount(tokens)})`] : []
  })
  const held = `${heldNeeds} of them (${percent(heldNeeds / needs)}) stood in the record, the digest line or the HUD`
  return [
    ...figuresOf(sum).map(
      ([name, value, more]): Row => [name === "HUD" ? name : name.toLowerCase(), `${value} ${more}`],
    ),
    ...(needs > 0 ? [["needs", `${needs} names and lines were used after they were folded; ${held}`] as const] : []),
    ["cuts", `${cuts}: ${reasons.join(", ")}`],
  ]
}

function notes(replayed: readonly Replayed[], sum: Replay): Row[] {
  const several = replayed.length > 1
  const rows: Row[] = []
  // the table says it of the others
  const losing = replayed.filter(({ replay }) => billOf(replay) === "unreported" && savedCost(replay) < 0)
  if (several && losing.length > 0)
    rows.push(["dearer with it", losing.map(({ title }) => cut(title, MAX_TITLE_CHARS)).join("; ")])
  const given = new Set(replayed.map(({ session }) => session))
  const subagents = sum.subagents.filter((id) => !given.has(id))
  if (subagents.length > 0)
    rows.push(["subagents", `${plural(subagents.length, "session")} not included, such as ${subagents[0]}`])
  const skipped = replayed.reduce((total, one) => total + one.skipped, 0)
  if (skipped > 0) rows.push(["unreadable", `${skipped} messages or parts left out`])
  return rows
}

/** What is paid for each session. */
function table(replayed: readonly Replayed[]): string[] {
  const hasRun = replayed.some(({ replay }) => replay.ran)
  const rows = replayed.map(({ title, replay }) => {
    const bill = billOf(replay)
    const paid =
      typeof bill === "string"
        ? [UNBILLED[bill].short, "", ""]
        : [billWords(bill.without), billWords(bill.with), signedPercent(billChange(bill))]
    const name = cut(title, MAX_TITLE_CHARS)
    return [name, `${replay.calls}`, ...paid, ...(hasRun ? [replay.ran ? "ran" : "–"] : [])]
  })
  const head = ["session", "calls", "bill without", "bill with", "change", ...(hasRun ? ["hudfold"] : [])]
  return columns(head, rows)
}
