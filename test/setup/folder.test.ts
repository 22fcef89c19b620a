// The staging folder, on Node: the command runs on it, and it gives up removing a folder that is written to, which Bun does not.

import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { spawnChild, temporaryFolder } from "../store/support.ts"

const fixtures = join(import.meta.dir, "fixtures")

test("is made although the installer of a killed setup still writes to its own", async () => {
  using folder = temporaryFolder()
  const built = await Bun.build({
    entrypoints: [join(fixtures, "stage.ts")],
    target: "node",
    outdir: folder.path,
    naming: "stage.mjs",
  })
  expect(built.success).toBe(true)
  for (let attempt = 0; attempt < 3; attempt++) {
    const place = join(folder.path, `${attempt}`, "sidecar")
    mkdirSync(`${place}.new-killed`, { recursive: true })
    using writing = spawnChild([process.execPath, join(fixtures, "keeps-writing.ts"), `${place}.new-killed`])
    await writing.printed("writing")
    using child = spawnChild(["node", join(folder.path, "stage.mjs"), place])
    expect(await child.finish()).toEqual({ code: 0, stdout: "made\n", stderr: "" })
  }
}, 60_000)
