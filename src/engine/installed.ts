// What `hudfold setup` left in the data folder, as the plugin finds it: `sidecar/` with the engine and its record,
// `models/` with the models it fetched, `model.json` naming the one in use. Setup writes these; the plugin only reads.

import { readFile, realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, sep } from "node:path"
import * as z from "zod/mini"
import { isRemote, sharedWith } from "../system/private-folder.ts"

/** `sidecar/installed.json`: written last, so that a folder without it is no finished installation. */
const engineRecordSchema = z.object({
  /** version of node-llama-cpp */
  engine: z.string(),
  /** the wire that `main.js` speaks */
  protocol: z.int(),
  /** npm packages with the native parts, as `@node-llama-cpp/linux-x64` */
  variants: z.array(z.string()),
})
export type EngineRecord = z.output<typeof engineRecordSchema>

/** `model.json` */
const modelRecordSchema = z.object({
  /** what people call it: a name of the curated list, or the file's name */
  name: z.string(),
  /** absolute path of the GGUF file */
  path: z.string(),
  sizeBytes: z.int(),
  sha256: z.string(),
  /** of the file when its checksum was right, see `stampOf`; records of earlier versions have none */
  stamp: z.optional(z.string()),
})
export type ModelRecord = z.output<typeof modelRecordSchema>

export type Places = {
  /** the engine's own package: package.json, package-lock.json, node_modules, main.js, installed.json */
  sidecar: string
  /** what the sidecar process runs */
  main: string
  engineRecord: string
  models: string
  modelRecord: string
}

export function placesIn(dataFolder: string): Places {
  const sidecar = join(dataFolder, "sidecar")
  return {
    sidecar,
    main: join(sidecar, "main.js"),
    engineRecord: join(sidecar, "installed.json"),
    models: join(dataFolder, "models"),
    modelRecord: join(dataFolder, "model.json"),
  }
}

/** The records, `undefined` for one that is missing or cannot be read. Never rejects. */
export async function readInstalled(
  places: Places,
): Promise<{ engine: EngineRecord | undefined; model: ModelRecord | undefined }> {
  const [engine, model] = await Promise.all([
    readRecord(places.engineRecord, engineRecordSchema),
    readRecord(places.modelRecord, modelRecordSchema),
  ])
  return { engine, model }
}

/** Why nothing of what lies there is run: others have a say in it. Undefined when nobody has. */
export function sharedIn({ sidecar, main }: Places): string | undefined {
  return firstShared(dirname(sidecar), sidecar, main)
}

function firstShared(...paths: string[]): string | undefined {
  return paths.map((path) => sharedWith(path, false)).find((why) => why !== undefined)
}

/** A model without a checksum is one that lies where only setup puts files, and only whole ones. */
type ChosenModel = Pick<ModelRecord, "name" | "path"> & Partial<ModelRecord>

/**
 * The model to load: the one in use, unless the option `digest.model` names another. That one has to be a file that setup
 * has fetched: a project's own opencode.json can set the option, and llama.cpp is not to parse what came with a project.
 * Answers in a sentence why there is none. Never rejects.
 */
export async function chooseModel(
  named: string | undefined,
  inUse: ModelRecord | undefined,
  places: Places,
): Promise<ChosenModel | { reason: string }> {
  if (named === undefined || named === inUse?.path)
    return inUse ?? { reason: "no model is chosen; run `npx opencode-hudfold setup`" }
  const refuse = (what: string) => ({ reason: `option digest.model: ${what}, got ${JSON.stringify(named)}` })
  if (!isAbsolute(named) || isRemote(named)) return refuse("expected the absolute path of a GGUF file")
  const [file = "", folder = ""] = await Promise.all(
    [named, places.models].map((path) => realpath(path).catch(() => "")),
  )
  // what a download has not finished ends otherwise
  if (!folder || !file.startsWith(folder + sep) || !/\.gguf$/i.test(file))
    return refuse(
      "expected a model that was fetched, or the one that `npx opencode-hudfold model use` has taken into use on this machine",
    )
  // there is no checksum to hold it against
  const shared = firstShared(folder, dirname(file), file)
  return shared === undefined
    ? { name: basename(named).replace(/\.gguf$/i, ""), path: file }
    : { reason: `option digest.model: ${shared}` }
}

async function readRecord<T extends z.ZodMiniType>(path: string, schema: T): Promise<z.output<T> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(path, "utf8")))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
