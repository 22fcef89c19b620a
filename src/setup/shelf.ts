// The models that are there: what was fetched into the models folder, as `owner/repository/file.gguf`, and which one is in
// use. A file that somebody put there by hand lies elsewhere and is never removed.

import { readdir, rm, rmdir, stat } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { type ModelRecord, type Places, readInstalled } from "../engine/installed.ts"
import { makePrivateFolder, writePrivate } from "../system/private-folder.ts"
import type { HubFile } from "./hub.ts"
import { MODELS } from "./models.ts"
import { hasQuantisation, readReference } from "./reference.ts"

export type PulledModel = {
  /** of the list, or its URI */
  name: string
  path: string
  sizeBytes: number
}

/** Where a file of the hub lies once it is fetched. */
export function placeOf(places: Places, { repository, file }: Pick<HubFile, "repository" | "file">): string {
  return join(places.models, ...repository.split("/"), ...file.split("/"))
}

export function nameOf({ repository, file }: Pick<HubFile, "repository" | "file">): string {
  const listed = MODELS.find((model) => model.repository === repository && model.file === file)
  return listed?.name ?? `hf:${repository}/${file}`
}

/** All that were fetched and are whole, by name. */
export async function pulledModels(places: Places): Promise<PulledModel[]> {
  const paths = await modelFiles(places, /\.gguf$/i)
  const models = await Promise.all(
    paths.map(async (path) => {
      const [owner = "", repository = "", ...file] = relative(places.models, path).split(sep)
      const name = nameOf({ repository: `${owner}/${repository}`, file: file.join("/") })
      return { name, path, sizeBytes: (await stat(path)).size }
    }),
  )
  return models.sort((a, b) => a.name.localeCompare(b.name))
}

/** The fetched model that a text means: by its name, its file's name or path, or a URI. */
export async function findPulled(places: Places, text: string): Promise<PulledModel | undefined> {
  const models = await pulledModels(places)
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
      : path === placeOf(places, { repository, file }),
  )
}

/** What fetching left: whole files, parts and locks. */
export async function fetchedFiles(places: Places): Promise<string[]> {
  return modelFiles(places, /\.gguf(?:\.\w+\.part|\.lock)?$/i)
}

async function modelFiles(places: Places, ending: RegExp): Promise<string[]> {
  const names = await readdir(places.models, { recursive: true }).catch(() => [])
  // owner/repository/file at least: what lies above was not put there by us
  return names
    .filter((name) => ending.test(name) && name.split(sep).length >= 3)
    .map((name) => join(places.models, name))
}

export async function modelInUse(places: Places): Promise<ModelRecord | undefined> {
  return (await readInstalled(places)).model
}

export async function takeIntoUse(places: Places, record: ModelRecord): Promise<void> {
  makePrivateFolder(dirname(places.modelRecord))
  await writePrivate(places.modelRecord, `${JSON.stringify(record, null, 2)}\n`)
}

export async function takeOutOfUse(places: Places): Promise<void> {
  await rm(places.modelRecord, { force: true })
}

/** Removes files of the models folder, and the folders that are empty without them. */
export async function removeFetched(places: Places, paths: readonly string[]): Promise<void> {
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
