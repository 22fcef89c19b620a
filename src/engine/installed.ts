// What `hudfold setup` installed in the data folder: `sidecar/` with the engine and its record, `models/` with the fetched
// models, `model.json` with the model in use. Setup writes these files, the plugin only reads them, and verifies the
// model before llama.cpp parses it.

import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readFile, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, sep } from "node:path"
import * as z from "zod/mini"
import { fileStamp, isRemote, whyUntrusted } from "../system/private-folder.ts"
import { parseAs } from "../system/values.ts"

/** `sidecar/installed.json`. Written last: a folder without it is an unfinished installation. */
const engineRecordSchema = z.object({
  /** version of node-llama-cpp */
  engine: z.string(),
  /** protocol version of `main.js` */
  protocol: z.int(),
  /** npm packages with native binaries, such as `@node-llama-cpp/linux-x64` */
  variants: z.array(z.string()),
})
export type EngineRecord = z.output<typeof engineRecordSchema>

/** `model.json` */
const modelRecordSchema = z.object({
  /** its name in the curated list, or the file's name */
  name: z.string(),
  /** absolute path of the GGUF file */
  path: z.string(),
  sizeBytes: z.int(),
  sha256: z.string(),
  /** `fileStamp` of the file when its checksum was verified; absent in records of earlier versions */
  stamp: z.optional(z.string()),
})
export type ModelInUse = z.output<typeof modelRecordSchema>

export type Places = Readonly<ReturnType<typeof placesIn>>

export function placesIn(dataFolder: string) {
  /** the engine's package: package.json, package-lock.json, node_modules, main.js, installed.json */
  const sidecar = join(dataFolder, "sidecar")
  return {
    sidecar,
    /** the sidecar's program */
    main: join(sidecar, "main.js"),
    engineRecord: join(sidecar, "installed.json"),
    models: join(dataFolder, "models"),
    modelRecord: join(dataFolder, "model.json"),
    /** held by the process that has loaded the model */
    lease: join(dataFolder, "sidecar.lease"),
    /** held by the command that changes any of these */
    setupLock: join(dataFolder, "setup.lock"),
  }
}

/** A record that is missing or unreadable is `undefined`. Never rejects. */
export async function readInstalled(places: Places) {
  const paths = [places.engineRecord, places.modelRecord]
  const [engine = "", model = ""] = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")))
  return { engine: parseAs(engineRecordSchema, engine), model: parseAs(modelRecordSchema, model) }
}

/** Why the installed program must not be run: other users can write to it. Undefined if they cannot. */
export function sharedReason({ sidecar, main }: Places): string | undefined {
  return firstShared(dirname(sidecar), sidecar, main)
}

function firstShared(...paths: string[]): string | undefined {
  return paths.map((path) => whyUntrusted(path, false)).find((why) => why !== undefined)
}

/** Without a checksum it is a file in the models folder, where setup puts only complete files. */
type ChosenModel = Pick<ModelInUse, "name" | "path"> & Partial<ModelInUse>

/**
 * The model to load: the one in use, or the one that the option `digest.model` names. The latter must be a file that setup
 * fetched, because a project's opencode.json can set the option and llama.cpp must not parse a project's files.
 * Otherwise the reason, in a sentence. Never rejects.
 */
export async function chooseModel(
  named: string | undefined,
  inUse: ModelInUse | undefined,
  places: Places,
): Promise<ChosenModel | { reason: string }> {
  if (named === undefined || named === inUse?.path)
    return inUse ?? { reason: "no model is chosen; run `hudfold setup`" }
  const refuse = (what: string) => ({ reason: `option digest.model: ${what}, got ${JSON.stringify(named)}` })
  if (!isAbsolute(named) || isRemote(named)) return refuse("expected the absolute path of a GGUF file")
  const [file = "", folder = ""] = await Promise.all(
    [named, places.models].map((path) => realpath(path).catch(() => "")),
  )
  // unfinished downloads have another extension
  if (!folder || !file.startsWith(folder + sep) || !/\.gguf$/i.test(file))
    return refuse("expected a fetched model, or the one chosen with `hudfold model use` on this machine")
  // there is no checksum to verify
  const shared = firstShared(folder, dirname(file), file)
  return shared === undefined
    ? { name: basename(named).replace(/\.gguf$/i, ""), path: file }
    : { reason: `option digest.model: ${shared}` }
}

type HashOptions = { signal?: AbortSignal | undefined; onProgress?: (doneBytes: number) => void }

/** SHA-256 in hexadecimal; undefined if there is no such file. Rejects on abort and on read errors. */
export async function hashFile(path: string, { signal, onProgress }: HashOptions = {}): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  const hash = createHash("sha256")
  let doneBytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    hash.update(chunk as Buffer)
    doneBytes += (chunk as Buffer).length
    onProgress?.(doneBytes)
  }
  return hash.digest("hex")
}

/** Stamps of files whose checksum was verified, by path: hashing a gigabyte takes a second or more. */
const verified = new Map<string, string>()

/**
 * Why the file must not be loaded, in a sentence: it changed since it was verified. Undefined if it did not, if it has no
 * checksum, or if it is missing, which the engine reports. Rejects on abort and on read errors.
 */
export async function changedModelReason({ path, sha256, stamp: recorded }: ChosenModel, signal?: AbortSignal) {
  if (sha256 === undefined) return undefined
  const stamp = await fileStamp(path)
  if (stamp === undefined || stamp === recorded || stamp === verified.get(path)) return undefined
  if ((await hashFile(path, { signal })) === sha256) {
    verified.set(path, stamp)
    return undefined
  }
  const again = "`hudfold doctor` says how to restore it, and `hudfold model use` accepts it as it is"
  return `${path} is not the file that was chosen: its checksum differs; ${again}`
}
