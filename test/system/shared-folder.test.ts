// In folders that other users of the machine can write to, nothing is trusted or run. The user's own folders get private modes
// or are used as they are.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { checkEngine } from "../../src/doctor/digests.ts"
import { checkStore } from "../../src/doctor/store.ts"
import { placesIn, readInstalled } from "../../src/engine/installed.ts"
import { createLease } from "../../src/engine/lease.ts"
import { logClient } from "../../src/host/v2/setup.ts"
import { optionsSchema } from "../../src/options.ts"
import { withLock } from "../../src/setup/lock.ts"
import { setModelInUse } from "../../src/setup/models.ts"
import { statusFolder, writeStatus, writeSwitches } from "../../src/status/files.ts"
import { makePrivateFolder, whyUntrusted } from "../../src/system/private-folder.ts"
import { openAt, spawnChild, temporaryFolder } from "../store/support.ts"
import { openLlama } from "../support/llama.ts"
import { plantSidecar } from "../support/sidecar.ts"
import { statusOf } from "../support/status.ts"
import { modeOf } from "../support/walk.ts"

let folder: ReturnType<typeof temporaryFolder>
let data = ""
beforeEach(() => {
  folder = temporaryFolder()
  data = join(folder.path, "data", "opencode-hudfold")
  mkdirSync(data, { recursive: true })
})
afterEach(() => folder[Symbol.dispose]())

const STRANGER = 54_321
const isRoot = process.getuid?.() === 0
const posix = process.platform !== "win32"
const { digest } = optionsSchema.parse({ digest: { backend: "llama" } })

const spoilt: { how: string; spoil(): void; says: RegExp; asRoot?: boolean }[] = [
  { how: "that everybody can write to", spoil: () => chmodSync(data, 0o777), says: /others can write to .*chmod/ },
  {
    how: "of another user",
    spoil: () => chownSync(data, STRANGER, STRANGER),
    says: /belongs to another user/,
    asRoot: true,
  },
  {
    how: "behind another user's link",
    spoil() {
      const link = join(folder.path, "link")
      symlinkSync(data, link)
      lchownSync(link, STRANGER, STRANGER)
      data = link
    },
    says: /belongs to another user/,
    asRoot: true,
  },
]

for (const { how, spoil, says, asRoot } of spoilt) {
  const skipped = !posix || (asRoot === true && !isRoot)
  const why = skipped ? (posix ? " (skipped: only root can give a file away)" : " (skipped: Windows has no modes)") : ""
  describe.skipIf(skipped)(`a data folder ${how}${why}`, () => {
    test("holds no store: it is kept in memory, with one warning that says what to do", async () => {
      spoil()
      await using opened = await openAt(join(data, "hud.db"))
      expect(opened.warnings).toEqual([expect.stringMatching(says)])
      expect(readdirSync(data)).toEqual([])
    })

    test("is reported by the doctor, with the command that fixes it", async () => {
      spoil()
      const check = await checkStore(join(data, "hud.db"), undefined, undefined)
      expect(check).toMatchObject({ name: "store", level: "fail", found: expect.stringMatching(says) })
      expect(check.fix).toContain(`chmod go-w ${data}`)
    })

    test("gets no status file and no switches file", async () => {
      spoil()
      expect(() => writeStatus(statusFolder(data), statusOf())).toThrow(says)
      const written = writeSwitches(statusFolder(data), "ses_1", { hud: "paused", folding: "on" })
      await expect(written).rejects.toThrow(says)
      expect(readdirSync(data)).toEqual([])
    })

    test("gets no line of OpenCode 2's log", async () => {
      spoil()
      const { HUDFOLD_DATA } = process.env
      process.env.HUDFOLD_DATA = data
      try {
        const line = { service: "opencode-hudfold", level: "warn", message: "a line" } as const
        await expect(logClient().app?.log({ body: line })).rejects.toThrow(says)
      } finally {
        if (HUDFOLD_DATA === undefined) delete process.env.HUDFOLD_DATA
        else process.env.HUDFOLD_DATA = HUDFOLD_DATA
      }
      expect(readdirSync(data)).toEqual([])
    })

    test("starts no sidecar, though one is there", async () => {
      const planted = plantSidecar(folder.path, { program: join(folder.path, "evil.ts"), model: "any.gguf" })
      expect(planted.folder).toBe(data)
      spoil()
      const backend = await openLlama({ dataFolder: data, options: digest, report: () => {} })
      expect(backend).toEqual({ off: expect.stringMatching(says) })
    })

    test("gives no lease and stays unchanged", async () => {
      spoil()
      expect(await createLease(join(data, "sidecar.lease")).acquire()).toEqual({
        unavailable: expect.stringMatching(says),
      })
      expect(readdirSync(data)).toEqual([])
    })

    test("gets nothing from setup", async () => {
      spoil()
      const places = placesIn(data)
      await expect(withLock(places.setupLock, {}, async () => {})).rejects.toThrow(
        new RegExp(`^[^(]*${says.source}[^(]*$`),
      )
      const record = { name: "m", path: "/m.gguf", sizeBytes: 1, sha256: "" }
      expect(() => setModelInUse(places, record)).toThrow(says)
      expect(readdirSync(data)).toEqual([])
    })
  })
}

