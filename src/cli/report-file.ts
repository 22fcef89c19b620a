// The report's file: written aside and moved in place, so that whatever happens there is the old one or the new one.
import { open, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { MARK } from "../report/page.ts"
import { untilInterrupted } from "./interrupt.ts"
import { UsageError } from "./terminal.ts"

/** Throws UsageError where a report cannot be written, or would take the place of something else. */
export async function checkPlace(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined)
  if (!folder?.isDirectory()) throw new UsageError(`--out: ${dirname(path)} is no folder; make it or name another`)
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  if (!found.isFile()) throw new UsageError(`--out: ${path} is no file; name another`)
  if ((await beginning(path)) !== MARK) {
    throw new UsageError(`--out: ${path} was not written by opencode-hud report and is left alone; name another`)
  }
}

/** For its owner's eyes only: it tells what was worked on. Answers the exit code. */
export function writePage(path: string, html: string): Promise<number> {
  const aside = `${path}.${process.pid}.tmp`
  return untilInterrupted(async (signal) => {
    try {
      await writeFile(aside, html, { mode: 0o600, flag: "wx", signal })
      // the sessions took their time, and something else may stand there by now
      await checkPlace(path)
      await rename(aside, path)
      return 0
    } catch (cause) {
      await rm(aside, { force: true })
      if (signal.aborted || cause instanceof UsageError) throw cause
      throw new UsageError(`--out: ${path} cannot be written (${(cause as Error).message})`)
    }
  }, "nothing was written")
}

async function beginning(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK.length), 0, MARK.length, 0)
    return buffer.toString("utf8", 0, bytesRead)
  } finally {
    await file.close()
  }
}
