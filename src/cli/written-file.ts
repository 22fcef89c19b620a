// The files that commands write to a path the user chose: the report (`--out`), and the doctor's bundle (`--bundle`). Each is
// written under another name and moved into place, so that it is complete or absent. Only its owner can read it.
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import { text } from "node:stream/consumers"
import { REPORT_PREFIX } from "../report/page.ts"
import { writePrivate } from "../system/private-folder.ts"
import { UsageError } from "./command.ts"

type PathOption = "--out" | "--bundle"

/** Throws UsageError where the file cannot be written, or would overwrite anything but a report by a report. */
export async function checkPath(option: PathOption, path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined)
  if (!folder?.isDirectory())
    throw new UsageError(`${option}: ${dirname(path)} is not a folder; create it or choose another one`)
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  if (!found.isFile()) throw new UsageError(`${option}: ${path} is not a file; choose another path`)
  // what cannot be read is no report either
  const begins = await text(createReadStream(path, { end: REPORT_PREFIX.length - 1 })).catch(() => "")
  if (option === "--bundle" || begins !== REPORT_PREFIX)
    throw new UsageError(`${option}: ${path} already exists and will not be overwritten; choose another file`)
}

/** Checks again, since producing the text takes time. Throws UsageError. */
export async function writeTo(option: PathOption, path: string, content: string): Promise<void> {
  await checkPath(option, path)
  try {
    writePrivate(path, content)
  } catch (cause) {
    throw new UsageError(`${option}: ${path} cannot be written (${(cause as Error).message})`)
  }
}
