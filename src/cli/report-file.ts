// The report's file: written aside and moved in place, so that whatever happens there is the old one or the new one.
import { open, stat } from "node:fs/promises"
import { MARK } from "../report/page.ts"
import { untilInterrupted } from "./interrupt.ts"
import { UsageError } from "./terminal.ts"
import { checkFolder, writeWhole } from "./whole-file.ts"

/** Throws UsageError where a report cannot be written, or would take the place of something else. */
export async function checkPlace(path: string): Promise<void> {
  await checkFolder("--out", path)
  const found = await stat(path).catch(() => undefined)
  if (!found) return
  if (!found.isFile()) throw new UsageError(`--out: ${path} is no file; name another`)
  if ((await beginning(path)) !== MARK) {
    throw new UsageError(`--out: ${path} was not written by hudfold report and is left alone; name another`)
  }
}

/** For its owner's eyes only: it tells what was worked on. Answers the exit code. */
export function writePage(path: string, html: string): Promise<number> {
  return untilInterrupted(async (signal) => {
    await writeWhole("--out", path, html, checkPlace, signal)
    return 0
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
