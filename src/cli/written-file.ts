// The files that commands write to a path the user chose: the report, and the doctor's bundle. Each is written under another
// name and moved into place, so that it is complete or absent. Only its owner can read it.
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { text } from "node:stream/consumers"
import { inShell } from "../doctor/check.ts"
import { REPORT_PREFIX } from "../report/page.ts"
import { type WriteOptions, writePrivate } from "../system/private-folder.ts"
import { UsageError, untilInterrupted } from "./terminal.ts"

/** Throws UsageError where the bundle cannot be written or something exists already. */
export async function checkBundlePath(path: string): Promise<void> {
  await checkFolder("--bundle", path)
  if (await stat(path).catch(() => undefined)) {
    throw new UsageError(
      `--bundle: ${path} already exists and will not be overwritten; choose another file, or rm ${inShell(path)}`,
    )
  }
}

/** Throws UsageError. */
export function writeBundle(path: string, bundle: object): Promise<void> {
  return writeFile("--bundle", path, `${JSON.stringify(bundle, null, 2)}\n`, checkBundlePath)
}

/** Throws UsageError where the report cannot be written, or would overwrite something other than a report. */
export async function checkReportPath(path: string): Promise<void> {
  await checkFolder("--out", path)
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  if (!found.isFile()) throw new UsageError(`--out: ${path} is not a file; choose another path`)
  if ((await text(createReadStream(path, { end: REPORT_PREFIX.length - 1 }))) !== REPORT_PREFIX) {
    throw new UsageError(
      `--out: ${path} was not written by hudfold report and will not be overwritten; choose another file`,
    )
  }
}

/** Returns the exit code. Throws UsageError. */
export function writeReport(path: string, html: string): Promise<number> {
  return untilInterrupted(async (signal) => {
    await writeFile("--out", path, html, checkReportPath, signal)
    return 0
  }, "nothing was written")
}

/** `option` is the option that named the path. Throws UsageError. */
async function checkFolder(option: string, path: string): Promise<void> {
  const folder = dirname(path)
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory())
    throw new UsageError(`${option}: ${folder} is not a folder; create it or choose another one`)
}

/**
 * `check` throws where nothing may be written; it runs again right before the file is moved into place, since producing the
 * text takes time. Throws UsageError, and the signal's reason.
 */
async function writeFile(
  option: string,
  path: string,
  content: string,
  check: NonNullable<WriteOptions["check"]>,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await writePrivate(path, content, { check, signal })
  } catch (cause) {
    if (signal?.aborted || cause instanceof UsageError) throw cause
    throw new UsageError(`${option}: ${path} cannot be written (${(cause as Error).message})`)
  }
}
