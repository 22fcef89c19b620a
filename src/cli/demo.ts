// `hudfold demo`: the scripted demonstration on the real OpenCode. All of it is in `src/demo/`.
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineCommand } from "citty"
import { UsageError } from "./terminal.ts"

export const demo = defineCommand({
  meta: {
    name: "demo",
    description: "Watch the HUD in the real OpenCode with a scripted model: no account, no network",
  },
  async run() {
    const [{ runDemo }, { findOpencode }, { wantsColour }] = await Promise.all([
      import("../../test/opencode/demo.ts"),
      import("../../test/opencode/host.ts"),
      import("../../test/opencode/print.ts"),
    ])
    const stop = new AbortController()
    const abort = () => stop.abort()
    process.once("SIGINT", abort).once("SIGTERM", abort)
    try {
      return await runDemo({
        opencode: found(findOpencode),
        plugin: pluginPath(),
        write: (text) => void process.stdout.write(text),
        colour: wantsColour(process.stdout, process.env),
        signal: stop.signal,
      })
    } finally {
      process.off("SIGINT", abort).off("SIGTERM", abort)
    }
  },
})

/** Beside the bundled CLI, or in the sources. */
function pluginPath(): string {
  const places = ["./plugin.js", "../plugin.ts"].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  const path = places.find((place) => existsSync(place))
  if (path === undefined) throw new Error(`the plugin is not where it was installed: ${places[0]}`)
  return path
}

function found(find: () => string): string {
  try {
    return find()
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
