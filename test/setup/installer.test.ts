// The installers that setup starts for the engine, npm, Bun or OpenCode's Bun, run no package scripts.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findInstallers, runInstaller } from "../../src/setup/engine.ts"
import { linkCommands } from "../cli/support.ts"
import { temporaryFolder } from "../store/support.ts"

setDefaultTimeout(60_000)

test("one that is killed, as where memory runs out, is no matter of the registry", async () => {
  using folder = temporaryFolder()
  const killed = runInstaller({ name: "npm", command: "/bin/sh", args: ["-c", "kill -9 $$"], env: {} }, folder.path)
  await expect(killed).rejects.toThrow(/^npm was killed; close programs if memory is short, and run the command again$/)
})

describe("no package script is run", () => {
  const folder = temporaryFolder()
  const bin = join(folder.path, "bin")
  mkdirSync(bin)
  linkCommands(bin, { bun: process.execPath })
  afterAll(() => folder[Symbol.dispose](), 30_000)
  const path = `${bin}:${process.env.PATH}`
  const installers = findInstallers({ PATH: path })

  // OpenCode's Bun gets the same arguments as Bun; it does not accept a lock that contains a folder
  test.each(["npm", "bun"] as const)("by %s, whatever the user's settings say", async (name) => {
    const installer = installers.find((one) => one.name === name)
    if (!installer) throw new Error(`no ${name} was found`)
    const home = join(folder.path, `home-${name}`)
    const target = join(folder.path, name)
    for (const one of [home, target, join(target, "evil")]) mkdirSync(one)
    writeFileSync(join(home, ".npmrc"), "ignore-scripts=false\nscript-shell=sh\n")
    writeFileSync(join(home, ".bunfig.toml"), "[install]\nignoreScripts = false\n")
    const ran = (who: string) => `touch ${join(folder.path, `${name}-${who}-ran`)}`
    const scripts = (who: string) =>
      Object.fromEntries(["preinstall", "install", "postinstall", "prepare"].map((one) => [one, ran(who)]))
    const evil = { name: "evil", version: "1.0.0", scripts: scripts("package") }
    const root = { name: "root", version: "1.0.0", dependencies: { evil: "file:./evil" } }
    writeFileSync(join(target, "evil", "package.json"), JSON.stringify(evil))
    writeFileSync(
      join(target, "package.json"),
      JSON.stringify({ ...root, scripts: scripts("root"), trustedDependencies: ["evil"] }),
    )
    const packages = {
      "": root,
      evil: { version: "1.0.0", hasInstallScript: true },
      "node_modules/evil": { resolved: "evil", link: true },
    }
    const lock = { name: "root", version: "1.0.0", lockfileVersion: 3, requires: true, packages }
    writeFileSync(join(target, "package-lock.json"), JSON.stringify(lock))
    await runInstaller(installer, target, { PATH: path, HOME: home, npm_config_ignore_scripts: "false" })
    expect(existsSync(join(target, "node_modules", "evil", "package.json"))).toBe(true)
    for (const who of ["root", "package"]) expect(existsSync(join(folder.path, `${name}-${who}-ran`))).toBe(false)
  })
})
