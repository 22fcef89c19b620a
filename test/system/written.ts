// Writes every file that the project ever writes, through the code that writes it, for the tests of modes and links.

import { join } from "node:path"
import { writeTo } from "../../src/cli/written-file.ts"
import { placesIn } from "../../src/engine/installed.ts"
import { createLease } from "../../src/engine/lease.ts"
import { download, locate } from "../../src/setup/download.ts"
import { type Installer, installEngine } from "../../src/setup/engine.ts"
import { readReference, setModelInUse } from "../../src/setup/models.ts"
import { pin } from "../../src/setup/packages.ts"
import { applyModelPlan } from "../../src/setup/plan.ts"
import { statusFolder, writeStatus, writeSwitches } from "../../src/status/files.ts"
import { openStore } from "../../src/store/open.ts"
import { modelBytes, startHub } from "../setup/hub.ts"
import { turnOf } from "../store/support.ts"
import { statusOf } from "../support/status.ts"

export const VARIANTS = ["linux-x64"]

/** Writes what npm would, readable and writable for everyone, with one executable file. */
export const looseInstaller: Installer = {
  name: "npm",
  command: process.execPath,
  args: [
    "-e",
    `const { mkdirSync, writeFileSync, chmodSync } = require("node:fs")
    process.umask(0)
    for (const [name, version] of Object.entries(${JSON.stringify(JSON.parse(pin(VARIANTS).manifest).dependencies)})) {
      mkdirSync("node_modules/" + name + "/bin", { recursive: true })
      writeFileSync("node_modules/" + name + "/package.json", JSON.stringify({ name, version }))
      writeFileSync("node_modules/" + name + "/bin/tool", "#!/bin/sh", { mode: 0o777 })
    }`,
  ],
  env: {},
}

/** Keeps things open, so that temporary files are seen too. */
export type Life = { close(): Promise<void> }

/** `data` is the data folder; the report, the bundle and the sidecar's program lie in `beside`. */
export async function live(data: string, beside: string): Promise<Life> {
  const store = await openStore({ path: join(data, "hud.db"), onWarning: () => {} })
  store.saveTurn(turnOf())
  await store.flush()
  const lease = createLease(join(data, "sidecar.lease"))
  await lease.acquire()
  writeStatus(statusFolder(data), statusOf({ sessionID: "ses_1" }))
  await writeSwitches(statusFolder(data), "ses_1", { hud: "paused", folding: "on" })

  const places = placesIn(data)
  const main = join(beside, "sidecar.js")
  await Bun.write(main, "// the sidecar\n")
  await installEngine(VARIANTS, places, main, { installers: [looseInstaller] })
  const halfway = Promise.withResolvers<void>()
  const hub = await startHub({ "owner/repo/a-Q8_0.gguf": modelBytes(1000), "owner/repo/b-Q8_0.gguf": modelBytes(1000) })
  const env = { HF_ENDPOINT: hub.url }
  const fetched = async (name: string, signal?: AbortSignal) => {
    const file = await locate(readReference(`hf:owner/repo/${name}.gguf`) as never, env)
    const path = join(places.models, "owner", "repo", `${name}.gguf`)
    const plan = { kind: "hub", name, path, file, isThere: false } as const
    if (!signal) return applyModelPlan(plan, { env })
    return download(file, path, { env, signal, onProgress: (done) => done > 0 && halfway.resolve() })
  }
  try {
    setModelInUse(places, (await fetched("a-Q8_0")) as never)
    // stopped halfway, so that a partial file is left
    const stop = new AbortController()
    hub.faults.halfway = new Promise(() => {})
    const stopped = fetched("b-Q8_0", stop.signal).catch(() => {})
    await halfway.promise
    stop.abort(new Error("stopped"))
    await stopped
  } finally {
    await hub.close()
  }
  await writeTo("--out", join(beside, "report.html"), "<!doctype html>")
  await writeTo("--bundle", join(beside, "bundle.json"), "{}")
  return {
    async close() {
      lease.release()
      await store.close()
    },
  }
}
