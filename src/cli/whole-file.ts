// A file that a command writes where it was told to: aside and then moved in place, so that what stands there is the old one
// or the new one, and readable by its owner alone.
import { randomUUID } from "node:crypto"
import { rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { UsageError } from "./terminal.ts"

/** `option` named the path. Throws UsageError. */
export async function checkFolder(option: string, path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined)
  if (!folder?.isDirectory()) throw new UsageError(`${option}: ${dirname(path)} is no folder; make it or name another`)
}

/**
 * `check` throws where nothing may be put; it is asked last of all, since making the text took its time. Throws UsageError,
 * and the signal's reason.
 */
export async function writeWhole(
  option: string,
  path: string,
  text: string,
  check: (path: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  // a name that nobody has: what is removed below is our own
  const aside = `${path}.${randomUUID()}.tmp`
  try {
    await writeFile(aside, text, { mode: 0o600, flag: "wx", ...(signal ? { signal } : {}) })
    await check(path)
    await rename(aside, path)
  } catch (cause) {
    await rm(aside, { force: true })
    if (signal?.aborted || cause instanceof UsageError) throw cause
    throw new UsageError(`${option}: ${path} cannot be written (${(cause as Error).message})`)
  }
}
