// `hudfold status`: prints what the panel shows, for users who run OpenCode without its screen. It only reads the status file
// that the plugin writes.

import { setTimeout as delay } from "node:timers/promises"
import { listStatus, readStatus, readSwitches, statusFolder } from "../status/files.ts"
import type { Status } from "../status/status.ts"
import { type StatusRow, statusRows, type Tone, withoutProcess, withSwitches } from "../status/words.ts"
import { openOpencode } from "../store/opencode.ts"
import { dataFolder, isInside } from "../system/data-folder.ts"
import { isRunning } from "../system/process.ts"
import { ago, plural } from "../text/format.ts"
import { escapeControls } from "../text/sanitize.ts"
import { defineCommand, quoteArgument, readFolder, UsageError } from "./command.ts"
import { coloured, escapedJson, escapedLine, isScreen, print, SIGNALS, wrapped } from "./terminal.ts"

export const status = defineCommand({
  description: "Print the status of a session: context, savings, folds, failures",
  args: {
    session: {
      type: "positional",
      description: "A session id or the beginning of one; by default your newest of this folder, else of all",
    },
    json: { type: "boolean", description: "Print the status file as JSON, one line per change with --watch" },
    watch: { type: "boolean", description: "Print it again on every change, until Ctrl-C" },
    dir: { type: "string", valueHint: "FOLDER", description: "The project, by default the working directory" },
  },
  async run(args) {
    const wanted: Wanted = {
      folder: statusFolder(dataFolder()),
      // as the other commands name it
      session: args.session === "latest" ? undefined : args.session,
      directory: readFolder(args.dir),
    }
    if (args.watch) await follow(wanted, args.json ?? false)
    else {
      const found = await find(wanted)
      const isOld = !isRunning(found.pid) && (await wentOn(found).catch(() => false))
      const when = ago(Date.now() - found.writtenMs)
      print(args.json ? escapedJson(found) : blockOf(found, wanted.directory, when, isOld))
    }
    return 0
  },
})

type Wanted = { folder: string; session: string | undefined; directory: string }

/** Throws UsageError. */
async function find({ folder, session, directory }: Wanted): Promise<Status> {
  const known = (await listStatus(folder)).map(({ sessionID }) => sessionID)
  const beginning = session ?? ""
  const named = known.includes(beginning) ? [beginning] : known.filter((id) => id.startsWith(beginning))
  if (session !== undefined && named.length > 1) {
    const some = `${named.slice(0, 3).join(", ")}${named.length > 3 ? " and more" : ""}`
    throw new UsageError(`${quoteArgument(session)} begins several session ids (${some}); give more characters`)
  }
  let found: Status | undefined
  let unread: string | undefined
  for (const id of named) {
    const status = await readStatus(folder, id)
    if (!status) unread ??= id
    if (!status || (session === undefined && status.parentID !== undefined)) continue
    const isHere = isRelated(status.directory, directory)
    if (isHere || !found) found = status
    if (isHere) break
  }
  if (found) return withSwitches(found, readSwitches(folder, found.sessionID))
  if (unread !== undefined) {
    const what = `the status of session ${unread} in ${folder} cannot be read, as if another version had written it`
    throw new UsageError(`${what}; \`hudfold doctor\` compares the versions`)
  }
  if (session !== undefined && known.length > 0) {
    throw new UsageError(`no status for session ${quoteArgument(session)} in ${folder}; the newest is ${known[0]}`)
  }
  throw new UsageError(
    `no session has a status in ${folder} yet: send OpenCode a message; \`hudfold doctor\` says whether the plugin is loaded`,
  )
}

/** Whether one of the folders contains the other. */
function isRelated(project: string, directory: string): boolean {
  return isInside(directory, project) || isInside(project, directory)
}

/** Whether a call was begun since the status was written, which is soon after a call begins. */
async function wentOn({ sessionID, writtenMs }: Status): Promise<boolean> {
  using database = await openOpencode()
  const { calls = [] } = database.sessionCosts([sessionID]).get(sessionID) ?? {}
  return calls.some(({ atMs }) => atMs > writtenMs)
}

/** `when`: it was written. `isOld`: the session has gone on since. */
function blockOf(status: Status, directory: string, when: string, isOld = false): string {
  const { sessionID, directory: project, calls, model, pid, plugin, hud } = status
  const where = isRelated(project, directory) ? "" : ` in ${project}`
  const runs = isRunning(pid)
  const lines = [
    `session ${sessionID}${where}, ${plural(calls, "call")}${model === undefined ? "" : `, ${model}`}`,
    `written ${when} by opencode-hudfold ${plugin}, process ${pid}${runs ? "" : ", which has ended"}`,
    ...(isOld ? ["the session has gone on without hudfold since, so what follows is how it was then"] : []),
  ].map((line) => wrapped(escapedLine(line), 2, 0))
  const rows = statusRows(runs ? status : withoutProcess(status)).flatMap(linesOf)
  const text = hud.activity === "on" && hud.text !== undefined ? ["", escapeControls(hud.text)] : []
  return [...lines, "", ...rows, ...text].join("\n")
}

const NAME_COLUMNS = 8
const COLOURS: Record<Tone, number | undefined> = { plain: undefined, muted: 2, good: 32, warn: 33, bad: 31 }

function linesOf({ name, text, tone, details }: StatusRow): string[] {
  // some rows begin or end with their name, since the panel does not print names
  const bare = escapedLine(text).replace(new RegExp(`^${name} | ${name}$`, "gi"), "")
  return [
    `${name.padEnd(NAME_COLUMNS)}  ${coloured(wrapped(bare, NAME_COLUMNS + 2), COLOURS[tone])}`,
    ...details.map(
      (detail) => `${" ".repeat(NAME_COLUMNS + 2)}${wrapped(escapedLine(detail), NAME_COLUMNS + 4, NAME_COLUMNS + 2)}`,
    ),
  ]
}

const POLL_MS = 250

/** Prints the status and every change until a signal, which is the normal end. Throws UsageError. */
async function follow(wanted: Wanted, json: boolean): Promise<void> {
  const stop = new AbortController()
  for (const signal of SIGNALS) process.once(signal, () => stop.abort())
  // polled as in the panel: events of a watched folder get lost
  for (let shown = ""; !stop.signal.aborted; ) {
    const status = await find(wanted)
    const seen = JSON.stringify([status, isRunning(status.pid)])
    if (seen !== shown) print(json ? escapedJson(status, 0) : redrawn(status, wanted))
    shown = seen
    await delay(POLL_MS, undefined, { signal: stop.signal }).catch(() => {})
  }
}

function redrawn(status: Status, { directory }: Wanted): string {
  // an age would soon be out of date on the screen
  const text = blockOf(status, directory, `at ${new Date(status.writtenMs).toLocaleTimeString()}`)
  // clears the screen, since moving up by the number of lines fails once the text has scrolled
  return isScreen(process.stdout) ? `\u001b[H\u001b[2J${text}` : `${text}\n\n`
}
