// What ships, bundled into a folder: the plugin, the CLI, the sidecar's program, the report's page and the panel, with the
// parts of the packages they use in them. The sidecar's engine is not: setup installs it, and node-llama-cpp does not test
// its GPU binaries in a child process when it is part of a bundle.

import { chmod, rename } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { buildTui } from "./build-tui.ts"
import { buildReportPage } from "./report-page.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/**
 * Answers the modules that something of is in it, by absolute path. Rejects when it does not build. The names of the chunks
 * come from the paths of the modules as seen from the working directory: what ships is built with the root for it.
 */
export async function bundle(outdir: string): Promise<string[]> {
  const common = { outdir, target: "node", format: "esm", minify: true, metafile: true } as const
  const host = await Bun.build({
    ...common,
    entrypoints: [join(root, "src/plugin.ts"), join(root, "src/cli/main.ts")],
    splitting: true,
    external: ["bun:sqlite"],
    naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
  })
  await rename(join(outdir, "main.js"), join(outdir, "cli.js"))
  await chmod(join(outdir, "cli.js"), 0o755)
  // in one file: setup copies it beside the engine
  const sidecar = await Bun.build({
    ...common,
    entrypoints: [join(root, "sidecar/main.ts")],
    external: ["node-llama-cpp"],
    naming: "sidecar.js",
  })
  const builds = [host, sidecar, ...(await buildReportPage(outdir)), await buildTui(root, outdir)]
  for (const log of builds.flatMap(({ logs }) => logs)) process.stderr.write(`${log.message}\n`)
  const outputs = builds.flatMap(({ metafile }) => Object.values(metafile?.outputs ?? {}))
  const held = outputs.flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  )
  return [...new Set(held.map(([path]) => resolve(path)))].sort()
}
