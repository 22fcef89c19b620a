// `hudfold report`: recorded sessions as one HTML file to look at, with the plugin and without.
import { resolve } from "node:path"
import { defineCommand } from "citty"
import manifest from "../../package.json" with { type: "json" }
import { createEnv } from "../digest/env.ts"
import type { Tariff } from "../fold/tariff.ts"
import { sumOf } from "../replay/sum.ts"
import { readClient } from "../report/client.ts"
import { pageOf } from "../report/page.ts"
import { reportSession, withoutNames } from "../report/session.ts"
import { headline } from "../report/words.ts"
import { standing } from "../store/recording.ts"
import { eachSession } from "./each-session.ts"
import { checkPlace, writePage } from "./report-file.ts"
import { hasSqlite, runOnBun } from "./runtime.ts"
import {
  kindOf,
  readOptionsGiven,
  readPrice,
  readSession,
  replayOptionsOf,
  SESSION,
  standingAnywhere,
} from "./sessions-given.ts"
import { oneLine, print, UsageError } from "./terminal.ts"

const FILE = "hudfold-report.html"
/** Without a session named: the newest so many of so many days. */
const NEWEST = 20
const DAYS = 30
const DAY_MS = 86_400_000

export const report = defineCommand({
  meta: {
    name: "report",
    description: "Write an HTML file that shows recorded sessions with the plugin and without, call by call",
  },
  args: {
    "session...": {
      type: "positional",
      required: false,
      description: `${SESSION}; without any, the newest ${NEWEST} of the last ${DAYS} days`,
    },
    out: { type: "string", valueHint: "FILE", description: `The file to write, ${FILE} by default` },
    price: {
      type: "string",
      valueHint: "NAME",
      description: "Reckon with this provider, such as anthropic or openai, in place of the session's own",
    },
    days: { type: "string", valueHint: "N", description: `Without a session named: of the last N days, not ${DAYS}` },
    options: { type: "string", valueHint: "JSON", description: "The plugin's options, as in opencode.json" },
  },
  async run({ args }) {
    const options = readOptionsGiven(args.options)
    if (!options.enabled) throw new UsageError("--options: with enabled false there is nothing to report")
    const price = args.price === undefined ? undefined : readPrice(args.price, options)
    const given = [...new Set(args._)]
    if (given.length > 0 && args.days !== undefined) throw new UsageError("--days is for when no session is named")
    const days = args.days === undefined ? DAYS : readDays(args.days)
    const path = resolve(args.out ?? FILE)
    if (!hasSqlite() && (given.length === 0 || given.some((session) => kindOf(session) === "id")))
      return runOnBun(["report", ...argumentsAgain(given, path, args)])
    await checkPlace(path)
    const client = await readClient()
    const tariffs = new Map<string, Tariff>()
    const replayOptions = { ...replayOptionsOf(options), ...(price ? { price } : {}) }
    const asked = given.length > 0 ? given : await newest(days)
    const { done: sessions, failed } = await eachSession(asked, async (session, onCall) => {
      const recording = await readSession(session)
      const { id, title, directory } = recording.info
      const stored = { id, title, skipped: recording.skipped, messages: standing(recording) }
      return reportSession(stored, replayOptions, createEnv(directory), tariffs, onCall)
    })
    if (sessions.length === 0) return 2
    const sum = sumOf(sessions.map(({ replay }) => replay))
    const html = pageOf(
      {
        madeBy: `opencode-hudfold ${manifest.version}`,
        madeAtMs: Date.now(),
        ...(args.price === undefined ? {} : { price: args.price }),
        ...{ sum: withoutNames(sum), tariffs: [...tariffs.values()], sessions, failed: failed.length },
      },
      client,
    )
    const code = await writePage(path, html)
    if (code !== 0) return code
    const which = sessions.length === 1 ? oneLine(sessions[0]?.title ?? "") : `${sessions.length} sessions`
    print([`${oneLine(path)}, ${kilobytes(html)} kB: ${which}`, ...headline(sum)].join("\n  "))
    return failed.length > 0 ? 2 : 0
  },
})

/** Ids of the user's newest sessions. Throws UsageError when there are none. */
async function newest(days: number): Promise<string[]> {
  const { openOpencode } = await import("../store/opencode.ts")
  const database = await openOpencode()
  try {
    const since = Date.now() - days * DAY_MS
    const found = database.listSessions({ limit: NEWEST }).filter(({ time }) => (time?.updated ?? 0) >= since)
    if (found.length > 0) return found.map(({ id }) => id)
    throw new UsageError(`no session of the last ${days} days in ${database.path}; name one, or give --days more`)
  } finally {
    database.close()
  }
}

function readDays(text: string): number {
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= 36_500) return days
  throw new UsageError(`--days must be a whole number from 1, got ${JSON.stringify(text)}`)
}

function kilobytes(html: string): number {
  return Math.ceil(Buffer.byteLength(html) / 1000)
}

/** The same arguments for a process that runs in another folder. */
function argumentsAgain(
  sessions: readonly string[],
  path: string,
  { price, days, options }: { [name in "price" | "days" | "options"]?: string | undefined },
): string[] {
  const values = Object.entries({ out: path, price, days, options })
  const named = values.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]))
  return [...named, "--", ...standingAnywhere(sessions)]
}
