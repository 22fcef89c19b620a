// Everything the doctor looks at, in order; each result is yielded as soon as it is known. Changes nothing. Here are also the
// checks of OpenCode itself, the plugin's options, and other plugins that do the same work.

import { execFile } from "node:child_process"
import { basename, dirname } from "node:path"
import { promisify } from "node:util"
import { placesIn, readInstalled } from "../engine/installed.ts"
import type { Options } from "../options.ts"
import { listStatus, readStatus, statusFolder } from "../status/files.ts"
import type { Status } from "../status/status.ts"
import { dataFolder, type Environment, storePath } from "../system/data-folder.ts"
import { findCommand } from "../system/process.ts"
import { hasSqlite } from "../system/sqlite.ts"
import { asRecord, errorMessage, isOlder } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { type Config, readConfig } from "./config-files.ts"
import {
  checkEngine,
  checkGpu,
  checkModel,
  checkWithoutSidecar,
  type ModelCheckOptions,
  measureSpeed,
  wantsSidecar,
} from "./digests.ts"
import {
  checkConfig,
  checkListed,
  checkLoaded,
  checkPanel,
  checkVersions,
  type Listing,
  readListing,
} from "./listing.ts"
import { PACKAGE } from "./plugin-list.ts"
import { type CheckResult, fail, ok, warn } from "./result.ts"
import { checkStore, type Databases, readDatabases } from "./store.ts"

export type Examination = ModelCheckOptions & {
  env: Environment
  home: string
  /** the folder OpenCode is, or would be, started in */
  directory: string
  /** the version of this command */
  version: string
  /** the manifest's `engines.opencode` */
  needs: string
  /** run the model once and measure it */
  test: boolean
}

/** What the checks read, for the bug report. */
export type Findings = {
  opencode?: string
  options?: Options
  statuses?: Status[]
  databases?: Databases
}

/** Sessions whose status is read, and which go into the bug report. */
const MAX_STATUSES = 3

/** Rejects only with the signal's reason. Fills `findings` as it proceeds. */
export async function* examine(examination: Examination, findings: Findings): AsyncGenerator<CheckResult> {
  for await (const check of checksOf(examination, findings))
    if (check) yield { ...check, found: redact(check.found), fix: check.fix && redact(check.fix) }
}

async function* checksOf(
  { env, home, directory, version, needs, test, ...watch }: Examination,
  findings: Findings,
): AsyncGenerator<CheckResult | undefined> {
  yield await checkOpencode(env, needs, watch.signal, findings)

  const config = await readConfig(env, home, directory)
  const listing = await readListing(config, env, home, findings.opencode?.startsWith("2."))
  const { options } = listing
  findings.options = options
  yield* checkConfig(config)
  yield checkListed(config, listing, env)
  yield checkPanel(config, listing)

  const data = dataFolder(env, home)
  const statuses = await listStatus(statusFolder(data))
  const read = await Promise.all(
    statuses.slice(0, MAX_STATUSES).map(({ sessionID }) => readStatus(statusFolder(data), sessionID)),
  )
  findings.statuses = read.filter((status) => status !== undefined)
  yield checkVersions(listing, version, read[0]?.plugin)
  yield* checkOptions(listing)
  yield* checkConflicts(config, listing)

  const storeFile = storePath(options.store.path, env, home)
  const facts = hasSqlite() ? await readDatabases(storeFile, env) : undefined
  if (facts) findings.databases = facts
  yield checkLoaded({ listing, statuses, sessions: facts?.sessions, nowMs: Date.now() })

  const places = placesIn(data)
  const installed = await readInstalled(places)
  if (wantsSidecar(options.digest, installed)) {
    const engine = checkEngine(options.digest, places, installed, env)
    yield engine
    const model = await checkModel(options.digest, installed, places, watch)
    yield model
    if (installed.engine) yield await checkGpu(options.digest, installed.engine, env)
    if (test && engine.level === "ok" && model.level === "ok")
      yield await measureSpeed(places, installed.model, { options: options.digest, env, signal: watch.signal })
  } else {
    yield await checkWithoutSidecar(options.digest, watch.signal)
    if (test) yield ok("speed", "not tested: hudfold runs no model")
  }

  const isDefault = !env.HUDFOLD_DATA && options.store.path === undefined
  if (options.store.enabled) yield await checkStore(storeFile, isDefault ? dirname(storeFile) : undefined, facts)
  else yield ok("store", "kept in memory (store.enabled is false)")
}

