// The doctor's bundle as a file: whole or not there, for its owner's eyes until they have looked at it.
import { stat } from "node:fs/promises"
import { inShell } from "../doctor/check.ts"
import { UsageError } from "./terminal.ts"
import { checkFolder, writeWhole } from "./whole-file.ts"

/** Throws UsageError where a bundle cannot be written or something stands already. */
export async function checkFree(path: string): Promise<void> {
  await checkFolder("--bundle", path)
  if (await stat(path).catch(() => undefined)) {
    throw new UsageError(`--bundle: ${path} is there already and is left alone; name another, or rm ${inShell(path)}`)
  }
}

/** Throws UsageError. */
export function writeBundle(path: string, bundle: object): Promise<void> {
  return writeWhole("--bundle", path, `${JSON.stringify(bundle, null, 2)}\n`, checkFree)
}
