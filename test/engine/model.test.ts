// The only files llama.cpp may parse are models that the user has taken into use, unchanged since. A changed file and a path
// from a project's configuration reach no engine.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { type Backend, BackendError } from "../../src/digest/backends/backend.ts"
import { checkModel } from "../../src/doctor/digests.ts"
import { placesIn, readInstalled } from "../../src/engine/installed.ts"
import { optionsSchema } from "../../src/options.ts"
import { setModelInUse } from "../../src/setup/models.ts"
import { applyModelPlan, planSetup } from "../../src/setup/plan.ts"
import { temporaryFolder, until } from "../store/support.ts"
import { openLlama } from "../support/llama.ts"
import { type Planted, plantSidecar, starts } from "../support/sidecar.ts"
import { errorOf, fixtures, never, writing } from "./host.ts"

setDefaultTimeout(60_000)

let folder: ReturnType<typeof temporaryFolder>
let model = ""
let planted: Planted
let backend: Backend | { off: string } | undefined
beforeEach(async () => {
  folder = temporaryFolder()
  model = join(folder.path, "mine.gguf")
  writeFileSync(model, `GGUF\u0003\u0000\u0000\u0000${"a model of a user's own ".repeat(1000)}`)
  // a whole second, so that it can be restored exactly
  utimesSync(model, 1_700_000_000, 1_700_000_000)
  planted = plantSidecar(folder.path, { program: join(fixtures, "plain.ts"), model })
  // as `hudfold model use` does
  const plan = { kind: "file", name: "mine", path: model, sizeBytes: statSync(model).size } as const
  setModelInUse(placesIn(planted.folder), await applyModelPlan(plan, { env: {} }))
})
afterEach(async () => {
  if (backend && !("off" in backend)) await backend.close()
  backend = undefined
  folder[Symbol.dispose]()
})

const reports: string[] = []
async function open(options: object = {}, idleMinutes = 5) {
  const { digest } = optionsSchema.parse({ digest: options })
  reports.length = 0
  backend = await openLlama({
    dataFolder: planted.folder,
    options: { ...digest, idleMinutes },
    report: (level, message) => reports.push(`${level} ${message}`),
  })
  return backend
}

/** Requests a digest; returns the error, if any. */
async function write(): Promise<Error | undefined> {
  const opened = await open()
  if ("off" in opened) throw new Error(opened.off)
  try {
    await opened.write(writing("a log"), never)
    return undefined
  } catch (error) {
    return error as Error
  }
}

const other = () => readFileSync(model, "utf8").replace("user's", "USER'S")
/** Restores the file's mtime and atime after the change. */
function keepingTimes(change: () => void): void {
  const { atime, mtime } = statSync(model)
  change()
  utimesSync(model, atime, mtime)
}

const changes: Record<string, () => void> = {
  overwritten: () => writeFileSync(model, other()),
  "overwritten with the same size and the old times": () => keepingTimes(() => writeFileSync(model, other())),
  "replaced by a rename": () => {
    writeFileSync(`${model}.new`, other())
    renameSync(`${model}.new`, model)
  },
  "replaced with the old times": () =>
    keepingTimes(() => {
      writeFileSync(`${model}.new`, other())
      renameSync(`${model}.new`, model)
    }),
  "longer by a byte": () => appendFileSync(model, "x"),
  truncated: () => truncateSync(model, 100),
  empty: () => truncateSync(model, 0),
  "a link to another": () => {
    writeFileSync(join(folder.path, "evil.gguf"), other())
    rmSync(model)
    symlinkSync("evil.gguf", model)
  },
  "a hard link to another": () => {
    writeFileSync(join(folder.path, "evil.gguf"), other())
    rmSync(model)
    linkSync(join(folder.path, "evil.gguf"), model)
  },
}

