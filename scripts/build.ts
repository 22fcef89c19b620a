// Builds what ships: the plugin and the CLI, with the parts of zod, drizzle-orm, citty and tokenx they use bundled in,
// so that a user installs one small package. The sources ship beside it, readable.

import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const BUNDLED = ["citty", "drizzle-orm", "tokenx", "zod"]

const dist = join(root, "dist")
// built aside and moved in place, so that a reader of the old one never sees half of the new one
const fresh = await mkdtemp(join(root, "dist-"))
const result = await Bun.build({
  entrypoints: [join(root, "src/plugin.ts"), join(root, "src/cli/main.ts")],
  outdir: fresh,
  target: "node",
  format: "esm",
  splitting: true,
  minify: true,
  external: ["bun:sqlite"],
  naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
})
for (const log of result.logs) process.stderr.write(`${log.message}\n`)
await rename(join(fresh, "main.js"), join(fresh, "cli.js"))
await chmod(join(fresh, "cli.js"), 0o755)
await writeFile(join(fresh, "licenses.txt"), await licenses())
await rm(dist, { recursive: true, force: true })
await rename(fresh, dist)
const files = await readdir(dist)
const sizes = await Promise.all(files.map(async (name) => (await stat(join(dist, name))).size))
const sizeBytes = sizes.reduce((total, bytes) => total + bytes, 0)
process.stdout.write(`built dist, ${Math.round(sizeBytes / 1024)} kB in ${files.length} files\n`)

/** What the licences of the bundled packages ask for: their text, with the code. */
async function licenses(): Promise<string> {
  const texts = await Promise.all(
    BUNDLED.map(async (name) => {
      const folder = join(root, "node_modules", name)
      const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
        version: string
        license: string
      }
      const text = await readFile(join(folder, "LICENSE"), "utf8").catch(() => `Licensed under ${license}.\n`)
      return `${name} ${version} (${license})\n\n${text}`
    }),
  )
  return `The files of this folder contain code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}
