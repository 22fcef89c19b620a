// A file that a command writes where it was told to, whole or not at all and readable by its owner alone; and what is wrong
// with the place, in words of the command line.
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { type WriteOptions, writePrivate } from "../system/private-folder.ts"
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
  check: NonNullable<WriteOptions["check"]>,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await writePrivate(path, text, { check, signal })
  } catch (cause) {
    if (signal?.aborted || cause instanceof UsageError) throw cause
    throw new UsageError(`${option}: ${path} cannot be written (${(cause as Error).message})`)
  }
}
