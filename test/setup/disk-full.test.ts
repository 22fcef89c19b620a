// The disk fills up at any point of a model download: a partial file never counts as the model, the message says how much
// space is needed, and the next run completes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { download, locate } from "../../src/setup/download.ts"
import { SetupError } from "../../src/setup/errors.ts"
import { readReference } from "../../src/setup/models.ts"
import { cli } from "../cli/support.ts"
import { spawnChild, temporaryFolder } from "../store/support.ts"
import { sized } from "../support/size.ts"
import { canMount, mountSmall } from "../support/small-disk.ts"
import { type Hub, modelBytes, sha256, startHub } from "./hub.ts"

const NAME = "owner/repo/model-Q8_0.gguf"
const bytes = modelBytes(1_000_000)
const fixture = join(import.meta.dir, "fixtures/download.ts")
let hub: Hub
beforeAll(async () => {
  hub = await startHub({ [NAME]: bytes })
})
afterAll(() => hub.close())

const isWhole = (path: string) => existsSync(path) && readFileSync(path).equals(bytes)

describe("a limit on file sizes, in place of a full disk, reached", () => {
  const BLOCK = 512
  const limits = [0, 1, 2, 40, 700, 1200, 1952, 1953].slice(0, sized(5, 8))
  // the shell ignores SIGXFSZ, so that writes fail
  for (const blocks of limits)
    test.skipIf(process.platform === "win32")(
      `after ${blocks * BLOCK} bytes of ${bytes.length} is reported, and the next run has the model`,
      async () => {
        using folder = temporaryFolder()
        const target = join(folder.path, "models", "model.gguf")
        const run = async (limit: string) => {
          const command = `trap '' XFSZ; ${limit} exec "$0" "$@"`
          using child = spawnChild(["sh", "-c", command, process.execPath, fixture, hub.url, NAME, target])
          const { stdout, stderr } = await child.finish()
          expect(stderr).toBe("")
          return JSON.parse(stdout)
        }
        const failed = await run(`ulimit -f ${blocks};`)
        expect(failed.code).toBe("DISK_FULL")
        expect(failed.message).toMatch(/EFBIG\): .* more is needed, and .* is free; .* kept/)
        expect(existsSync(target)).toBe(false)
        // a lock left behind would block
        expect(readdirSync(dirname(target)).filter((name) => name.endsWith(".lock"))).toEqual([])
        expect(await run("")).toEqual({ sha256: sha256(bytes) })
        expect(isWhole(target)).toBe(true)
        expect(readdirSync(dirname(target))).toEqual(["model.gguf"])
      },
      20_000,
    )
})

describe("a separate small disk", () => {
  const why = canMount() ? "" : " (skipped: only root may mount one)"

  test.skipIf(why !== "")(`that is read-only is named by a command, and is no bug of it${why}`, async () => {
    using folder = temporaryFolder()
    const [data, file] = ["data", "own.gguf"].map((name) => join(folder.path, name)) as [string, string]
    mkdirSync(data)
    writeFileSync(file, bytes)
    using disk = mountSmall(data, 1)
    disk.readOnly()
    const { code, stderr } = await cli(["model", "use", file], { HUDFOLD_DATA: data })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^hudfold: EROFS: .*model\.json.*\n$/) })
  })

  test.skipIf(why !== "")(
    `that another program fills halfway: the rest is fetched once there is space${why}`,
    async () => {
      using folder = temporaryFolder()
      const disk = join(folder.path, "models")
      mkdirSync(disk)
      // setup always leaves 100 MB free
      using _ = mountSmall(disk, 110)
      const target = join(disk, "model.gguf")
      const reference = readReference(`hf:${NAME}`)
      if (reference.kind !== "hub") throw new Error("expected a reference to the hub")
      const env = { HF_ENDPOINT: hub.url }
      const file = await locate(reference, env)
      let goOn = () => {}
      hub.faults.halfway = new Promise((resolve) => {
        goOn = resolve
      })
      const onProgress = (done: number) => {
        if (done < bytes.length / 2 || existsSync(join(disk, "ballast"))) return
        fill(join(disk, "ballast"))
        goOn()
      }
      const error = await download(file, target, { env, onProgress }).catch((reason: unknown) => reason)
      delete hub.faults.halfway
      expect(error).toBeInstanceOf(SetupError)
      expect((error as SetupError).code).toBe("DISK_FULL")
      expect((error as SetupError).message).toMatch(
        /^the disk is full: \d+ kB more is needed, and \d+ kB is free; \d+ kB of/,
      )
      expect(existsSync(target)).toBe(false)
      const again = await download(file, target, { env }).catch((reason: unknown) => reason)
      expect((again as SetupError).message).toMatch(
        /needs \d+ MB of disk space, and \d+ kB is free|is not writable \(ENOSPC\)/,
      )
      rmSync(join(disk, "ballast"))
      expect(await download(file, target, { env })).toBe(sha256(bytes))
      expect(hub.asked.at(-1)?.range).toMatch(/^bytes=\d{6}-$/)
      expect(isWhole(target)).toBe(true)
      expect(readdirSync(disk)).toEqual(["model.gguf"])
    },
    20_000,
  )
})

/** Until not one more byte fits. */
function fill(path: string): void {
  for (const size of [1 << 20, 1 << 12, 1])
    for (;;)
      try {
        writeFileSync(path, Buffer.alloc(size, 1), { flag: "a" })
      } catch {
        break
      }
}
