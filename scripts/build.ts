// Builds what ships: one small package with its dependencies bundled, and their licences. The readable sources ship beside
// it. `bun scripts/build.ts [FOLDER]`, by default dist.

import { chmod, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.ts"
import { licensesOf, licensesText } from "./licenses.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const dist = resolve(process.argv[2] ?? join(root, "dist"))
// the working directory affects the bytes of the output
process.chdir(root)
// built aside and moved into place, so that nobody loads a half-written build
const fresh = await mkdtemp(`${dist}-`)
try {
  const modules = await bundle(fresh)
  await writeFile(join(fresh, "licenses.txt"), licensesText(await licensesOf(modules)))
  // mkdtemp creates private folders, but other users may load a checkout
  await chmod(fresh, 0o755)
} catch (error) {
  await rm(fresh, { recursive: true, force: true })
  throw error
}
await rm(dist, { recursive: true, force: true })
await rename(fresh, dist)
const files = await readdir(dist)
const sizes = await Promise.all(files.map(async (name) => (await stat(join(dist, name))).size))
const sizeBytes = sizes.reduce((total, bytes) => total + bytes, 0)
process.stdout.write(`built ${dist}, ${Math.round(sizeBytes / 1024)} kB in ${files.length} files\n`)
