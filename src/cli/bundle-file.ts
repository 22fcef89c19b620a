// The doctor's bundle as a file: whole or not there, for its owner's eyes until they have looked at it.
import { rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { inShell } from "../doctor/check.ts"
import { UsageError } from "./terminal.ts"

/** Throws UsageError where a bundle cannot be written or something stands already. */
export async function checkFree(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined)
  if (!folder?.isDirectory()) throw new UsageError(`--bundle: ${dirname(path)} is no folder; make it or name another`)
  if (await stat(path).catch(() => undefined)) {
    throw new UsageError(`--bundle: ${path} is there already and is left alone; name another, or rm ${inShell(path)}`)
  }
}

/** Throws UsageError. */
export async function writeBundle(path: string, bundle: object): Promise<void> {
  const aside = `${path}.${process.pid}.tmp`
  try {
    await writeFile(aside, `${JSON.stringify(bundle, null, 2)}\n`, { mode: 0o600, flag: "wx" })
    await checkFree(path)
    await rename(aside, path)
  } catch (cause) {
    await rm(aside, { force: true })
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`--bundle: ${path} cannot be written (${(cause as Error).message})`)
  }
}
