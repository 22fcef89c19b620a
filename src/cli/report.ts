// `hudfold report`: writes recorded sessions, with and without the plugin, into one HTML file.

import { resolve } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { pageOf, readPageAssets } from "../report/page.ts"
import { reportSession } from "../report/session.ts"
import { billSentence } from "../report/words.ts"
import { openOpencode } from "../store/opencode.ts"
import { DAY_MS } from "../system/data-folder.ts"
import { byteSize, plural } from "../text/format.ts"
import { defineCommand, readNumber, UsageError } from "./command.ts"
import { eachSession, OPTIONS_ARGUMENT, PRICE_ARGUMENT, readReplayArguments, SESSION } from "./sessions.ts"
import { escapedLine, print, strong } from "./terminal.ts"
import { checkPath, writeTo } from "./written-file.ts"

const DEFAULT_FILE = "hudfold-report.html"
/** Without sessions on the command line: the newest of the last days. */
const MAX_NEWEST = 20
const DEFAULT_DAYS = 30

export const report = defineCommand({
  description: "Write an HTML file that shows recorded sessions with the plugin and without, call by call",
  args: {
    "session...": {
      type: "positional",
      description: `${SESSION}; without any, the newest ${MAX_NEWEST} of the last ${DEFAULT_DAYS} days`,
    },
    out: { type: "string", valueHint: "FILE", description: `The file to write, by default ${DEFAULT_FILE}` },
    price: PRICE_ARGUMENT,
    days: {
      type: "string",
      valueHint: "N",
      description: `Without sessions: how many days to look back, by default ${DEFAULT_DAYS}`,
    },
    options: OPTIONS_ARGUMENT,
  },
  async run(args) {
    const { options, replayOptions, sessions: named } = readReplayArguments(args)
    if (named.length > 0 && args.days !== undefined) throw new UsageError("--days cannot be combined with sessions")
    const days = readNumber("--days", args.days) ?? DEFAULT_DAYS
    const path = resolve(args.out ?? DEFAULT_FILE)
    await checkPath("--out", path)
    const assets = await readPageAssets()
    const asked = named.length > 0 ? named : await newestSessions(days)
    const { done: sessions, failed } = await eachSession(asked, options, ({ info, env, ...session }, onCall) =>
      reportSession({ ...info, ...session }, replayOptions, env, onCall),
    )
    if (sessions.length === 0) return 2
    const replays = sessions.map(({ replay }) => replay)
    const madeBy = `opencode-hudfold ${manifest.version}`
    const data = { madeBy, madeAtMs: Date.now(), price: args.price, sessions, failed: failed.length }
    const html = pageOf(data, assets)
    await writeTo("--out", path, html)
    const which = sessions.length === 1 ? escapedLine(sessions[0]?.title ?? "") : `${sessions.length} sessions`
    const written = `${escapedLine(path)}, ${byteSize(Buffer.byteLength(html))}: ${which}`
    print(`${strong(billSentence(replays))}\n\n${written}\nIt contains text of your sessions: do not commit it.`)
    return failed.length > 0 ? 2 : 0
  },
})

/** The ids of the newest sessions. Throws UsageError when there are none. */
async function newestSessions(days: number): Promise<string[]> {
  using database = await openOpencode()
  const since = Date.now() - days * DAY_MS
  const found = database.listSessions({ limit: MAX_NEWEST }).filter(({ time }) => (time?.updated ?? 0) >= since)
  if (found.length > 0) return found.map(({ id }) => id)
  const what = `no session in the last ${plural(days, "day")} in ${database.path}`
  throw new UsageError(`${what}; name one, or use a larger --days`)
}
