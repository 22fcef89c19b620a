// What `opencode-hud setup` left in the data folder, as the plugin finds it: `sidecar/` with the engine and its record,
// `models/` with the models it fetched, `model.json` naming the one in use. Setup writes these; the plugin only reads.

import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as z from "zod/mini"

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

async function readRecord<T extends z.ZodMiniType>(path: string, schema: T): Promise<z.output<T> | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(path, "utf8")))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
