// Builds what ships: the plugin, the CLI and the sidecar's program, with the parts of the packages they use bundled in, so
// that a user installs one small package. The sources ship beside it, readable. The sidecar's engine is not bundled: setup
// installs it, and node-llama-cpp does not test its GPU binaries in a child process when it is part of a bundle.

import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { buildTui } from "./build-tui.ts"
import { buildReportPage } from "./report-page.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const BUNDLED = ["citty", "drizzle-orm", "picomatch", "tokenx", "uplot", "vscode-jsonrpc", "zod"]

const dist = join(root, "dist")
// built aside and moved in place, so that a reader of the old one never sees half of the new one
const fresh = await mkdtemp(join(root, "dist-"))
const common = { outdir: fresh, target: "node", format: "esm", minify: true } as const
try {
  const host = await Bun.build({
    ...common,
    entrypoints: [join(root, "src/plugin.ts"), join(root, "src/cli/main.ts")],
    splitting: true,
    external: ["bun:sqlite"],
    naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
  })
  await rename(join(fresh, "main.js"), join(fresh, "cli.js"))
  // in one file: setup copies it beside the engine
  const sidecar = await Bun.build({
    ...common,
    entrypoints: [join(root, "sidecar/main.ts")],
    external: ["node-llama-cpp"],
    naming: "sidecar.js",
  })
  await buildReportPage(fresh)
  await buildTui(root, fresh)
  for (const log of [...host.logs, ...sidecar.logs]) process.stderr.write(`${log.message}\n`)
  await chmod(join(fresh, "cli.js"), 0o755)
  await writeFile(join(fresh, "licenses.txt"), await licenses())
} catch (error) {
  await rm(fresh, { recursive: true, force: true })
  throw error
}
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
      const file = (await readdir(folder)).find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name))
      const text = file ? await readFile(join(folder, file), "utf8") : `Licensed under ${license}.\n`
      return `${name} ${version} (${license})\n\n${text}`
    }),
  )
  return `The files of this folder contain code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}
