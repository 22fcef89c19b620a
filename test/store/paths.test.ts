import { expect, test } from "bun:test"
import { resolve } from "node:path"
import { dataFolder, opencodeFolder, storePath } from "../../src/system/data-folder.ts"

const home = resolve("/home/u")

test("the data folder is HUDFOLD_DATA, else next to OpenCode's in the XDG data folder, else below home", () => {
  expect(dataFolder({ HUDFOLD_DATA: resolve("/x"), XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/x"))
  expect(dataFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode-hudfold"))
  expect(dataFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode-hudfold"))
  expect(storePath({}, home)).toBe(resolve("/home/u/.local/share/opencode-hudfold/hud.db"))
})

test("an empty variable counts as unset", () => {
  expect(dataFolder({ HUDFOLD_DATA: "", XDG_DATA_HOME: "" }, home)).toBe(
    resolve("/home/u/.local/share/opencode-hudfold"),
  )
})

test("OpenCode's folder follows XDG on every platform", () => {
  expect(opencodeFolder({ XDG_DATA_HOME: resolve("/d") }, home)).toBe(resolve("/d/opencode"))
  expect(opencodeFolder({}, home)).toBe(resolve("/home/u/.local/share/opencode"))
})
