// The backends that an evaluation compares, as named on its command line: `extract`, the path of a GGUF
// file for the real sidecar, or `openai:URL#MODEL` for a local server.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Backend } from "../../src/digest/backends/backend.ts"
import { createLlama } from "../../src/digest/backends/llama.ts"
import { createOpenai } from "../../src/digest/backends/openai.ts"
import { placesIn } from "../../src/engine/installed.ts"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"
import { fileStamp } from "../../src/system/private-folder.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** `backend` is absent for `extract`. */
export type Opened = { name: string; backend?: Backend; close(): Promise<void> }

/** Rejects with a message for the user when the backend is not available. */
export async function openBackend(spec: string, threads: number): Promise<Opened> {
  if (spec === "extract") return { name: spec, close: async () => {} }
  if (spec.startsWith("openai:")) {
    const [url = "", model] = spec.slice("openai:".length).split("#")
    const backend = createOpenai({ url, model, timeoutMs: 600_000, allowRemote: false })
    return { name: model ?? spec, backend, close: () => backend.close() }
  }
  if (!spec.endsWith(".gguf"))
    throw new Error(`--model ${spec}: expected extract, the path of a .gguf file, or openai:URL#MODEL`)
  const dataFolder = await plant(resolve(spec))
  const opened = createLlama({
    dataFolder,
    options: { model: undefined, gpu: "off", threads, memoryMB: 0, idleMinutes: 60, runtime: "auto" },
    report: (_level, message) => void process.stderr.write(`${message}\n`),
    // no speed limit: the evaluation measures what the model writes, even on a busy machine
    times: { writeMs: 600_000 },
  })
  await opened.prepare?.()
  if (opened.state.kind === "off") throw new Error(`--model ${spec}: ${opened.state.reason}`)
  // its process does not keep this one alive
  const awake = setInterval(() => {}, 60_000)
  return {
    name: opened.model ?? spec,
    backend: opened,
    async close() {
      await opened.close()
      clearInterval(awake)
      rmSync(dataFolder, { recursive: true, force: true })
    },
  }
}

/** A data folder as `setup` creates it, with this checkout's sidecar and the engine of `bun scripts/sidecar.ts`. */
async function plant(model: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "hud-eval-"))
  const places = placesIn(folder)
  mkdirSync(places.sidecar)
  writeFileSync(places.main, `import ${JSON.stringify(join(root, "sidecar", "main.ts"))}\n`)
  symlinkSync(join(root, "sidecar", "node_modules"), join(places.sidecar, "node_modules"))
  const stamp = (await fileStamp(model)) ?? ""
  const record = { name: basename(model).replace(/\.gguf$/i, ""), path: model, sizeBytes: 0, sha256: "", stamp }
  writeFileSync(places.modelRecord, JSON.stringify(record))
  writeFileSync(places.engineRecord, JSON.stringify({ engine: "checkout", protocol: PROTOCOL, variants: [] }))
  return folder
}
