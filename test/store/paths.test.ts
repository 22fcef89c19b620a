import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { dataFolder, ignoredFolder, opencodeFolder, storePath } from "../../src/system/data-folder.ts"
import { spawnChild, temporaryFolder } from "./support.ts"

const home = resolve("/home/u")

test("the data folder is HUDFOLD_DATA, else next to OpenCode's in the XDG data folder, else below home", () => {
  expect(dataFolder({ HUDFOLD_DATA: resolve("/x"), XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/x"))
  expect(dataFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode-hudfold"))
  expect(dataFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode-hudfold"))
  expect(storePath(undefined, {}, home)).toBe(resolve("/home/u/.local/share/opencode-hudfold/hud.db"))
})

test("an empty variable counts as unset", () => {
  expect(dataFolder({ HUDFOLD_DATA: "", XDG_DATA_HOME: "" }, home)).toBe(
    resolve("/home/u/.local/share/opencode-hudfold"),
  )
})

test("a relative variable is ignored with one warning, so that no project gets the store", () => {
  const absolute = resolve("/d")
  const below = resolve("/home/u/.local/share/opencode-hudfold")
  for (const HUDFOLD_DATA of [".evil", "data/hud", "..", "./x", "~/x"]) {
    expect(dataFolder({ HUDFOLD_DATA }, home)).toBe(below)
    expect(dataFolder({ HUDFOLD_DATA, XDG_DATA_HOME: absolute }, home)).toBe(join(absolute, "opencode-hudfold"))
    expect(storePath(undefined, { XDG_DATA_HOME: HUDFOLD_DATA }, home)).toBe(join(below, "hud.db"))
    expect(ignoredFolder({ HUDFOLD_DATA, XDG_DATA_HOME: absolute })).toBe(
      `HUDFOLD_DATA must be an absolute path and is ignored; the data is in ${join(absolute, "opencode-hudfold")}`,
    )
    expect(ignoredFolder({ HUDFOLD_DATA, XDG_DATA_HOME: "x" })).toContain("HUDFOLD_DATA and XDG_DATA_HOME must be")
  }
  for (const env of [{}, { HUDFOLD_DATA: "", XDG_DATA_HOME: "" }, { HUDFOLD_DATA: absolute, XDG_DATA_HOME: absolute }])
    expect(ignoredFolder(env)).toBeUndefined()
})

test("the plugin and each command warn once, and nothing is written where they are started", async () => {
  using folder = temporaryFolder()
  const [project, away] = [join(folder.path, "project"), join(folder.path, "home")]
  mkdirSync(project)
  const env = { HUDFOLD_DATA: ".evil", XDG_DATA_HOME: "data", HOME: away }
  using child = spawnChild([process.execPath, join(import.meta.dir, "fixtures/relative-data.ts"), project], env)
  const { code, stdout, stderr } = await child.finish()
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  const warning = `HUDFOLD_DATA and XDG_DATA_HOME must be an absolute path and is ignored; the data is in ${away}/.local/share/opencode-hudfold`
  expect(JSON.parse(stdout)).toEqual([`hudfold: ${warning}`])
  using command = spawnChild([process.execPath, join(import.meta.dir, "../../src/cli/main.ts"), "model", "list"], env)
  expect((await command.finish()).stderr).toBe(`hudfold: ${warning}\n`)
  expect(readdirSync(project)).toEqual([])
  expect(existsSync(join(away, ".local/share/opencode-hudfold/hud.db"))).toBeTrue()
})

test("OpenCode's folder is where OpenCode itself takes a relative variable to", () => {
  expect(opencodeFolder({ XDG_DATA_HOME: "data" }, home)).toBe(resolve("data/opencode"))
})

test("OpenCode's folder follows XDG on every platform", () => {
  expect(opencodeFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode"))
  expect(opencodeFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode"))
})
