// `hudfold status`: what the panel shows, for those who run OpenCode without its screen. Reads the status file that the
// plugin writes; asks nobody and changes nothing.
import { watch } from "node:fs"
import { isAbsolute, relative } from "node:path"
import { defineCommand } from "citty"
import { listStatus, readStatus, sessionOf, statusFolder } from "../status/files.ts"
import type { Status } from "../status/status.ts"
import { type Row, rowsOf, type Tone, withoutProcess } from "../status/words.ts"
import { dataFolder } from "../system/data-folder.ts"
import { isRunning } from "../system/process.ts"
import { ago } from "../text/text.ts"
import { quote, readFolder } from "./arguments.ts"
import { colours, harmless, oneLine, print, UsageError } from "./terminal.ts"

export const status = defineCommand({
  meta: { name: "status", description: "Print what the panel shows of a session: context, savings, folds, failures" },
  args: {
    session: {
      type: "positional",
      required: false,
      description: "A session id or the beginning of one; without it, the newest of this folder, else of all",
    },
    json: { type: "boolean", description: "Print the status as the plugin wrote it, a line each with --watch" },
    watch: { type: "boolean", description: "Print it anew whenever it changes, until Ctrl-C" },
    dir: { type: "string", valueHint: "FOLDER", description: "The project, not the working directory" },
  },
  async run({ args }) {
    const wanted: Wanted = {
      folder: statusFolder(dataFolder()),
      session: args.session,
      directory: readFolder("--dir", args.dir),
      json: args.json === true,
    }
    if (args.watch) await follow(wanted)
    else show(await find(wanted), wanted, false)
    return 0
  },
})

type Wanted = { folder: string; session: string | undefined; directory: string; json: boolean }

/** Throws UsageError. */
async function find({ folder, session, directory }: Wanted): Promise<Status> {
  const known = (await listStatus(folder)).map(({ sessionID }) => sessionID)
  const named = session === undefined ? known : known.filter((id) => id.startsWith(session))
  if (session !== undefined && named.length > 1 && !named.includes(session)) {
    const some = `${named.slice(0, 3).join(", ")}${named.length > 3 ? " and more" : ""}`
    throw new UsageError(`${quote(session)} begins more than one session id (${some}); give more of it`)
  }
  const candidates = session !== undefined && named.includes(session) ? [session] : named
  let newest: Status | undefined
  for (const id of candidates) {
    const status = await readStatus(folder, id)
    if (status && (session !== undefined || isAround(status.directory, directory))) return status
    newest ??= status
  }
  if (newest) return newest
  const look = "`hudfold doctor` says whether the plugin is loaded"
  if (session !== undefined && known.length > 0) {
    throw new UsageError(`no status of a session ${quote(session)} in ${folder}; the newest is ${known[0]}`)
  }
  throw new UsageError(`no session has a status in ${folder} yet: send OpenCode a message; ${look}`)
}

/** Whether one of the folders lies in the other. */
function isAround(project: string, directory: string): boolean {
  const isIn = (inner: string, outer: string) => {
    const way = relative(outer, inner)
    // on another drive there is no way
    return !/^\.\.(?:[/\\]|$)/.test(way) && !isAbsolute(way)
  }
  return isIn(directory, project) || isIn(project, directory)
}

function show(status: Status, { json, directory }: Wanted, isFollowed: boolean): void {
  const text = json ? JSON.stringify(status, null, isFollowed ? 0 : 2) : blockOf(status, directory, isFollowed)
  if (json || !isFollowed) print(text)
  // what does not fit the screen scrolls, where counting its lines to draw over them would go wrong
  else print(process.stdout.isTTY ? `\u001b[H\u001b[2J${text}` : `${text}\n\n`)
}

function blockOf(status: Status, directory: string, isFollowed: boolean): string {
  const { sessionID, directory: project, calls, model, writtenMs, pid, plugin, hud } = status
  const where = isAround(project, directory) ? "" : ` in ${project}`
  // an age would soon be wrong while it stands there
  const when = isFollowed ? `at ${new Date(writtenMs).toLocaleTimeString()}` : ago(Date.now() - writtenMs)
  const runs = isRunning(pid)
  const lines = [
    `session ${sessionID}${where}, ${calls === 1 ? "1 call" : `${calls} calls`}${model === undefined ? "" : `, ${model}`}`,
    `written ${when} by opencode-hudfold ${plugin}, process ${pid}${runs ? "" : ", which has ended"}`,
  ].map(oneLine)
  const rows = rowsOf(runs ? status : withoutProcess(status)).flatMap(linesOf)
  return [...lines, "", ...rows, ...(hud.text === undefined ? [] : ["", harmless(hud.text)])].join("\n")
}

const NAMES = 8
const COLOURS: Record<Tone, number | undefined> = { plain: undefined, muted: 2, good: 32, warn: 33, bad: 31 }

function linesOf({ name, text, tone, details }: Row): string[] {
  const colour = colours() ? COLOURS[tone] : undefined
  // some say their name themselves, since the panel has no names
  const bare = oneLine(text).replace(new RegExp(`^${name} `, "i"), "")
  const said = colour === undefined ? bare : `\u001b[${colour}m${bare}\u001b[0m`
  return [`${name.padEnd(NAMES)}  ${said}`, ...details.map((detail) => `${" ".repeat(NAMES + 2)}${oneLine(detail)}`)]
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Shows it and every change of it until a signal, which is the ordinary end. Throws UsageError. */
async function follow(wanted: Wanted): Promise<void> {
  // first of all, since a folder that is not there cannot be watched
  await find(wanted)
  let isEnded = false
  let wake = () => {}
  const watcher = watch(wanted.folder, (_, file) => {
    if (file !== null && sessionOf(file) !== undefined) wake()
  })
  const end = () => {
    isEnded = true
    wake()
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    for (let shown = ""; !isEnded; ) {
      // before it is read, so that no change falls between the two
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const status = await find(wanted)
      const seen = JSON.stringify(status)
      if (seen !== shown) show(status, wanted, true)
      shown = seen
      if (!isEnded) await changed
    }
  } finally {
    watcher.close()
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
