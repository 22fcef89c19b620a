// What goes into a bug report: what the doctor found, and of sessions, logs and options what is not private. Everything in
// it passes through `withoutPrivate`, and what quotes the user is counted instead.

import { realpath } from "node:fs/promises"
import { arch, platform, release } from "node:os"
import { pathToFileURL } from "node:url"
import { placesIn, readInstalled } from "../engine/installed.ts"
import type { Options } from "../options.ts"
import { probeMachine } from "../setup/machine.ts"
import type { Status } from "../status/status.ts"
import { dataFolder, opencodeFolder } from "../system/data-folder.ts"
import { redact } from "../text/redact/redact.ts"
import type { Check } from "./check.ts"
import type { Examination, Findings } from "./checks.ts"
import { ownLogLines } from "./log-lines.ts"

export const HOLDS = [
  "what the doctor found, line by line",
  "versions, the system and the machine",
  "the options in effect, without keys; of file patterns how many",
  "the newest sessions' figures: calls, context, savings, counts of folds, failures and stale files",
  "the plugin's own lines of OpenCode's logs, at most the last 200",
  "how many rows each table of the store has",
] as const

export const LEFT_OUT = [
  "secrets, as far as they can be told by their form or their name",
  "what the HUD said, and what failed, was folded or is stale",
  "where the sessions took place; the home folder is ~ and the project <project>",
] as const

/** For `JSON.stringify`. Rejects with the signal's reason alone. */
export async function bundleOf(
  checks: readonly Check[],
  { opencode, options, statuses, databases }: Findings,
  { env, home, directory, version, signal }: Examination,
): Promise<object> {
  const data = dataFolder(env, home)
  const { engine, model } = await readInstalled(placesIn(data))
  const bundle = {
    about: { what: "hudfold doctor --bundle", madeAt: new Date().toISOString(), holds: HOLDS, leftOut: LEFT_OUT },
    versions: { opencodeHud: version, opencode, bun: process.versions.bun, node: process.versions.node },
    system: { platform: platform(), release: release(), arch: arch() },
    machine: await probeMachine(env),
    checks,
    options: options && shownOptions(options),
    installed: { engine, model: model && { name: model.name, sizeBytes: model.sizeBytes } },
    sessions: statuses?.map(figuresOf),
    store: databases?.store,
    log: await ownLogLines(opencodeFolder(env, home)),
  }
  signal.throwIfAborted()
  const worked = [...(statuses ?? []), ...(databases?.sessions ?? [])].map((session) => session.directory)
  const [homes, projects] = await Promise.all([allNames([home]), allNames([directory, ...worked])])
  const folders = [
    ...homes.map((folder) => [folder, "~"] as const),
    ...projects.filter((folder) => !homes.includes(folder)).map((folder) => [folder, "<project>"] as const),
  ]
  // the inner ones first: of "/home", the outer one, something would be left of "/home/me"
  return withoutPrivate(
    bundle,
    folders.sort(([a], [b]) => b.length - a.length),
  ) as object
}

/** With what the links among them lead to. */
async function allNames(folders: readonly string[]): Promise<string[]> {
  const named = folders.filter((folder) => folder !== "")
  const real = await Promise.all(named.map((folder) => realpath(folder).catch(() => folder)))
  return [...new Set([...named, ...real])]
}

function shownOptions({ fold, ...rest }: Options): object {
  return { ...rest, fold: { ...fold, protectedFiles: fold.protectedFiles.length } }
}

/** Figures, and our own words. */
function figuresOf({ directory: _, hud, folding, failures, stale, ...rest }: Status): object {
  const { newest, ...folds } = folding
  const reasons = Object.fromEntries(
    (["free", "pays", "must"] as const).map((reason) => [
      reason,
      newest.filter((fold) => fold.reason === reason).length,
    ]),
  )
  return {
    ...rest,
    hud: { activity: hud.activity, tokens: hud.tokens },
    folding: { ...folds, reasons },
    failures: failures.length,
    stale: stale.length,
  }
}

/** A key that names a secret, whose value need not look like one. */
const SECRET = /key$|token$|secret|password/i

type Replacement = readonly [from: string, to: string]

/** A copy of plain data in which every text is redacted and folders are called by their role. */
export function withoutPrivate(value: unknown, folders: readonly Replacement[]): unknown {
  if (typeof value === "string") return folders.reduce(replaceFolder, redact(value))
  if (Array.isArray(value)) return value.map((one) => withoutPrivate(one, folders))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      typeof one === "string" && SECRET.test(name) ? "[redacted]" : withoutPrivate(one, folders),
    ]),
  )
}

/**
 * Longer names that begin the same are other folders. The root is in every path and says nothing. A log writes the
 * separators of Windows twice, a URL has its own way with spaces and umlauts.
 */
function replaceFolder(text: string, [from, to]: Replacement): string {
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
