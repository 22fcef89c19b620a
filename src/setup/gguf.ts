// Whether a file is a model llama.cpp can be asked to load: the first bytes of the GGUF format, no more. The engine says
// the rest.

import { open } from "node:fs/promises"
import { SetupError, systemCode } from "./errors.ts"

/** Answers the size in bytes. Rejects with NOT_A_MODEL. */
export async function checkModelFile(path: string): Promise<number> {
  const refuse = (got: string, cause?: unknown) =>
    new SetupError("NOT_A_MODEL", `${path} is no model: expected a GGUF file of version 2 or 3, got ${got}`, { cause })
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path)
  } catch (cause) {
    const code = systemCode(cause)
    throw refuse(code === "ENOENT" ? "no such file" : `a file that cannot be read (${code})`, cause)
  }
  try {
    const found = await file.stat()
    if (!found.isFile()) throw refuse("a folder or something else")
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0)
    if (bytesRead < 8 || buffer.toString("latin1", 0, 4) !== "GGUF") {
      throw refuse(
        bytesRead === 0
          ? "an empty file"
          : `a file that begins with ${JSON.stringify(buffer.toString("latin1", 0, 4))}`,
      )
    }
    const version = buffer.readUInt32LE(4)
    if (version !== 2 && version !== 3) throw refuse(`version ${version}`)
    return found.size
  } finally {
    await file.close()
  }
}
