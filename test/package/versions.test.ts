// The oldest OpenCode 1 that the package supports and the newest, installed by npm unless it is the one that is here: in each
// the built package loads, sends its HUD, folds, recalls verbatim, and goes on with the same folds in another process.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { devDependencies } from "../../package.json" with { type: "json" }
import { createHost, findOpencode, type Host } from "../opencode/host.ts"
import { type Provider, startProvider } from "../opencode/provider.ts"
import { hudsOf, type ModelRequest } from "../opencode/request.ts"
import { countFolded, EAGER, FILES, lookAndRecall, recalledIn } from "../support/folds.ts"
import { LARGE, largeName } from "../support/large.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const PATIENCE_MS = 120_000
const OLDEST = "1.18.3"

const versions = LARGE ? await published() : undefined
const named = (name: string) =>
  largeName(versions || !LARGE ? name : `${name} (skipped: npm does not reach a registry with opencode-ai)`)
const shown = versions ? describe : describe.skip

/** The oldest version from 1.18.3 on that the registry has, and the newest; undefined when it does not answer. */
async function published(): Promise<string[] | undefined> {
  try {
    const args = ["view", "opencode-ai", "versions", "dist-tags", "--json", "--fetch-retries=0"]
    const { stdout } = await run("npm", args, { timeout: 20_000 })
    const { versions, "dist-tags": tags } = JSON.parse(stdout) as {
      versions: string[]
      "dist-tags": { latest: string }
    }
    const inOrder = versions.filter((one) => /^\d+\.\d+\.\d+$/.test(one) && Bun.semver.order(one, OLDEST) >= 0)
    return [inOrder.sort(Bun.semver.order)[0] ?? OLDEST, tags.latest]
  } catch {
    return
  }
}

shown.each(versions ?? [OLDEST])(named("OpenCode %s"), (version) => {
  const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-version-"))
  const isHere = version === devDependencies["opencode-ai"]
  const name = process.platform === "win32" ? "opencode.cmd" : "opencode"
  const opencode = isHere ? findOpencode() : join(folder, "node_modules", ".bin", name)
  let provider: Provider
  let host: Host
  beforeAll(async () => {
    const args = ["install", `opencode-ai@${version}`, "--prefix", folder, "--no-audit", "--no-fund", "--no-save"]
    if (!isHere) await run("npm", args, { cwd: folder })
    provider = await startProvider(lookAndRecall("main"))
    const plugin = [root, { ...EAGER[1], deadlineMs: 5_000 }] as const
    host = createHost({ opencode, url: provider.url, plugin, files: FILES })
  }, PATIENCE_MS)
  afterAll(async () => {
    await host?.close()
    await provider?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test(
    "loads the package, and folds, recalls and resumes with it",
    async () => {
      expect((await run(opencode, ["--version"])).stdout.trim()).toBe(version)
      const first = await host.run("Look at the logs")
      expect(first.stderr).not.toContain("hudfold")
      expect(first.exitCode).toBe(0)
      const requests = provider.from("main")
      expect(requests.flatMap(hudsOf).length).toBeGreaterThan(0)
      const recalled = recalledIn(requests)
      expect(recalled).toHaveLength(2)
      for (const { answer, original } of recalled) expect(answer).toBe(original)
      const folded = countFolded(requests.at(-1))
      await host.run("Go on", { session: first.session })
      expect(countFolded(provider.from("main").at(-1) as ModelRequest)).toBeGreaterThanOrEqual(folded)
    },
    PATIENCE_MS,
  )
})
