// What setup will do here, decided before anything is changed: `--dry-run` prints the plan, the command applies it. And
// what uninstalling removes.

import { existsSync } from "node:fs"
import { rm, rmdir, stat } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { changedModelReason, hashFile, type ModelInUse, type Places, readInstalled } from "../engine/installed.ts"
import type { GpuChoice } from "../engine/wire/messages.ts"
import type { Environment } from "../system/data-folder.ts"
import { fileStamp } from "../system/private-folder.ts"
import { type DownloadOptions, download, type HubFile, locate } from "./download.ts"
import { installedNow } from "./engine.ts"
import { shortReason } from "./errors.ts"
import { leftoversBeside } from "./folder.ts"
import { type LockOptions, removeLease, withLock } from "./lock.ts"
import { probeMachine } from "./machine.ts"
import {
  checkModelFile,
  DEFAULT_MODEL,
  fetchedFiles,
  fetchedPath,
  hubModelName,
  type ModelReference,
  readReference,
} from "./models.ts"
import { chooseVariants, engineVersion, sizesOf } from "./packages.ts"

export type Plan = Awaited<ReturnType<typeof planSetup>>

export type ModelPlan = { name: string; path: string; sizeBytes?: number | undefined } & (
  | { kind: "kept"; record: ModelInUse }
  /** the user's own file, which stays where it is */
  | { kind: "file" }
  | { kind: "hub"; file: HubFile; licence?: string | undefined; isThere: boolean }
)

type PlanOptions = {
  env: Environment
  places: Places
  /** the sidecar's program in this version's package */
  main: string
  gpu?: GpuChoice | undefined
  /** as the user wrote it; `false`: none */
  model?: string | false | undefined
  signal?: AbortSignal | undefined
}

/** Uses the network only for a model that is named by a URI of the hub. Rejects with a SetupError. */
export async function planSetup({ env, places, main, gpu, model, signal }: PlanOptions) {
  const machine = await probeMachine(env)
  const { variants, why } = chooseVariants(machine, gpu)
  /** whether there is nothing to install */
  const isThere = (await installedNow(variants, places, main))?.isCurrent === true
  const engine = { version: engineVersion, variants, why, ...sizesOf(variants), isThere }
  if (model === false) return { machine, engine }
  const { model: record } = await readInstalled(places)
  const changed = record && (await changedModelReason(record, signal).catch(shortReason))
  signal?.throwIfAborted()
  const isUsable = record && changed === undefined && (await hasSize(record.path, record.sizeBytes))
  const planned: ModelPlan =
    isUsable && model === undefined
      ? { kind: "kept", name: record.name, path: record.path, sizeBytes: record.sizeBytes, record }
      : await planReference(readReference(model ?? DEFAULT_MODEL), places, env, signal)
  /** the model in use, if its file is missing, cannot be read or has changed, so that the plugin does not load it */
  const missing = isUsable ? undefined : record
  return { machine, engine, model: planned, missing }
}

/** Rejects with a SetupError: NOT_A_MODEL for a path, those of `locate` for a URI. */
export async function planReference(
  reference: ModelReference,
  places: Places,
  env: Environment,
  signal?: AbortSignal,
): Promise<ModelPlan> {
  if (reference.kind === "path") {
    const sizeBytes = await checkModelFile(reference.path)
    return { kind: "file", name: basename(reference.path).replace(/\.gguf$/i, ""), path: reference.path, sizeBytes }
  }
  const file = await locate(reference, env, signal)
  const path = fetchedPath(places, file)
  const isThere = await hasSize(path, file.sizeBytes)
  const licence = reference.listed?.licence
  return { kind: "hub", name: hubModelName(file), path, file, sizeBytes: file.sizeBytes, licence, isThere }
}

/** Downloads the model if necessary, and resolves with its record. */
export async function applyModelPlan(plan: ModelPlan, options: DownloadOptions): Promise<ModelInUse> {
  if (plan.kind === "kept") return plan.record
  const fetched = plan.kind === "hub" ? await download(plan.file, plan.path, options) : undefined
  const sizeBytes = await checkModelFile(plan.path)
  // before the checksum is computed, so that a change in between is noticed
  const stamp = await fileStamp(plan.path)
  const sha256 = fetched ?? (await hashFile(plan.path, { signal: options.signal })) ?? ""
  return { name: plan.name, path: plan.path, sizeBytes, sha256, stamp }
}

async function hasSize(path: string, sizeBytes: number | undefined): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true && (sizeBytes === undefined || found.size === sizeBytes)
}

/** The paths that `uninstall` would remove; empty if setup has never run. */
export async function installedPaths(places: Places, keepModels: boolean) {
  const engine = [places.sidecar, ...(await leftoversBeside(places.sidecar))]
  const models = keepModels ? [] : [...(await fetchedFiles(places)), places.modelRecord]
  return [...engine, ...models].filter((path) => existsSync(path))
}

/** Removes files and folders that setup installed, and the folders of models that become empty. */
export async function removeInstalledPaths(places: Places, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await rm(path, { recursive: true, force: true })
    for (let folder = dirname(path); folder.startsWith(places.models); folder = dirname(folder)) {
      try {
        await rmdir(folder)
      } catch {
        break
      }
    }
  }
}

/** Removes what setup installed, but no model file outside the models folder. Waits for a running setup. */
export async function uninstall(places: Places, keepModels: boolean, options: LockOptions): Promise<void> {
  await withLock(places.setupLock, options, async () =>
    removeInstalledPaths(places, await installedPaths(places, keepModels)),
  )
  for (const path of [places.setupLock, places.lease]) await removeLease(path)
  // the data folder, if it is empty now
  await rmdir(dirname(places.sidecar)).catch(() => {})
}
