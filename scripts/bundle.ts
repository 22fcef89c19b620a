// Bundles what ships: the plugin, the CLI, the sidecar's program, the report's page and the panel, each with the packages it
// uses. The engine is not bundled: setup installs it, and a bundled node-llama-cpp does not test its GPU binaries in a
// child process.

import { chmod, rename } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { createSolidTransformPlugin } from "@opentui/solid/bun-plugin"
import { buildReportPage } from "./report-page.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/**
 * Returns the absolute paths of the modules whose code is in the bundles. Rejects when they do not build. Names of chunks
 * depend on module paths relative to the working directory, so a release is built from the root.
 */
export async function bundle(outdir: string): Promise<string[]> {
  const common = { outdir, target: "node", format: "esm", minify: true, metafile: true } as const
  const split = {
    ...common,
    splitting: true,
    naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
    external: ["bun:sqlite", "node:sqlite"],
  }
  // apart from each other, since what they share would be a dozen more files that OpenCode loads at its start
  const plugin = await Bun.build({ ...split, entrypoints: [join(root, "src/plugin.ts")] })
  const cli = await Bun.build({ ...split, entrypoints: [join(root, "src/cli/main.ts")] })
  await rename(join(outdir, "main.js"), join(outdir, "cli.js"))
  await chmod(join(outdir, "cli.js"), 0o755)
  // one file, since setup copies it beside the engine
  const sidecar = await Bun.build({
    ...common,
    entrypoints: [join(root, "sidecar/main.ts")],
    external: ["node-llama-cpp"],
    naming: "sidecar.js",
  })
  const builds = [plugin, cli, sidecar, ...(await buildReportPage(outdir)), await buildTui(root, outdir)]
  for (const log of builds.flatMap(({ logs }) => logs)) process.stderr.write(`${log.message}\n`)
  const outputs = builds.flatMap(({ metafile }) => Object.values(metafile?.outputs ?? {}))
  const included = outputs.flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0),
  )
  return [...new Set(included.map(([path]) => resolve(path)))].sort()
}

/** OpenCode replaces these imports with its own copies. */
const HOSTED = ["@opentui/core", "@opentui/solid", "@opentui/keymap", "solid-js"]

/**
 * Writes `tui.js`, the half for OpenCode's terminal, into the folder. The JSX is transformed here, since OpenCode's own
 * transform skips node_modules. Rejects when it does not build.
 */
export async function buildTui(root: string, outdir: string): Promise<Bun.BuildOutput> {
  return Bun.build({
    entrypoints: [`${root}/src/tui/plugin.tsx`],
    outdir,
    naming: "tui.js",
    // a file built for Bun begins with a mark that makes OpenCode's Bun skip its transforms
    target: "node",
    format: "esm",
    // OpenCode finds the imports by a pattern that needs the space in `from "solid-js"`
    minify: { identifiers: true, syntax: true, whitespace: false },
    external: HOSTED.flatMap((name) => [name, `${name}/*`]),
    plugins: [createSolidTransformPlugin()],
    metafile: true,
  })
}
