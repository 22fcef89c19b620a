// Installs the engine's packages: in a staging folder beside the target, which it then replaces, so that an interruption
// leaves either the old or the new installation. Does nothing if the right packages are installed. The packages are fetched by
// npm, bun, or OpenCode's own binary, which can act as Bun. All three honour package-lock.json with its checksums, and the
// user's registry, proxy and cache settings.

import { execFile } from "node:child_process"
import { addAbortListener } from "node:events"
import { existsSync } from "node:fs"
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { type EngineRecord, type Places, readInstalled } from "../engine/installed.ts"
import type { LaunchSpec } from "../engine/launch.ts"
import { PROTOCOL } from "../engine/wire/messages.ts"
import type { Environment } from "../system/data-folder.ts"
import { restrictTreeToOwner, writePrivate } from "../system/private-folder.ts"
import { findCommand } from "../system/process.ts"
import { SetupError } from "./errors.ts"
import { checkRoom, makeStagingFolder, replaceFolder } from "./folder.ts"
import { ENGINE, type Pinned, pin, variantPackage } from "./packages.ts"

export type EngineOptions = {
  signal?: AbortSignal | undefined
  /** disk space needed for the installation, estimated */
  sizeBytes?: number
  /** of the installer; default: this process's */
  env?: Environment
  /** default: all that are found */
  installers?: readonly Installer[]
  onInstall?: (installer: Installer) => void
}

/** `present`: nothing had to be done; `updated`: only `main.js` was old */
export type EngineState = "present" | "updated" | "installed"

/** In node_modules, written last. Packages installed in another way have none. */
const STAMP = ".lock-sha256"

/**
 * Installs the sidecar in the data folder: the pinned packages, `main.js`, and the record, in that order. Where
 * those that are requested are installed already, other variants stay too. Rejects with a SetupError or the signal's reason.
 */
export async function installEngine(
  variants: readonly string[],
  places: Places,
  main: string,
  options: EngineOptions = {},
): Promise<EngineState> {
  const there = await installedNow(variants, places, main)
  if (there?.isCurrent) return "present"
  if (there) {
    writePrivate(places.main, await readFile(main))
    writeRecord(there.pinned, places.engineRecord)
    return "updated"
  }
  return inStagingFolder(places.sidecar, async (staging) => {
    const pinned = pin(variants)
    await buildPackages(pinned, staging, options)
    writePrivate(join(staging, "main.js"), await readFile(main))
    writeRecord(pinned, join(staging, "installed.json"))
    // installers apply the umask and the modes in the packages
    restrictTreeToOwner(staging)
    await replaceFolder(staging, places.sidecar)
  })
}

/** Lets `work` fill a folder beside the target and put it in place; the folder is removed afterwards. */
export async function inStagingFolder(target: string, work: (staging: string) => Promise<void>): Promise<"installed"> {
  const staging = await makeStagingFolder(target)
  try {
    await work(staging)
    return "installed"
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** The pinned packages of the installed variants, if the requested ones are among them, and whether `main.js` is this one. */
export async function installedNow(variants: readonly string[], places: Places, main: string) {
  const { engine } = await readInstalled(places)
  if (!engine) return undefined
  const there = engine.variants.map((name) => name.replace(variantPackage(""), ""))
  if (!variants.every((variant) => there.includes(variant))) return undefined
  try {
    const pinned = pin(there)
    if (!(await isStamped(join(places.sidecar, "node_modules"), pinned))) return undefined
    return { pinned, isCurrent: engine.protocol === PROTOCOL && (await areSame(main, places.main)) }
  } catch {
    // a variant that no longer exists in this version
    return undefined
  }
}

/** Installs the pinned packages in a folder, with the first installer that can. */
export async function buildPackages(pinned: Pinned, folder: string, options: EngineOptions): Promise<void> {
  const installers = options.installers ?? findInstallers(options.env)
  const none = "no program here can install npm packages: expected npm, bun or opencode on PATH, found none"
  if (installers.length === 0) throw new SetupError("NO_INSTALLER", `${none}; install one of them`)
  await checkRoom(join(folder, ".."), options.sizeBytes ?? 0)
  let failed: unknown
  for (const installer of installers) {
    options.onInstall?.(installer)
    try {
      await buildWith(installer, pinned, folder, options)
      return
    } catch (error) {
      // another installer may work, for example if npm lacks its node; but the first error is the one to report
      if (!(error instanceof SetupError) || error.code === "DISK_FULL") throw error
      failed ??= error
    }
  }
  throw failed
}

async function buildWith(installer: Installer, pinned: Pinned, folder: string, options: EngineOptions): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
  await writeFile(join(folder, "package.json"), pinned.manifest)
  await writeFile(join(folder, "package-lock.json"), pinned.lock)
  // the user's bunfig.toml may select a layout with symbolic links
  await writeFile(join(folder, "bunfig.toml"), '[install]\nlinker = "hoisted"\n')
  await runInstaller(installer, folder, options.env, options.signal)
  await rm(join(folder, OWN_CACHE), { recursive: true, force: true })
  const modules = join(folder, "node_modules")
  if (!existsSync(join(modules, ENGINE))) {
    const what = `${installer.name} succeeded, but installed nothing`
    throw new SetupError("INSTALL_FAILED", `${what}; check the npm settings of this machine`)
  }
  // the sources of llama.cpp, 34 of 83 MB, are only needed for compiling it, which the sidecar never does
  await rm(join(modules, ENGINE, "llama", "gitRelease.bundle"), { force: true })
  await writeFile(join(modules, STAMP), pinned.stamp)
}

/** Whether these packages are the ones in this node_modules. */
export async function isStamped(target: string, pinned: Pinned): Promise<boolean> {
  return (await readFile(join(target, STAMP), "utf8").catch(() => "")) === pinned.stamp
}

function writeRecord({ version, variants }: Pinned, path: string): void {
  const record: EngineRecord = { engine: version, protocol: PROTOCOL, variants: variants.map(variantPackage) }
  writePrivate(path, `${JSON.stringify(record, null, 2)}\n`)
}

async function areSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => readFile(path).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.equals(b)
}