describe.skipIf(!posix)("what is run", () => {
  test.each([
    ["the sidecar's folder", "sidecar"],
    ["its program", "main"],
  ] as const)("is not run when others can write to %s", async (_, which) => {
    const planted = plantSidecar(folder.path, { program: join(folder.path, "evil.ts"), model: "any.gguf" })
    chmodSync(planted[which], 0o777)
    const backend = await openLlama({ dataFolder: planted.folder, options: digest, report: () => {} })
    expect(backend).toEqual({ off: expect.stringMatching(/^others can write to .*sidecar/) })
    const installed = await readInstalled(planted)
    const check = await checkEngine(digest, planted, installed, process.env)
    expect(check).toMatchObject({ level: "fail", found: expect.stringMatching(/^others can write to .*sidecar/) })
  })

  test("is not run from a folder such as /tmp, where anybody could have written a model record", async () => {
    const planted = plantSidecar(folder.path, { program: join(folder.path, "evil.ts"), model: "any.gguf" })
    chmodSync(data, 0o1777)
    const backend = await openLlama({ dataFolder: planted.folder, options: digest, report: () => {} })
    expect(backend).toEqual({ off: expect.stringMatching(/^others can write to /) })
  })

  test.each(["models", "models/owner", "models/owner/any.gguf"])(
    "is given no model without a checksum that others can put in place, by writing to %s",
    async (open) => {
      const planted = plantSidecar(folder.path, { program: join(folder.path, "any.ts"), model: "/other.gguf" })
      const model = join(planted.models, "owner/any.gguf")
      mkdirSync(join(planted.models, "owner"), { recursive: true })
      writeFileSync(model, "GGUF")
      chmodSync(join(data, open), 0o777)
      const options = optionsSchema.parse({ digest: { backend: "llama", model } }).digest
      const backend = await openLlama({ dataFolder: planted.folder, options, report: () => {} })
      expect(backend).toEqual({ off: expect.stringMatching(/^option digest\.model: others can write to /) })
    },
  )
})

describe.skipIf(!posix)("a folder of the user's own", () => {
  /** A store in the default data folder, opened by a separate process. */
  async function openDefault(home: string): Promise<string> {
    const script = join(folder.path, "open.ts")
    const source = join(import.meta.dir, "../../src/store/open.ts")
    writeFileSync(
      script,
      `const { openStore } = await import(${JSON.stringify(source)})
const store = await openStore({ onWarning: (text) => process.stderr.write(text) })
process.stdout.write("opened")
await store.close()
`,
    )
    using child = spawnChild([process.execPath, script], { XDG_DATA_HOME: home, HUDFOLD_DATA: "" })
    const { stdout, stderr } = await child.finish()
    return stdout + stderr
  }

  test.each([0o755, 0o775, 0o750, 0o711])("that existed with mode %# is closed to others", async (mode) => {
    chmodSync(data, mode)
    expect(await openDefault(join(folder.path, "data"))).toBe("opened")
    expect(modeOf(data)).toBe("700")
  })

  test("below a link is closed to others at the link's target", async () => {
    chmodSync(data, 0o755)
    symlinkSync(join(folder.path, "data"), join(folder.path, "link"))
    expect(await openDefault(join(folder.path, "link"))).toBe("opened")
    expect(modeOf(data)).toBe("700")
  })

  test("that is a link is used, and its target is closed to others", async () => {
    chmodSync(data, 0o755)
    mkdirSync(join(folder.path, "home"))
    symlinkSync(data, join(folder.path, "home/opencode-hudfold"))
    expect(await openDefault(join(folder.path, "home"))).toBe("opened")
    expect(modeOf(data)).toBe("700")
    expect(existsSync(join(data, "hud.db"))).toBe(true)
  })

  test("that the user named keeps its mode, since it may serve other purposes; the files in it are private", async () => {
    chmodSync(data, 0o755)
    await using opened = await openAt(join(data, "hud.db"))
    expect([opened.warnings, modeOf(data), modeOf(join(data, "hud.db"))]).toEqual([[], "755", "600"])
    writeStatus(statusFolder(data), statusOf())
    expect([modeOf(data), modeOf(statusFolder(data))]).toEqual(["755", "700"])
  })

  test("for status files that existed with mode 755 is closed to others", async () => {
    mkdirSync(statusFolder(data), { mode: 0o755 })
    writeStatus(statusFolder(data), statusOf())
    expect(modeOf(statusFolder(data))).toBe("700")
  })

  test("with the sticky bit, such as /tmp, may hold a store of the user", async () => {
    chmodSync(data, 0o1777)
    await using opened = await openAt(join(data, "hud.db"))
    expect([opened.warnings, modeOf(join(data, "hud.db"))]).toEqual([[], "600"])
  })

  test.skipIf(!isRoot).each(["", "-wal", "-shm", "-journal"])(
    `and another user's file in it that is called as the store is, with "%s" at the end, is left alone${isRoot ? "" : " (skipped: not root)"}`,
    async (end) => {
      chmodSync(data, 0o1777)
      const path = join(data, `hud.db${end}`)
      writeFileSync(path, "", { mode: 0o644 })
      chownSync(path, STRANGER, STRANGER)
      await using opened = await openAt(join(data, "hud.db"))
      expect(opened.warnings).toEqual([expect.stringContaining("belongs to another user")])
      expect([modeOf(path), readdirSync(data)]).toEqual(["644", [`hud.db${end}`]])
    },
  )
})

test("a missing folder is not reported", () => {
  expect(whyUntrusted(join(data, "none"))).toBeUndefined()
  makePrivateFolder(join(data, "a/b"))
  if (posix) expect([modeOf(join(data, "a")), modeOf(join(data, "a/b"))]).toEqual(["700", "700"])
})
