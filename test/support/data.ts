// Where the plugin keeps its data in a test.

import { afterAll } from "bun:test"
import { temporaryFolder } from "../store/support.ts"

/** A new folder that the plugin uses until it is disposed: `using data = temporaryData()`. */
export function temporaryData(): { path: string; [Symbol.dispose](): void } {
  const folder = temporaryFolder()
  const before = process.env.HUDFOLD_DATA
  process.env.HUDFOLD_DATA = folder.path
  return {
    path: folder.path,
    [Symbol.dispose]() {
      if (before === undefined) delete process.env.HUDFOLD_DATA
      else process.env.HUDFOLD_DATA = before
      folder[Symbol.dispose]()
    },
  }
}

/** The path of such a folder for all tests of a file. */
export function dataOfFile(): string {
  const data = temporaryData()
  afterAll(() => data[Symbol.dispose]())
  return data.path
}