const PATIENCE_MS = 15_000
const UPGRADE = "upgrade it: opencode upgrade"

/** `needs` is the manifest's `engines.opencode`, such as `>=1.18.0`. The version, if it is known, goes to `findings`. */
export async function checkOpencode(env: Environment, needs: string, signal: AbortSignal, findings: Findings = {}) {
  const command = findCommand("opencode", env)
  if (command === undefined)
    return fail("opencode", "opencode is not on PATH", "install it (https://opencode.ai) or put it on PATH")
  let said: string
  try {
    said = (await promisify(execFile)(command, ["--version"], { env, timeout: PATIENCE_MS, signal })).stdout.trim()
  } catch (error) {
    signal.throwIfAborted()
    // after the command itself comes what it says
    const [first = "", words] = errorMessage(error).split("\n")
    return fail("opencode", `${command} --version failed (${words || first})`, "correct that, or reinstall OpenCode")
  }
  const version = /\d+\.\d+\.\d+\S*/.exec(said)?.[0]
  if (version === undefined) {
    const found = `${command} --version prints ${JSON.stringify(said.slice(0, 60))}, which is not a version`
    return fail("opencode", found, "put OpenCode's own program first on PATH")
  }
  findings.opencode = version
  // the version of a development build, which OpenCode does not compare with a plugin's requirements either
  if (version.startsWith("0.0.0")) return ok("opencode", `${version}, a development build, in ${command}`)
  const [have = "", want = ""] = [version, needs].map((text) => /\d+\.\d+\.\d+/.exec(text)?.[0])
  if (isOlder(have, want))
    return fail("opencode", `version ${version} in ${command}; the plugin needs ${needs}`, UPGRADE)
  return ok("opencode", `version ${version} in ${command}`)
}

function checkOptions({ entry, options, problems }: Listing): CheckResult[] {
  if (!entry) return []
  const { path } = entry.file
  if (problems.length > 0) {
    return problems.map(({ option, message }) => {
      // without the value, if that is a key or may contain one
      const value = option === ALL || /key$/i.test(option) ? /, got .*(?=; using)/ : /, got [{[].*(?=; using)/
      return fail(
        "options",
        message.replace(value, ""),
        `correct ${option === ALL ? "its options" : option} in ${path}`,
      )
    })
  }
  if (!options.enabled)
    return [warn("options", "the plugin is switched off", `remove "enabled": false from its options in ${path}`)]
  const names = Object.keys(asRecord(entry.options) ?? {})
  return [ok("options", names.length ? `valid: ${names.join(", ")}` : "none given, so the defaults apply")]
}

/** Stands for the options as a whole in a problem. */
const ALL = "(all)"

/** Plugins that remove or rewrite old tool outputs, recognized by list entry or file name. */
const OTHERS: readonly { name: string; pattern: RegExp }[] = [
  { name: "DCP", pattern: /(?:^|[/\\@_-])(?:opencode-dcp(?:$|[/\\@._-])|dcp(?:$|[@._-]))|dynamic-context-pruning/i },
  { name: "ACP", pattern: /(?:^|[/\\@_-])opencode-acp(?:$|[/\\@._-])/i },
  { name: "magic-context", pattern: /magic-context/i },
]

export function checkConflicts(config: Config, listing: Pick<Listing, "server" | "options">): CheckResult[] {
  const checks = OTHERS.flatMap(({ name, pattern }) => {
    const listed = listing.server.find((one) => pattern.test(one.name) || pattern.test(one.spec))
    const where = listed?.file.path ?? config.pluginFiles.find((path) => pattern.test(basename(path)))
    if (where === undefined) return []
    if (!listing.options.fold.enabled)
      return ok("conflicts", `${name} prunes the context (${where}), and fold.enabled is false here`)
    const what = `${name} prunes the context too (${where}): each changes messages the other keeps stable, so the prompt cache is lost`
    const end = listed ? `remove ${name} from ${where}` : `move ${where} away`
    return warn("conflicts", what, `keep one: ${end}, or set "fold": { "enabled": false } in the options of ${PACKAGE}`)
  })
  return checks.length > 0 ? checks : [ok("conflicts", "no other plugin here prunes the context")]
}
