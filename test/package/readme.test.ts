// Every command of the README is known here, and those that install and try the package are run as they stand there: in a
// clone, and in the unpacked tarball with only Node on PATH.

import { afterAll, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import manifest from "../../package.json" with { type: "json" }
import { environmentFor } from "../opencode/config.ts"
import { findOpencode } from "../opencode/host.ts"
import { testLarge } from "../support/large.ts"
import { openWorld, read, say, use } from "../support/world.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const readme = readFileSync(join(root, "README.md"), "utf8")
const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-readme-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The lines of the shell blocks without their comments, and the commands within the text. */
const inBlocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = ""]) => block.trim().split("\n"))
  .map((line) => line.replace(/\s+#.*$/, ""))
const inText = [
  ...readme.replace(/```[\s\S]*?```/g, "").matchAll(/`((?:HUDFOLD_\w+=1 )?(?:npm|npx|node|opencode) [^`]+)`/g),
].map(([, command = ""]) => command)

/** Where each command is run: by the test below, by .ci/run, by the test of the demo, or by people. */
const RUN_BY: Record<string, "the clone" | "the tarball" | ".ci/run" | "test/e2e/demo.test.ts" | "people"> = {
  "npm ci": ".ci/run",
  "npm ci && npm run demo": "test/e2e/demo.test.ts",
  "npm test": ".ci/run",
  "HUDFOLD_LARGE=1 npm test": ".ci/run",
  "npm run demo": "test/e2e/demo.test.ts",
  "npm run prove": "people",
  "npm run prove -- secrets": "people",
  "npm pack --dry-run": "the clone",
  "cd /path/to/your/project": "the clone",
  "opencode plugin /path/to/opencode-hudfold": "the clone",
  "npm pack": "the clone",
  "npm link": "the clone",
  "npm unlink -g opencode-hudfold": "the clone",
  "mkdir -p ~/plugins && tar -xzf opencode-hudfold-0.1.0.tgz -C ~/plugins": "the tarball",
  "opencode plugin ~/plugins/package": "the tarball",
  "node /path/to/opencode-hudfold/dist/cli.js": "the tarball",
  "node dist/cli.js replay latest": "the tarball",
}

test("every command of the README is known here", () => {
  expect([...new Set([...inBlocks, ...inText])].sort()).toEqual(Object.keys(RUN_BY).sort())
})

testLarge(
  "in a clone and from the tarball, the commands work",
  async () => {
    const clone = join(folder, "clone")
    await run("git", ["clone", "--quiet", root, clone])
    // `npm ci` is these packages, and then this script
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"))
    await run("npm", ["run", "build"], { cwd: clone })
    await run("npm", ["pack", "--dry-run", "--ignore-scripts"], { cwd: clone })
    await run("npm", ["pack", "--ignore-scripts"], { cwd: clone })
    const prefix = join(folder, "prefix")
    const linked = { cwd: clone, env: { ...process.env, npm_config_prefix: prefix } }
    await run("npm", ["link"], linked)
    expect((await run(join(prefix, "bin/hudfold"), ["--version"])).stdout).toBe(`${manifest.version}\n`)
    await run("npm", ["unlink", "-g", "opencode-hudfold"], linked)
    expect(existsSync(join(prefix, "bin/hudfold"))).toBe(false)
    const home = join(folder, "home")
    mkdirSync(home)
    await run("sh", ["-c", `mkdir -p ~/plugins && tar -xzf opencode-hudfold-${manifest.version}.tgz -C ~/plugins`], {
      cwd: clone,
      env: { ...process.env, HOME: home },
    })
    const unpacked = join(home, "plugins/package")

    const world = await openWorld({ plugin: null })
    const { project, root: hostRoot } = world.host
    const env: Record<string, string> = environmentFor(hostRoot)
    const list = async (path: string, cwd: string) => {
      await run(findOpencode(), ["plugin", path], { cwd, env: { ...env, PWD: cwd } })
      for (const name of ["opencode.json", "tui.json"])
        expect(JSON.parse(readFileSync(join(cwd, ".opencode", name), "utf8")).plugin).toEqual([path])
      expect(existsSync(join(path, "dist/plugin.js"))).toBe(true)
    }
    try {
      // what a checkout does once it is listed, installed.test.ts proves
      await list(clone, world.host.addProject("of-the-clone"))
      await list(unpacked, project)
      world.provider.play([use(read("alpha.txt")), use(read("alpha.txt")), say("Read it.")])
      await world.host.run("Read alpha")

      // with only Node and OpenCode on PATH
      const bin = join(hostRoot, "only-node")
      mkdirSync(bin)
      symlinkSync((await run("which", ["node"])).stdout.trim(), join(bin, "node"))
      symlinkSync(findOpencode(), join(bin, "opencode"))
      const PATH = [bin, "/usr/bin", "/bin"].join(delimiter)
      const cli = async (...args: string[]) => {
        const options = { cwd: project, env: { ...env, PWD: project, PATH } }
        return (await run(join(bin, "node"), [join(unpacked, "dist/cli.js"), ...args], options)).stdout
      }
      expect(await cli("--version")).toBe(`${manifest.version}\n`)
      expect(await cli("replay", "latest")).toMatch(/^1 session.+\n/)
      expect(await cli("doctor")).toMatch(/^ok +/m)
      expect(await cli("setup", "--uninstall")).toContain("nothing that setup installs")
    } finally {
      await world.close()
    }
  },
  400_000,
)