export type Installer = Omit<LaunchSpec, "cwd"> & { name: "npm" | "bun" | "opencode" }

// these options override the user's settings: the target is one private folder, and no package script is run
const NPM_ARGS = [
  ...["ci", "--omit=optional", "--ignore-scripts", "--no-bin-links", "--location=project", "--no-global"],
  ...["--no-audit", "--no-fund", "--no-progress", "--no-update-notifier", "--loglevel=error"],
  // with npm's default pauses between attempts an offline machine waits for more than a minute
  ...["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=3000"],
]
const BUN_ARGS = [
  ...["install", "--frozen-lockfile", "--no-save", "--omit=optional", "--ignore-scripts", "--no-progress"],
  // not links to files in Bun's cache, which other programs share
  "--backend=copyfile",
]

/**
 * The cache of OpenCode's Bun, in the target folder, so that no Bun cache of 84 MB stays in the home folder of a user
 * without Bun. The caller removes it.
 */
const OWN_CACHE = ".bun-cache"

/** The available installers, in the order to try them. */
export function findInstallers(env: Environment = process.env): Installer[] {
  const bun = (name: "bun" | "opencode", command = findCommand(name, env)): Installer[] =>
    command ? [{ name, command, args: BUN_ARGS, env: { BUN_BE_BUN: "1" } }] : []
  const found = [...findNpm(env), ...bun("bun"), ...bun("opencode")]
  return found.length === 0 && process.versions.bun ? bun("bun", process.execPath) : found
}

function findNpm(env: Environment): Installer[] {
  const isWindows = process.platform === "win32"
  const command = findCommand(isWindows ? "node" : "npm", env)
  if (!command) return []
  // on Windows npm is a .cmd, which needs a shell to start; its script is beside node
  const script = isWindows ? [join(dirname(command), "node_modules", "npm", "bin", "npm-cli.js")] : []
  return script.every(existsSync) ? [{ name: "npm", command, args: [...script, ...NPM_ARGS], env: {} }] : []
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/**
 * Installs the packages of the folder's package.json and package-lock.json. Rejects with a SetupError, or on abort with the
 * signal's reason once the program has ended.
 */
export async function runInstaller(
  { name, command, args, env }: Installer,
  folder: string,
  environment: Environment = process.env,
  signal?: AbortSignal,
): Promise<void> {
  const cache = name === "opencode" ? { BUN_INSTALL_CACHE_DIR: join(folder, OWN_CACHE) } : {}
  const running = promisify(execFile)(command, args, {
    cwd: folder,
    env: { ...environment, ...cache, ...env },
    windowsHide: true,
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  const stop = () => {
    running.child.kill("SIGTERM")
    setTimeout(() => running.child.kill("SIGKILL"), 2_000).unref()
  }
  using _ = signal && addAbortListener(signal, stop)
  try {
    await running
  } catch (cause) {
    signal?.throwIfAborted()
    const { code, stdout, stderr } = cause as { code: number | string | null; stdout: string; stderr: string }
    if (typeof code === "number") throw failure(name, `${stdout}\n${stderr}`, code)
    const killed = "was killed; close programs if memory is short, and run the command again"
    const what = code === null ? killed : `could not be started: ${String(cause)}`
    throw new SetupError("INSTALL_FAILED", `${name} ${what}`, { cause })
  }
  signal?.throwIfAborted()
}

const WRONG =
  "a package's checksum is not the pinned one, so nothing was installed; clear the cache or use another registry"
const UNREACHABLE =
  "the package registry could not be reached; check the network, the proxy and the registry in your npm settings"
/** What the installers print, and what it means. */
const FAILURES: readonly [SetupError["code"], meaning: string, printed: RegExp][] = [
  ["DISK_FULL", "the disk is full; free some space and run the command again", /\b(?:ENOSPC|EDQUOT|NoSpaceLeft)\b/],
  ["CHECKSUM", WRONG, /\bEINTEGRITY\b|\bIntegrity ?Check/i],
  [
    "OFFLINE",
    UNREACHABLE,
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|DNSResolveFailed|Timeout)\b/,
  ],
]

function failure(name: string, output: string, exitCode: number): SetupError {
  const lines = output.split("\n").map((line) => line.trim())
  for (const [code, meaning, printed] of FAILURES) {
    const line = lines.find((one) => printed.test(one))
    if (line) return new SetupError(code, `${meaning} (${name}: ${line})`)
  }
  const errors = lines.filter((line) => /\berr(?:or)?\b/i.test(line)).slice(0, 2)
  const words = (errors.length ? errors : lines.filter(Boolean).slice(-2)).join(", ")
  const what = `${name} ended with exit code ${exitCode}: ${words || "no output"}`
  return new SetupError("INSTALL_FAILED", `${what}; check the registry and the proxy in your npm settings`)
}
