// The package as npm packs it: the tarball that users get, and what it holds.

import { execFile } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../..", import.meta.url))

export type Packed = {
  tarball: string
  /** of the tarball, and of the files in it */
  sizeBytes: number
  unpackedBytes: number
  files: readonly { path: string; size: number; mode: number }[]
}

/** Packs what is built into the folder. */
export async function pack(folder: string): Promise<Packed> {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]
  const { stdout } = await promisify(execFile)("npm", args, { cwd: root })
  const [one] = JSON.parse(stdout) as [
    { filename: string; size: number; unpackedSize: number; files: Packed["files"][number][] },
  ]
  return { tarball: join(folder, one.filename), sizeBytes: one.size, unpackedBytes: one.unpackedSize, files: one.files }
}

/** The text of each file in the tarball, by its path in the package. */
export async function textsIn(tarball: string): Promise<Map<string, string>> {
  const files = await new Bun.Archive(await Bun.file(tarball).bytes()).files()
  const texts = [...files].map(async ([path, file]) => [path.replace(/^package\//, ""), await file.text()] as const)
  return new Map(await Promise.all(texts))
}
