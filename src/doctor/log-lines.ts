// The plugin's own lines in OpenCode's logs, the newest ones.

import { type FileHandle, open, readdir, stat } from "node:fs/promises"
import { join } from "node:path"

const MOST_LINES = 200
const LONGEST_LINE = 1000
/** Of one file, from its end: a log that nobody rotates grows for months. */
const MOST_BYTES = 8_000_000
const MOST_FILES = 10

/** Lines that the plugin wrote, and those in which OpenCode says it could not load it. */
const OURS = /(?:^|[\s"'=])hudfold: |\bplugin\b.*\bopencode-hudfold\b/

/** A wrong option's value: it may be a key. */
const GOT = /(\boption [\w.]+: expected .*?|the options must be an object), got .*(?=; using)/

/** Oldest first; `folder` is OpenCode's data folder. Never rejects. */
export async function ownLogLines(folder: string): Promise<string[]> {
  let lines: string[] = []
  for (const path of await newestLogs(join(folder, "log"))) {
    const text = await endOf(path).catch(() => "")
    const own = text.split(/\r?\n/).filter((line) => OURS.test(line))
    lines = [...own.map((line) => line.replace(GOT, "$1").slice(0, LONGEST_LINE)), ...lines]
    if (lines.length >= MOST_LINES) break
  }
  return lines.slice(-MOST_LINES)
}

async function newestLogs(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".log"))
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      return { path, changedMs: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 }
    }),
  )
  return files
    .sort((a, b) => b.changedMs - a.changedMs)
    .slice(0, MOST_FILES)
    .map(({ path }) => path)
}

async function endOf(path: string): Promise<string> {
  let file: FileHandle | undefined
  try {
    file = await open(path)
    const { size } = await file.stat()
    const length = Math.min(size, MOST_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    const text = buffer.toString("utf8", 0, bytesRead)
    // where it was cut, the first line is half of one
    return length < size ? text.slice(text.indexOf("\n") + 1) : text
  } finally {
    await file?.close()
  }
}
