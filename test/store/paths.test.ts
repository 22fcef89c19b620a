import { expect, test } from "bun:test"
import { resolve } from "node:path"
import { dataFolder, opencodeFolder, storePath } from "../../src/system/data-folder.ts"

const home = resolve("/home/u")

test("the data folder is the one named, else beside OpenCode's in the XDG data folder, else below home", () => {
  expect(dataFolder({ OPENCODE_HUD_DATA: resolve("/x"), XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/x"))
  expect(dataFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode-hud"))
  expect(dataFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode-hud"))
  expect(storePath({}, home)).toBe(resolve("/home/u/.local/share/opencode-hud/hud.db"))
})

test("an empty variable is no variable", () => {
  expect(dataFolder({ OPENCODE_HUD_DATA: "", XDG_DATA_HOME: "" }, home)).toBe(
    resolve("/home/u/.local/share/opencode-hud"),
  )
})

test("OpenCode's folder follows XDG on every platform", () => {
  expect(opencodeFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode"))
  expect(opencodeFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode"))
})
