// Taking away what setup put there, and nothing else: the engine's folder, the fetched models, the records. A model file
// that lies elsewhere is the user's and stays.

import { rm, rmdir } from "node:fs/promises"
import { dirname } from "node:path"
import type { Places } from "../engine/installed.ts"
import { exists, leftBeside, sizeOf } from "./folder.ts"
import { type HoldOptions, holding } from "./hold.ts"
import { fetchedFiles, removeFetched, takeOutOfUse } from "./shelf.ts"

export type Leftover = { path: string; sizeBytes: number }

/** What there is to take away, with sizes; empty when setup has never run. */
export async function findInstalled(places: Places, keepModels: boolean): Promise<Leftover[]> {
  const engine = [places.sidecar, ...(await leftBeside(places.sidecar))]
  const models = keepModels ? [] : [...(await fetchedFiles(places)), places.modelRecord]
  const found = await Promise.all(
    [...engine, ...models].map(async (path) => ((await exists(path)) ? [{ path, sizeBytes: await sizeOf(path) }] : [])),
  )
  return found.flat()
}

/** Waits for a setup that is at work. */
export async function uninstall(places: Places, keepModels: boolean, options: HoldOptions): Promise<void> {
  await holding(`${places.sidecar}.lock`, options, async () => {
    // the last one is the empty file that OpenCode processes agree by on who loads the model
    for (const path of [...(await leftBeside(places.sidecar)), places.sidecar, `${places.sidecar}.lease`]) {
      await rm(path, { recursive: true, force: true })
    }
    if (keepModels) return
    await removeFetched(places, await fetchedFiles(places))
    await takeOutOfUse(places)
  })
  // the data folder, where nothing else is in it
  await rmdir(dirname(places.sidecar)).catch(() => {})
}
