// What setup would do here, decided before anything is done: what `--dry-run` prints, and what the command then carries
// out. Only a model given by a URI of the hub makes it ask the network.

import { stat } from "node:fs/promises"
import { basename } from "node:path"
import type { ModelRecord, Places } from "../engine/installed.ts"
import { changedSince, hashFile, stampOf } from "../engine/model-file.ts"
import type { GpuChoice } from "../engine/wire/messages.ts"
import { type DownloadOptions, download } from "./download.ts"
import { type EngineOptions, type EngineState, installEngine, isFinished } from "./engine.ts"
import { checkModelFile } from "./gguf.ts"
import { type Environment, type HubFile, locate } from "./hub.ts"
import { type Machine, probeMachine } from "./machine.ts"
import { DEFAULT_MODEL } from "./models.ts"
import { engineVersion } from "./pinned.ts"
import { type ModelReference, readReference } from "./reference.ts"
import { modelInUse, nameOf, placeOf } from "./shelf.ts"
import { chooseVariants, sizesOf } from "./variants.ts"

export type EnginePlan = {
  version: string
  variants: readonly string[]
  /** what speaks for or against a GPU */
  why: string
  fetchedBytes: number
  installedBytes: number
  /** there is nothing to install */
  isThere: boolean
}

export type ModelPlan =
  /** the one in use stays so */
  | { kind: "kept"; record: ModelRecord }
  /** a file of the user's, left where it is */
  | { kind: "file"; name: string; path: string; sizeBytes: number }
  | { kind: "hub"; name: string; path: string; file: HubFile; licence?: string; isThere: boolean }

export type Plan = {
  machine: Machine
  engine: EnginePlan
  /** undefined: none was wanted */
  model: ModelPlan | undefined
  /** the model in use, when its file is not there any more, or is another one, which the plugin does not load */
  missing?: ModelRecord
}

export type PlanOptions = {
  env: Environment
  places: Places
  /** the sidecar's program that ships with this version */
  main: string
  gpu?: GpuChoice | undefined
  /** as the user wrote it; `false`: none */
  model?: string | false | undefined
  signal?: AbortSignal | undefined
}

/** Rejects with a SetupError. */
export async function planSetup({ env, places, main, gpu, model, signal }: PlanOptions): Promise<Plan> {
  const machine = await probeMachine(env)
  const { variants, why } = chooseVariants(machine, gpu)
  const isThere = await isFinished(variants, places, main)
  const engine = { version: engineVersion, variants, why, ...sizesOf(variants), isThere }
  if (model === false) return { machine, engine, model: undefined }
  const record = await modelInUse(places)
  const isUsable =
    record && (await hasSize(record.path, record.sizeBytes)) && (await changedSince(record, signal)) === undefined
  const planned: ModelPlan =
    isUsable && model === undefined
      ? { kind: "kept", record }
      : await planReference(readReference(model ?? DEFAULT_MODEL), places, env, signal)
  return { machine, engine, model: planned, ...(record && !isUsable ? { missing: record } : {}) }
}

/** Rejects with a SetupError: NOT_A_MODEL for a path, what the hub says for a URI. */
export async function planReference(
  reference: ModelReference,
  places: Places,
  env: Environment,
  signal?: AbortSignal,
): Promise<Exclude<ModelPlan, { kind: "kept" }>> {
  if (reference.kind === "path") {
    const sizeBytes = await checkModelFile(reference.path)
    return { kind: "file", name: basename(reference.path).replace(/\.gguf$/i, ""), path: reference.path, sizeBytes }
  }
  const file = await locate(reference, env, signal)
  const path = placeOf(places, file)
  const isThere = await hasSize(path, file.sizeBytes)
  const licence = reference.listed?.licence
  return { kind: "hub", name: nameOf(file), path, file, isThere, ...(licence ? { licence } : {}) }
}

export async function carryOutEngine(
  plan: EnginePlan,
  places: Places,
  main: string,
  options: EngineOptions,
): Promise<EngineState> {
  const room = plan.fetchedBytes + plan.installedBytes
  return installEngine(plan.variants, places, main, { ...options, sizeBytes: room })
}

/** Fetches what has to be fetched, and answers what would be taken into use. */
export async function carryOutModel(plan: ModelPlan, options: DownloadOptions): Promise<ModelRecord> {
  if (plan.kind === "kept") return plan.record
  const fetched = plan.kind === "hub" ? await download(plan.file, plan.path, options) : undefined
  const sizeBytes = await checkModelFile(plan.path)
  // before the checksum is taken: what changes meanwhile is then noticed
  const stamp = await stampOf(plan.path)
  const sha256 = fetched ?? (await hashFile(plan.path))
  return { name: plan.name, path: plan.path, sizeBytes, sha256: sha256 ?? "", ...(stamp ? { stamp } : {}) }
}

async function hasSize(path: string, sizeBytes: number | undefined): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true && (sizeBytes === undefined || found.size === sizeBytes)
}
