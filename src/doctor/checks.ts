// Everything the doctor looks at, in order; each result is yielded as soon as it is known. Changes nothing.

import { dirname } from "node:path"
import { placesIn, readInstalled } from "../engine/installed.ts"
import type { Options } from "../options.ts"
import { listStatus, readStatus, statusFolder } from "../status/files.ts"
import type { Status } from "../status/status.ts"
import { dataFolder, type Environment, storePath } from "../system/data-folder.ts"
import { redact } from "../text/redact/redact.ts"
import { type CheckResult, fail } from "./check.ts"
import { readConfig } from "./config-files.ts"
import {
  checkEngine,
  checkGpu,
  checkModel,
  checkSpeed,
  checkWithoutSidecar,
  type ModelCheckOptions,
  measureSpeed,
  wantsSidecar,
} from "./digests.ts"
import { checkOpencode, checkRuntime } from "./host.ts"
import { checkConfig, checkListed, checkLoaded, checkPanel, checkVersions, readListing } from "./listing.ts"
import { checkConflicts, checkOptions, optionsOf } from "./settings.ts"
import { checkStore, type Databases } from "./store.ts"

export type Examination = ModelCheckOptions & {
  env: Environment
  home: string
  /** the folder OpenCode is, or would be, started in */
  directory: string
  /** the version of this command */
  version: string
  /** the manifest's `engines.opencode` */
  needs: string
  /** reads the SQLite databases; resolves with undefined if no SQLite is available */
  databases(storeFile: string): Promise<Databases | undefined>
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
export async function* examine(examination: Examination, findings: Findings = {}): AsyncGenerator<CheckResult> {
  for await (const check of checksOf(examination, findings)) if (check) yield withoutSecrets(check)
}

async function* checksOf(
  { env, home, directory, version, needs, databases, test, ...watch }: Examination,
  findings: Findings,
): AsyncGenerator<CheckResult | undefined> {
  const opencode = await checkOpencode(env, needs, watch.signal)
  if (opencode.version !== undefined) findings.opencode = opencode.version
  yield opencode.check
  yield checkRuntime(env)

  const config = await readConfig(env, home, directory)
  const listing = await readListing(config, env, home)
  const { options } = optionsOf(listing)
  findings.options = options
  yield* checkConfig(config)
  yield checkListed(config, listing, env)
  yield checkPanel(config, listing)

  const data = dataFolder(env, home)
  const statuses = await listStatus(statusFolder(data))
  const read = await Promise.all(
    statuses.slice(0, MAX_STATUSES).map(({ sessionID }) => readStatus(statusFolder(data), sessionID)),
  )
  const newest = read[0]
  findings.statuses = read.filter((status) => status !== undefined)
  yield checkVersions(listing, version, newest?.plugin)
  yield* checkOptions(listing)
  yield* checkConflicts(config, listing)

  const named = readStorePath(options, env, home)
  const storeFile = "wrong" in named ? storePath(env, home) : named.path
  const facts = await databases(storeFile)
  if (facts) findings.databases = facts
  yield checkLoaded({ listing, options, statuses, newest, sessions: facts?.sessions, nowMs: Date.now() })

  const places = placesIn(data)
  const installed = await readInstalled(places)
  if (wantsSidecar(options.digest, installed)) {
    const engine = checkEngine(places, installed)
    yield engine
    const model = await checkModel(options.digest, installed, places, watch)
    yield model
    yield await checkGpu(options.digest, installed, newest?.writer.device, env)
    const isWhole = engine.level === "ok" && model.level === "ok"
    const trial = { gpu: options.digest.gpu, version, env, signal: watch.signal }
    yield test && isWhole
      ? await measureSpeed(places, installed, trial)
      : checkSpeed(findings.statuses.find(({ writer }) => writer.speed))
  } else {
    yield await checkWithoutSidecar(options.digest, watch.signal)
    if (options.digest.backend === "auto") yield await checkGpu(options.digest, installed, undefined, env)
  }

  const isDefault = !env.HUDFOLD_DATA && options.store.path === undefined
  yield "wrong" in named
    ? fail("store", `${named.wrong}; the store is kept in memory`, "correct store.path")
    : await checkStore(options.store, storeFile, isDefault ? dirname(storeFile) : undefined, facts)
}

function readStorePath({ store }: Options, env: Environment, home: string): { path: string } | { wrong: string } {
  try {
    return { path: storePath(env, home, store.path) }
  } catch (error) {
    return { wrong: (error as Error).message }
  }
}

function withoutSecrets({ fix, ...check }: CheckResult): CheckResult {
  return { ...check, found: redact(check.found), ...(fix === undefined ? {} : { fix: redact(fix) }) }
}
