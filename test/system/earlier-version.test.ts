// A data folder of the version before the rules about files, under every common umask: it goes on working without any action.

import { describe, expect, test } from "bun:test"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Backend } from "../../src/digest/backends/backend.ts"
import { checkEngine, checkModel } from "../../src/doctor/digests.ts"
import { checkStore } from "../../src/doctor/store.ts"
import { type Places, placesIn, readInstalled } from "../../src/engine/installed.ts"
import { optionsSchema } from "../../src/options.ts"
import { planSetup } from "../../src/setup/plan.ts"
import { readStatus, readSwitches, statusFolder, writeStatus } from "../../src/status/files.ts"
import { fixtures, never, writing } from "../engine/host.ts"
import { openAt, temporaryFolder } from "../store/support.ts"
import { openLlama } from "../support/llama.ts"
import { statusOf } from "../support/status.ts"
import { live } from "./written.ts"

/** Restores the modes of that version; all other files had their present modes. */
function ageIn(places: Places, umask: number): void {
  const { stamp, ...record } = JSON.parse(readFileSync(places.modelRecord, "utf8"))
  expect(stamp).toBeString()
  writeFileSync(places.modelRecord, `${JSON.stringify(record, null, 2)}\n`)
  for (const name of ["bunfig.toml", "package.json", "package-lock.json", "installed.json"])
    chmodSync(join(places.sidecar, name), 0o666 & ~umask)
  chmodSync(places.modelRecord, 0o666 & ~umask)
  chmodSync(places.main, 0o664 & ~umask)
  chmodSync(join(places.sidecar, "node_modules"), 0o777)
}

describe.skipIf(process.platform === "win32").each(["000", "002", "022", "077"])("under umask %s", (digits) => {
  test("store, status, switches, engine and model of the last version are used as they are", async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, "data")
    await (await live(data, folder.path)).close()
    const places = placesIn(data)
    writeFileSync(places.main, `await import(${JSON.stringify(join(fixtures, "plain.ts"))})`)
    ageIn(places, Number.parseInt(digits, 8))

    await using opened = await openAt(join(data, "hud.db"))
    expect(await opened.store.turns("ses_1")).toHaveLength(1)
    expect(opened.warnings).toEqual([])

    const shown = statusFolder(data)
    expect((await readStatus(shown, "ses_1"))?.sessionID).toBe("ses_1")
    expect(readSwitches(shown, "ses_1")).toEqual({ hud: "paused", folding: "on" })
    writeStatus(shown, statusOf({ sessionID: "ses_1", calls: 43 }))
    expect((await readStatus(shown, "ses_1"))?.calls).toBe(43)

    const { digest } = optionsSchema.parse({ digest: { backend: "llama" } })
    const reports: string[] = []
    const report = (level: string, message: string) => void reports.push(`${level} ${message}`)
    const backend = (await openLlama({ dataFolder: data, options: digest, report })) as Backend
    try {
      expect((await backend.write(writing("a log"), never)).structured).toBeDefined()
      expect(reports.filter((line) => !line.startsWith("info "))).toEqual([])
    } finally {
      await backend.close?.()
    }

    const installed = await readInstalled(places)
    const checks = [
      await checkStore(join(data, "hud.db"), data, undefined),
      await checkModel(digest, installed, places, { signal: never }),
    ]
    expect(checks.filter(({ level }) => level === "fail")).toEqual([])
    expect((await checkEngine(digest, places, installed, process.env)).found).not.toContain("others can write")
    const plan = await planSetup({ env: {}, places, main: join(folder.path, "sidecar.js") })
    expect([plan.model?.kind, plan.missing]).toEqual(["kept", undefined])
  }, 30_000)
})
