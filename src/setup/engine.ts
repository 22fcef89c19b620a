// Installs the engine's packages: built in a folder beside their place and renamed into it, so that whatever interrupts
// it leaves either the old ones or the new ones. Nothing is done when the right ones are there.

import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type EngineRecord, type Places, readInstalled } from "../engine/installed.ts"
import { PROTOCOL } from "../engine/wire/version.ts"
import { keepAllToOwner, writePrivate } from "../system/private-folder.ts"
import { SetupError } from "./errors.ts"
import { checkRoom, freshBeside, putInPlace } from "./folder.ts"
import { type HoldOptions, holding } from "./hold.ts"
import { findInstallers, type Installer, OWN_CACHE, runInstaller } from "./installers.ts"
import { ENGINE, type Pinned, packageName, pin } from "./pinned.ts"

export type EngineOptions = HoldOptions & {
  /** what has to be there once it is installed, in bytes; a guess will do */
  sizeBytes?: number
  /** of the installer; default this process's */
  env?: Readonly<Record<string, string | undefined>>
  /** default all that are found */
  installers?: readonly Installer[]
  /** called when it is clear that there is something to do */
  onInstall?: (installer: Installer) => void
}

/** `present`: nothing had to be done; `updated`: only our own part of it was old */
export type EngineState = "present" | "updated" | "installed"

/** In node_modules, written last. Packages that were put there in another way have none. */
const STAMP = ".lock-sha256"

/**
 * Brings node_modules to the state that is pinned. For this repository's own sidecar folder.
 * Rejects with a SetupError or the signal's reason.
 */
export async function installPackages(
  pinned: Pinned,
  target: string,
  options: EngineOptions = {},
): Promise<EngineState> {
  if (await isStamped(target, pinned)) return "present"
  return holding(`${target}.lock`, options, async () => {
    if (await isStamped(target, pinned)) return "present"
    const fresh = await freshBeside(target)
    try {
      await build(pinned, fresh, options)
      await putInPlace(join(fresh, "node_modules"), target)
      return "installed"
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  })
}

/**
 * Brings the data folder's sidecar to the state that is pinned: packages, `main.js`, and the record that says so, in
 * that order. Variants that are there beside those asked for stay. Rejects as `installPackages`.
 */
export async function installEngine(
  variants: readonly string[],
  places: Places,
  main: string,
  options: EngineOptions = {},
): Promise<EngineState> {
  if (await isFinished(variants, places, main)) return "present"
  return holding(`${places.sidecar}.lock`, options, async () => {
    if (await isFinished(variants, places, main)) return "present"
    const kept = await installedVariants(variants, places)
    if (kept) {
      await copyMain(main, places.main)
      await writeRecord(kept, places.engineRecord)
      return "updated"
    }
    const fresh = await freshBeside(places.sidecar)
    const pinned = pin(variants)
    try {
      await build(pinned, fresh, options)
      await copyMain(main, join(fresh, "main.js"))
      await writeRecord(pinned, join(fresh, "installed.json"))
      // installers go by the umask, and by what the package's maker had
      keepAllToOwner(fresh)
      await putInPlace(fresh, places.sidecar)
      return "installed"
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  })
}

/** Whether `installEngine` would find nothing to do. */
export async function isFinished(variants: readonly string[], places: Places, main: string): Promise<boolean> {
  const { engine } = await readInstalled(places)
  if (engine?.protocol !== PROTOCOL || !(await areSame(main, places.main))) return false
  return (await installedVariants(variants, places)) !== undefined
}

/** What is pinned for the variants that are installed, when those asked for are among them. */
async function installedVariants(variants: readonly string[], places: Places): Promise<Pinned | undefined> {
  const { engine } = await readInstalled(places)
  if (!engine) return undefined
  const there = engine.variants.map((name) => name.replace(packageName(""), ""))
  if (!variants.every((variant) => there.includes(variant))) return undefined
  try {
    const pinned = pin(there)
    return (await isStamped(join(places.sidecar, "node_modules"), pinned)) ? pinned : undefined
  } catch {
    // a variant that this version no longer has
    return undefined
  }
}

async function build(pinned: Pinned, folder: string, options: EngineOptions): Promise<void> {
  const installers = options.installers ?? findInstallers(options.env)
  const [first] = installers
  if (!first) {
    const what = "nothing here can install npm packages: expected npm, bun or opencode on PATH, found none"
    throw new SetupError("NO_INSTALLER", `${what}; put one there`)
  }
  await checkRoom(join(folder, ".."), options.sizeBytes ?? 0)
  let failed: unknown
  for (const installer of installers) {
    options.onInstall?.(installer)
    try {
      await buildWith(installer, pinned, folder, options)
      return
    } catch (error) {
      // One that is broken here (an npm without its node, say) need not be the end; but the first one's words count.
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
  // a user's own bunfig.toml may ask for a layout of links
  await writeFile(join(folder, "bunfig.toml"), '[install]\nlinker = "hoisted"\n')
  await runInstaller(installer, folder, options.env, options.signal)
  await rm(join(folder, OWN_CACHE), { recursive: true, force: true })
  const modules = join(folder, "node_modules")
  for (const [name, version] of Object.entries(pinned.direct)) {
    const found = await versionOf(join(modules, name))
    if (found === version) continue
    const what = `${installer.name} was to install ${name} ${version}, and ${found ?? "nothing"} is there`
    throw new SetupError("INSTALL_FAILED", `${what}; check the npm settings of this machine`)
  }
  // The sources of llama.cpp, 34 of 83 MB: read only where somebody compiles it, which the sidecar forbids.
  await rm(join(modules, ENGINE, "llama", "gitRelease.bundle"), { force: true })
  await writeFile(join(modules, STAMP), pinned.stamp)
}

async function versionOf(folder: string): Promise<string | undefined> {
  try {
    return (JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version?: string }).version
  } catch {
    return undefined
  }
}

async function isStamped(target: string, pinned: Pinned): Promise<boolean> {
  return (await readFile(join(target, STAMP), "utf8").catch(() => "")) === pinned.stamp
}

async function copyMain(from: string, to: string): Promise<void> {
  await writePrivate(to, await readFile(from))
}

async function writeRecord({ version, variants }: Pinned, path: string): Promise<void> {
  const record: EngineRecord = { engine: version, protocol: PROTOCOL, variants: variants.map(packageName) }
  await writePrivate(path, `${JSON.stringify(record, null, 2)}\n`)
}

async function areSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => readFile(path).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.equals(b)
}
