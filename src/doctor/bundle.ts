// The file for a bug report: the findings of the doctor, versions, and sessions, logs and options without their private parts.
// All of it passes through `withoutPrivate`: secrets that can be recognized are gone, the home folder is `~` and projects are
// `<project>`. Text that quotes the user is replaced by counts.

import { createReadStream } from "node:fs"
import { readdir, realpath, stat } from "node:fs/promises"
import { arch, platform, release } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { placesIn, readInstalled } from "../engine/installed.ts"
import { REASONS, type Reason } from "../fold/fold.ts"
import { probeMachine } from "../setup/machine.ts"
import type { Status } from "../status/status.ts"
import { dataFolder, opencodeFolder } from "../system/data-folder.ts"
import { redact } from "../text/redact/redact.ts"
import { REDACTED } from "../text/redact/value.ts"
import type { Examination, Findings } from "./checks.ts"
import type { CheckResult } from "./result.ts"

/** For `JSON.stringify`. Rejects only with the signal's reason. */
export async function bundleOf(
  checks: readonly CheckResult[],
  { opencode, options, statuses, databases }: Findings,
  { env, home, directory, version, signal }: Examination,
): Promise<object> {
  const data = dataFolder(env, home)
  const { engine, model } = await readInstalled(placesIn(data))
  // the Node version that Bun names is the one it imitates
  const { bun, node } = process.versions
  const bundle = {
    about: { what: "hudfold doctor --bundle", madeAt: new Date().toISOString() },
    versions: { hudfold: version, opencode, ...(bun ? { bun } : { node }) },
    system: { platform: platform(), release: release(), arch: arch() },
    machine: await probeMachine(env),
    checks,
    options: options && { ...options, fold: { ...options.fold, protectedFiles: options.fold.protectedFiles.length } },
    installed: { engine, model: model && { name: model.name, sizeBytes: model.sizeBytes } },
    sessions: statuses?.map(withoutTexts),
    store: databases?.store,
    // OpenCode 2 gives plugins no log, so there its lines are in the data folder
    log: await ownLogLines([join(opencodeFolder(env, home), "log"), data]),
  }
  signal.throwIfAborted()
  const sessionFolders = [...(statuses ?? []), ...(databases?.sessions ?? [])].map((session) => session.directory)
  const [homes, projects] = await Promise.all([allNames([home]), allNames([directory, ...sessionFolders])])
  const folders = new Map([
    ...projects.map((folder) => [folder, "<project>"] as const),
    ...homes.map((folder) => [folder, "~"] as const),
  ])
  // longest first: replacing "/home" first would leave the "me" of "/home/me"
  const longestFirst = [...folders].sort(([a], [b]) => b.length - a.length)
  const clean = withoutPrivate(bundle, longestFirst) as typeof bundle
  // cut last: of a secret or a folder, a beginning is not recognized
  return { ...clean, log: clean.log.map((line) => line.slice(0, MAX_LOG_LINE_CHARS)) }
}

/** Includes the targets of the symbolic links among them. */
async function allNames(folders: readonly string[]): Promise<string[]> {
  const named = folders.filter((folder) => folder !== "")
  const real = await Promise.all(named.map((folder) => realpath(folder).catch(() => folder)))
  return [...new Set([...named, ...real])]
}

/** Only figures and texts the plugin wrote itself. */
function withoutTexts({ directory: _, hud, folding, failures, stale, ...rest }: Status): object {
  const { newest, episodes, kept, ...folds } = folding
  const shown = [...newest, ...episodes.flatMap(({ steps }) => steps)]
  const count = (reason: Reason) => shown.filter((fold) => fold.reason === reason).length
  const reasons = Object.fromEntries(REASONS.map((reason) => [reason, count(reason)]))
  return {
    ...rest,
    hud: { activity: hud.activity, tokens: hud.tokens },
    folding: { ...folds, reasons, episodes: episodes.length, kept: { open: kept.open, settled: kept.settled } },
    failures: failures.length,
    stale: stale.length,
  }
}

/** The name of a field that holds a secret, whatever its value looks like. */
const SECRET_NAME = /key$|token$|secret|password/i

type Replacement = readonly [from: string, to: string]

/** A copy of plain data with every text redacted and folders replaced by their role. */
export function withoutPrivate(value: unknown, folders: readonly Replacement[]): unknown {
  if (typeof value === "string") return folders.reduce(hideFolder, redact(value))
  if (Array.isArray(value)) return value.map((one) => withoutPrivate(one, folders))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === "string" && SECRET_NAME.test(name) ? REDACTED : withoutPrivate(one, folders),
    ]),
  )
}

/**
 * A longer name with the same beginning is another folder. The root folder is part of every path and is not replaced. Logs
 * double the separators of Windows, and URLs encode spaces and umlauts.
 */
function hideFolder(text: string, [from, to]: Replacement): string {
  const folder = from.replace(/[/\\]+$/, "")
  if (folder === "") return text
  const names = [folder, pathToFileURL(folder).pathname].map((name) =>
    name
      .split(/[/\\]+/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("(?:/|\\\\{1,2})"),
  )
  return text.replace(new RegExp(`(?:${names.join("|")})(?![\\w.-])`, "g"), to)
}

const MAX_LOG_LINES = 200
const MAX_LOG_LINE_CHARS = 1000
/** Read from the end of each file: a log that is not rotated grows for months. */
const MAX_LOG_BYTES = 8_000_000
const MAX_LOG_FILES = 10

/** Lines the plugin wrote, and those in which OpenCode reports that it could not load the plugin. */
const OWN_LINE = /(?:^|[\s"'=])hudfold: |\bplugin\b.*\bopencode-hudfold\b/

/** The value of an invalid option, which may be a key. */
const INVALID_VALUE = /(\boption [\w.]+: expected .*?|the options must be an object), got .*(?=; using)/

/** Oldest first. Never rejects. */
async function ownLogLines(folders: readonly string[]): Promise<string[]> {
  const listed = folders.map(async (folder) =>
    (await readdir(folder).catch(() => [])).map((name) => join(folder, name)),
  )
  const paths = (await Promise.all(listed)).flat().filter((path) => path.endsWith(".log"))
  const files = paths.map(async (path) => ({
    path,
    changedMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0,
  }))
  const newest = (await Promise.all(files)).sort((a, b) => a.changedMs - b.changedMs).slice(-MAX_LOG_FILES)
  const ends = newest.map(({ path }) => endOf(path).catch(() => ""))
  const lines = (await Promise.all(ends)).flatMap((end) => end.split(/\r?\n/).filter((line) => OWN_LINE.test(line)))
  return lines.slice(-MAX_LOG_LINES).map((line) => line.replace(INVALID_VALUE, "$1"))
}

async function endOf(path: string): Promise<string> {
  const start = Math.max(0, (await stat(path)).size - MAX_LOG_BYTES)
  const read = await text(createReadStream(path, { start }))
  // the first line of a cut file is incomplete
  return start > 0 ? read.slice(read.indexOf("\n") + 1) : read
}
