// Builds the terminal's half. OpenCode's own JSX transform passes over what lies in node_modules, so it is done here; the
// libraries of its screen it puts in the place of these imports when it loads the file, and they have to be its own.

import { createSolidTransformPlugin } from "@opentui/solid/bun-plugin"

const HOSTED = ["@opentui/core", "@opentui/solid", "@opentui/keymap", "solid-js"]

/** Leaves `tui.js` in the folder. Rejects when it does not build. */
export async function buildTui(root: string, outdir: string): Promise<Bun.BuildOutput> {
  return Bun.build({
    entrypoints: [`${root}/src/tui/plugin.tsx`],
    outdir,
    naming: "tui.js",
    // for Bun it would begin with a mark by which OpenCode's Bun takes the file as it is, imports and all
    target: "node",
    format: "esm",
    // OpenCode looks for the imports by a pattern that wants the space in `from "solid-js"`
    minify: { identifiers: true, syntax: true, whitespace: false },
    external: HOSTED.flatMap((name) => [name, `${name}/*`]),
    plugins: [createSolidTransformPlugin()],
    metafile: true,
  })
}
