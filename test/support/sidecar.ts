// Plants a sidecar where the plugin of an isolated OpenCode looks for one, and lists running processes.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Places, placesIn } from "../../src/engine/installed.ts"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

export type Planted = Places & { folder: string }

/**
 * Plants what `setup` leaves behind in the data folder of a host, see `createHost`.
 * - `program`: a module that is the sidecar; absent = the real one, with the real engine
 * - `model`: path of the model file, which need not exist
 */
export function plantSidecar(hostRoot: string, options: { program?: string; model: string }): Planted {
  const folder = join(hostRoot, "data", "opencode-hudfold")
  const places = placesIn(folder)
  mkdirSync(places.sidecar, { recursive: true })
  if (options.program === undefined) {
    copyFileSync(join(repository, "dist", "sidecar.js"), places.main)
    symlinkSync(join(repository, "sidecar", "node_modules"), join(places.sidecar, "node_modules"))
  } else writeFileSync(places.main, PROGRAM.replace("program", options.program))
  const bytes = existsSync(options.model) ? readFileSync(options.model) : Buffer.alloc(0)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  writeFileSync(places.engineRecord, JSON.stringify({ engine: "3.21.1", protocol: PROTOCOL, variants: [] }))
  writeFileSync(
    places.modelRecord,
    JSON.stringify({
      name: basename(options.model, ".gguf"),
      path: options.model,
      sizeBytes: bytes.length,
      sha256,
    }),
  )
  return { ...places, folder }
}

/** A sidecar that leaves a line in `started` before it runs the program it was given. */
const PROGRAM = `import { appendFileSync } from "node:fs"
appendFileSync(new URL("started", import.meta.url), process.pid + "\\n")
await import("program")
`

/** How often the planted program was started; the real sidecar leaves no trace. */
export function starts(planted: Planted): number {
  const path = join(planted.sidecar, "started")
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0
}

export type Running = { pid: number; state: string; command: string }

/** Processes whose command line names a path, zombies left out. Unix only. */
export function running(path: string): Running[] {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,state=,args="], { encoding: "utf8" }).split("\n")
  return lines.flatMap((line) => {
    const [, pid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return command?.includes(path) && state !== undefined && !state.startsWith("Z")
      ? [{ pid: Number(pid), state, command }]
      : []
  })
}
