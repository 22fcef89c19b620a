// The package as tools see it: publint and attw report nothing, and its types fit OpenCode's.

import { afterAll, describe, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { PluginModule } from "@opencode-ai/plugin"
import type { TuiPluginModule } from "@opencode-ai/plugin/tui"
import { publint } from "publint"
import manifest from "../../package.json" with { type: "json" }
import type server from "../../src/plugin.ts"
import type tui from "../../src/tui/plugin.tsx"
import type declaredServer from "../../types/server.d.ts"
import type declaredTui from "../../types/tui.d.ts"
import { pack, textsIn } from "../support/pack.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-entries-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const run = promisify(execFile)
const { tarball } = await pack(folder)

/** Does not type-check when one is no other. */
type Is<One extends Other, Other> = One
export type Declared = [Is<typeof server, typeof declaredServer>, Is<(typeof tui)["tui"], (typeof declaredTui)["tui"]>]
export type Taken = [Is<typeof declaredServer, PluginModule>, Is<typeof declaredTui, TuiPluginModule>]

test("publint reports nothing", async () => {
  const { messages } = await publint({
    strict: true,
    pack: { tarball: await Bun.file(tarball).arrayBuffer() },
  })
  expect(messages).toEqual([])
})

/** It is an ES module, which is what OpenCode and Node from version 20 on import: attw's rules for require are left out. */
test("attw reports nothing", async () => {
  const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js")
  const args = [attw, tarball, "--profile", "esm-only", "--no-definitely-typed", "--format", "json"]
  const { stdout } = await run("node", args, { cwd: folder })
  const { analysis } = JSON.parse(stdout) as {
    analysis: { entrypoints: Record<string, unknown>; problems: { resolutionKind?: string }[] }
  }
  expect(Object.keys(analysis.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort())
  const ignored = ["node10", "node16-cjs"]
  expect(analysis.problems.filter(({ resolutionKind = "" }) => !ignored.includes(resolutionKind))).toEqual([])
}, 60_000)

describe("TypeScript resolves each entry to what OpenCode loads, under", () => {
  test.each(["nodenext", "bundler"])(
    "%s",
    async (resolution) => {
      const project = join(folder, resolution)
      const write = (path: string, text: string) => {
        mkdirSync(dirname(join(project, path)), { recursive: true })
        writeFileSync(join(project, path), text)
      }
      for (const [path, text] of await textsIn(tarball)) write(`node_modules/opencode-hudfold/${path}`, text)
      symlinkSync(join(root, "node_modules/@opencode-ai"), join(project, "node_modules/@opencode-ai"), "dir")
      const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: "es2024" }
      const module = resolution === "bundler" ? "preserve" : resolution
      const compilerOptions = { ...options, module, moduleResolution: resolution, resolveJsonModule: true }
      write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["user.ts"] }))
      write("package.json", `{ "type": "module" }`)
      write(
        "user.ts",
        `import type { PluginModule } from "@opencode-ai/plugin"
         import type { TuiPluginModule } from "@opencode-ai/plugin/tui"
         import main from "opencode-hudfold"
         import server from "opencode-hudfold/server"
         import tui from "opencode-hudfold/tui"
         export const modules: [PluginModule, PluginModule, TuiPluginModule] = [main, server, tui]
         // @ts-expect-error it is no number
         export const id: number = main.id`,
      )
      const tsc = run(join(root, "node_modules/.bin/tsc"), ["-p", project])
      expect(await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({ stdout: "" })
    },
    60_000,
  )
})
