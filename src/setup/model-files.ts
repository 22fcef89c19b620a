// Model files: those fetched into the models folder, as `owner/repository/file.gguf`, and the model in use. A user's own
// files are elsewhere and are never removed.

import { open, readdir, rm, rmdir, stat } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import type { ModelInUse, Places } from "../engine/installed.ts"
import { makePrivateFolder, writePrivate } from "../system/private-folder.ts"
import { SetupError, systemCode } from "./errors.ts"
import type { HubFile } from "./hub.ts"
import { hasQuantisation, MODELS, readReference } from "./models.ts"

/** Where a file of the hub is stored. */
export function fetchedPath(places: Places, { repository, file }: Pick<HubFile, "repository" | "file">): string {
  return join(places.models, ...repository.split("/"), ...file.split("/"))
}

export function hubModelName({ repository, file }: Pick<HubFile, "repository" | "file">): string {
  const listed = MODELS.find((model) => model.repository === repository && model.file === file)
  return listed?.name ?? `hf:${repository}/${file}`
}

/** All completely fetched models, sorted by name: the name in the curated list, or the URI. */
export async function fetchedModels(places: Places) {
  const paths = await modelFiles(places, /\.gguf$/i)
  const models = await Promise.all(
    paths.map(async (path) => {
      const [owner = "", repository = "", ...file] = relative(places.models, path).split(sep)
      const name = hubModelName({ repository: `${owner}/${repository}`, file: file.join("/") })
      return { name, path, sizeBytes: (await stat(path)).size }
    }),
  )
  return models.sort((a, b) => a.name.localeCompare(b.name))
}

/** Finds a fetched model by its name, file name, path, or URI. */
export async function findFetched(places: Places, text: string) {
  const models = await fetchedModels(places)
  const named = models.find(
    ({ name, path }) => [name, path, basename(path)].includes(text) || name === text.toLowerCase(),
  )
  if (named || !text.includes(":")) return named
  const reference = readReference(text)
  if (reference.kind === "path") return undefined
  const { repository, file, quantisation = "" } = reference
  const folder = join(places.models, ...repository.split("/"), sep)
  return models.find(({ path }) =>
    file === undefined
      ? path.startsWith(folder) && hasQuantisation(path, quantisation)
      : path === fetchedPath(places, { repository, file }),
  )
}

/** Everything that downloads have created: models, parts and locks. */
export async function fetchedFiles(places: Places): Promise<string[]> {
  return modelFiles(places, /\.gguf(?:\.\w+\.part|\.lock)?$/i)
}

async function modelFiles(places: Places, ending: RegExp): Promise<string[]> {
  const names = await readdir(places.models, { recursive: true }).catch(() => [])
  // at least owner/repository/file: setup creates nothing above that
  return names
    .filter((name) => ending.test(name) && name.split(sep).length >= 3)
    .map((name) => join(places.models, name))
}

export async function setModelInUse(places: Places, record: ModelInUse): Promise<void> {
  makePrivateFolder(dirname(places.modelRecord))
  await writePrivate(places.modelRecord, `${JSON.stringify(record, null, 2)}\n`)
}

/** Removes files of the models folder with the folders that become empty, and the record of the model in use. */
export async function removeModelFiles(places: Places, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await rm(path, { force: true })
    for (let folder = dirname(path); folder.startsWith(places.models); folder = dirname(folder)) {
      try {
        await rmdir(folder)
      } catch {
        break
      }
    }
  }
}

/**
 * Checks the first bytes of the GGUF format; the engine checks the rest. Resolves with the size in bytes. Rejects with
 * NOT_A_MODEL.
 */
export async function checkModelFile(path: string): Promise<number> {
  const refuse = (got: string, cause?: unknown) => {
    const message = `${path} is not a model: expected a GGUF file of version 2 or 3, got ${got}`
    return new SetupError("NOT_A_MODEL", message, { cause })
  }
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path)
  } catch (cause) {
    const code = systemCode(cause)
    throw refuse(code === "ENOENT" ? "no such file" : `a file that cannot be read (${code})`, cause)
  }
  try {
    const found = await file.stat()
    if (!found.isFile()) throw refuse("a folder or something else")
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0)
    if (bytesRead < 8 || buffer.toString("latin1", 0, 4) !== "GGUF") {
      const head = JSON.stringify(buffer.toString("latin1", 0, 4))
      throw refuse(bytesRead === 0 ? "an empty file" : `a file that begins with ${head}`)
    }
    const version = buffer.readUInt32LE(4)
    if (version !== 2 && version !== 3) throw refuse(`version ${version}`)
    return found.size
  } finally {
    await file.close()
  }
}
