// What a session of the real OpenCode leaves behind, as `hudfold doctor` and `hudfold status` find it.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { readConfig } from "../../src/doctor/config-files.ts"
import { listedIn, mergedFiles } from "../../src/doctor/plugin-list.ts"
import type { CheckResult } from "../../src/doctor/result.ts"
import { cli, linkCommands } from "../cli/support.ts"
import { environmentFor } from "../opencode/config.ts"
import { skipInstall } from "../opencode/host.ts"
import { opencode, root, temporaryFolder } from "../store/support.ts"
import { testLarge } from "../support/large.ts"
import { openWorld, PATIENCE_MS, read, say, use, type World } from "../support/world.ts"

setDefaultTimeout(PATIENCE_MS)

const bin = temporaryFolder()
let world: World
let session: string
let env: Record<string, string>
beforeAll(async () => {
  world = await openWorld()
  linkCommands(bin.path, { opencode })
  // the tests' own data folder is not OpenCode's
  env = { ...environmentFor(world.host.root), PATH: bin.path, HUDFOLD_DATA: "" }
  writeFileSync(join(world.host.root, "config/opencode/tui.json"), JSON.stringify({ plugin: [root] }))
  world.provider.play([use(read("package.json")), say("That is all.")])
  session = (await world.host.run("What is this?")).session
}, PATIENCE_MS)
afterAll(async () => {
  await world?.close()
  bin[Symbol.dispose]()
})

test("doctor sees that the hooks ran", async () => {
  const { code, stdout } = await cli(["doctor", "--json", "--dir", world.host.project], env)
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] }
  expect(checks.filter(({ level }) => level !== "ok")).toEqual([])
  expect(checks.find(({ name }) => name === "loaded")?.found).toMatch(
    new RegExp(`session ${session} in .* \\(.* ago\\)$`),
  )
  expect(code).toBe(0)
})

testLarge("doctor sees that they did not when OpenCode was told to load no plugin", async () => {
  world.provider.play([say("Without a plugin.")])
  const bare = await world.host.run("And now?", { args: ["--pure"] })
  const { code, stdout } = await cli(["doctor", "--json", "--dir", world.host.project], env)
  const { checks } = JSON.parse(stdout) as { checks: CheckResult[] }
  expect(checks.filter(({ level }) => level !== "ok")).toMatchObject([
    {
      name: "loaded",
      level: "warn",
      found: expect.stringMatching(new RegExp(`the last session \\(${bare.session}, .*left no trace of it$`)),
    },
  ])
  expect(code).toBe(1)
})

test("status shows the session, whose process has ended", async () => {
  const { code, stdout, stderr } = await cli(["status", "--dir", world.host.project], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toStartWith(`session ${session}, 2 calls, scripted/scripted-1\n`)
  expect(stdout).toMatch(/^written .* by opencode-hudfold \S+, process \d+, which has ended$/m)
})

test("the files that doctor reads are those that OpenCode reads, in its order", async () => {
  using folder = temporaryFolder()
  const at = (path: string) => join(folder.path, path)
  const files = [
    ...["config.json", "opencode.json", "opencode.jsonc"].map((name) => `config/opencode/${name}`),
    ...["named.json", "project/opencode.json", "project/opencode.jsonc", "project/deep/opencode.json"],
    ...["project/deep/.opencode/opencode.json", "project/.opencode/opencode.jsonc", "home/.opencode/opencode.json"],
    ...["named/opencode.jsonc", "above/opencode.json"],
  ]
  mkdirSync(at("project/.git"), { recursive: true })
  for (const name of files) {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), `{ "plugin": ["plugin-of-${files.indexOf(name)}"], } // the list of ${name}`)
    skipInstall(dirname(at(name)))
  }
  const directory = at("project/deep")
  const env = {
    ...environmentFor(folder.path),
    OPENCODE_CONFIG: at("named.json"),
    OPENCODE_CONFIG_DIR: at("named"),
    PWD: directory,
  }
  const child = Bun.spawn([opencode, "debug", "config"], { cwd: directory, env, stdout: Bun.file(at("config.txt")) })
  expect(await child.exited).toBe(0)
  const { plugin_origins } = JSON.parse(readFileSync(at("config.txt"), "utf8"))
  const config = await readConfig(env, at("home"), directory)
  const listed = await listedIn(mergedFiles(config), env, at("home"))
  expect(listed.map(({ spec, file }) => ({ spec, from: basename(dirname(file.path)) }))).toEqual(
    // for a global file only its folder is known
    plugin_origins.map(({ spec, source }: Record<string, string>) => ({
      spec,
      from: basename(source === at("config/opencode") ? source : dirname(source ?? "")),
    })),
  )
  expect(listed.length).toBe(files.length - 3)
})
