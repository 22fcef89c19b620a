// Whether a file begins as a model does: a GGUF file of a version that llama.cpp reads.

import { open, stat } from "node:fs/promises"

/** What the file is instead of a model, in words; undefined if it begins as one. Rejects with the error of the file system. */
export async function notGguf(path: string): Promise<string | undefined> {
  if (!(await stat(path)).isFile()) return "a folder or something else"
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
  const text = buffer.toString("latin1", 0, bytesRead)
  if (bytesRead === 0) return "an empty file"
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return "a web page, which some servers send for a missing file"
  if (bytesRead < 8 || !text.startsWith("GGUF")) return `a file that begins with ${JSON.stringify(text.slice(0, 4))}`
  const version = buffer.readUInt32LE(4)
  return version === 2 || version === 3 ? undefined : `version ${version}`
}