describe("a model in use that is now", () => {
  test.each(Object.entries(changes))("%s starts no engine, and the message says what to do", async (_, change) => {
    change()
    const error = await write()
    expect([error instanceof BackendError, (error as BackendError).code]).toEqual([true, "OFF"])
    expect(error?.message).toMatch(/mine\.gguf is not the file that was chosen.*hudfold doctor.*hudfold model use/)
    expect([backend && !("off" in backend) && backend.state.kind, starts(planted)]).toEqual(["off", 0])
    expect(reports).toEqual([`warn the sidecar stays off: ${error?.message}`])
  })

  const same: Record<string, () => void> = {
    "as it was": () => {},
    "touched, and the same bytes": () => utimesSync(model, 1, 1),
    "copied, and the same bytes": () => {
      copyFileSync(model, `${model}.copy`)
      renameSync(`${model}.copy`, model)
    },
    "moved to another disk, with a link in its place": () => {
      renameSync(model, join(folder.path, "moved.gguf"))
      symlinkSync("moved.gguf", model)
    },
    "recorded by an earlier version": () => {
      const { stamp, ...record } = JSON.parse(readFileSync(planted.modelRecord, "utf8"))
      expect(stamp).toBeString()
      writeFileSync(planted.modelRecord, JSON.stringify(record))
    },
  }
  test.each(Object.entries(same))("%s is loaded", async (_, change) => {
    change()
    expect(await write()).toBeUndefined()
    expect(starts(planted)).toBe(1)
  })

  test.skipIf(process.platform !== "linux")(
    "temporarily unreadable is loaded the next time (skipped without Linux)",
    async () => {
      const { stamp, ...record } = JSON.parse(readFileSync(planted.modelRecord, "utf8"))
      expect(stamp).toBeString()
      // its bytes cannot be read: root ignores modes but cannot read a folder as a file
      renameSync(model, `${model}.away`)
      symlinkSync("/proc/self/mem", model)
      writeFileSync(planted.modelRecord, JSON.stringify(record))
      expect((await write())?.message).toMatch(/the model could not be read/)
      expect(starts(planted)).toBe(0)
      rmSync(model)
      renameSync(`${model}.away`, model)
      expect(await (backend as Backend).write(writing("a log"), never)).toBeDefined()
      expect(starts(planted)).toBe(1)
    },
  )

  test("changed since is replaced by setup, because the plugin would not load it", async () => {
    const plan = async () => {
      const plan = await planSetup({ env: {}, places: planted, main: planted.main, model: undefined })
      return [plan.model?.kind, plan.missing?.path]
    }
    expect(await plan()).toEqual(["kept", undefined])
    writeFileSync(model, other())
    expect(await plan()).toEqual(["hub", model])
  })

  test("changed while the engine is stopped is not loaded at its next start", async () => {
    const opened = (await open({}, 0.001)) as Backend
    await opened.write(writing("a log"), never)
    await until(() => opened.state.kind === "idle")
    writeFileSync(model, other())
    expect((await errorOf(opened.write(writing("another log"), never))).message).toContain("is not the file")
    expect(starts(planted)).toBe(1)
  })
})

describe("digest.model, which a project can set,", () => {
  const inProject = (name: string) => {
    const path = join(folder.path, "project", name)
    mkdirSync(join(path, ".."), { recursive: true })
    copyFileSync(model, path)
    return path
  }
  const inModels = (link: string, target: string) => {
    const path = join(planted.models, link)
    mkdirSync(join(path, ".."), { recursive: true })
    symlinkSync(target, path)
    return path
  }
  const refused: Record<string, () => string> = {
    "a file of the project": () => inProject("evil.gguf"),
    "a relative path": () => "evil.gguf",
    "a path that has the models folder as a prefix of its name": () => {
      mkdirSync(`${planted.models}-evil`, { recursive: true })
      copyFileSync(model, join(`${planted.models}-evil`, "evil.gguf"))
      return join(`${planted.models}-evil`, "evil.gguf")
    },
    "a path that leaves the models folder": () => {
      inProject("evil.gguf")
      mkdirSync(planted.models, { recursive: true })
      return `${planted.models}/../../../project/evil.gguf`
    },
    "a link in the models folder that leads out of it": () => inModels("owner/repo/evil.gguf", inProject("evil.gguf")),
    "a linked folder in the models folder": () => {
      inProject("evil.gguf")
      return join(inModels("owner", join(folder.path, "project")), "evil.gguf")
    },
    "an unfinished download": () => {
      mkdirSync(join(planted.models, "owner/repo"), { recursive: true })
      const part = join(planted.models, "owner/repo/a.gguf.0123456789ab.part")
      copyFileSync(model, part)
      return part
    },
    "a missing file": () => join(planted.models, "none.gguf"),
    "a device": () => "/dev/zero",
    "the models folder itself": () => planted.models,
    "a URL": () => "https://example.com/evil.gguf",
    "a NUL": () => `${model}\u0000.gguf`,
  }
  test.each(Object.entries(refused))("cannot be %s", async (_, path) => {
    const named = path()
    const opened = await open({ model: named })
    expect(opened).toEqual({ off: expect.stringMatching(/^option digest\.model: expected /) })
    const { digest } = optionsSchema.parse({ digest: { model: named } })
    const check = await checkModel(digest, await readInstalled(planted), planted, { signal: never })
    expect(check).toMatchObject({ level: "fail", found: (opened as { off: string }).off })
    expect(starts(planted)).toBe(0)
  })

  test.each(["//evil.example/share/any.gguf", "\\\\evil.example\\share\\any.gguf"])(
    "cannot be a remote file, %s, which is not even accessed, because Windows would log in to the server",
    async (named) => {
      const off = expect.stringMatching(/^option digest\.model: expected the absolute path of a GGUF file/)
      expect(await open({ model: named })).toEqual({ off })
    },
  )

  test("can be the model in use, whose checksum is verified", async () => {
    const opened = (await open({ model })) as Backend
    expect(opened.model).toBe("mine")
    writeFileSync(model, other())
    expect((await errorOf(opened.write(writing("a log"), never))).message).toContain("is not the file")
  })

  test("can be a model that setup has downloaded", async () => {
    const path = join(planted.models, "owner/repo/fetched.gguf")
    mkdirSync(join(path, ".."), { recursive: true })
    copyFileSync(model, path)
    expect((await open({ model: path })) as Backend).toMatchObject({ model: "fetched" })
    expect(existsSync(path)).toBe(true)
  })
})
