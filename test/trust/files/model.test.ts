// What llama.cpp is given to parse: a model that the user has taken into use, as it was then. A file that has changed since
// reaches no engine, and a path that a project's configuration names neither.

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
import { type Backend, BackendError } from "../../../src/digest/backends/backend.ts"
import { openLlama } from "../../../src/digest/backends/llama.ts"
import { checkModel } from "../../../src/doctor/digests.ts"
import { placesIn, readInstalled } from "../../../src/engine/installed.ts"
import { optionsSchema } from "../../../src/options.ts"
import { carryOutModel, planSetup } from "../../../src/setup/plan.ts"
import { takeIntoUse } from "../../../src/setup/shelf.ts"
import { errorOf, fixtures, never, writing } from "../../engine/host.ts"
import { temporaryFolder } from "../../store/support.ts"
import { type Planted, plantSidecar, starts } from "../../support/sidecar.ts"

setDefaultTimeout(60_000)

let folder: ReturnType<typeof temporaryFolder>
let model = ""
let planted: Planted
let backend: Backend | { off: string } | undefined
beforeEach(async () => {
  folder = temporaryFolder()
  model = join(folder.path, "mine.gguf")
  writeFileSync(model, `GGUF\u0003\u0000\u0000\u0000${"a model of a user's own ".repeat(1000)}`)
  // a whole second, so that it can be put back to the nanosecond
  utimesSync(model, 1_700_000_000, 1_700_000_000)
  planted = plantSidecar(folder.path, { program: join(fixtures, "plain.ts"), model })
  // as `hudfold model use` does
  const plan = { kind: "file", name: "mine", path: model, sizeBytes: statSync(model).size } as const
  await takeIntoUse(placesIn(planted.folder), await carryOutModel(plan, { env: {} }))
})
afterEach(async () => {
  if (backend && !("off" in backend)) await backend.close()
  backend = undefined
  folder[Symbol.dispose]()
})

const reports: string[] = []
async function open(options: object = {}) {
  const { digest } = optionsSchema.parse({ digest: options })
  reports.length = 0
  backend = await openLlama({
    dataFolder: planted.folder,
    options: digest,
    report: (level, message) => reports.push(`${level} ${message}`),
  })
  return backend
}

/** Has something written; answers the error, or nothing when it was. */
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
/** With the times of modification and access that the file had. */
function keepingTimes(change: () => void): void {
  const { atime, mtime } = statSync(model)
  change()
  utimesSync(model, atime, mtime)
}

const changes: Record<string, () => void> = {
  "written anew": () => writeFileSync(model, other()),
  "written anew with the same size and the old times": () => keepingTimes(() => writeFileSync(model, other())),
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
  "cut off": () => truncateSync(model, 100),
  empty: () => truncateSync(model, 0),
  "a link to another": () => {
    writeFileSync(join(folder.path, "evil.gguf"), other())
    rmSync(model)
    symlinkSync("evil.gguf", model)
  },
  "another by a second name": () => {
    writeFileSync(join(folder.path, "evil.gguf"), other())
    rmSync(model)
    linkSync(join(folder.path, "evil.gguf"), model)
  },
}

describe("a model in use that is now", () => {
  test.each(Object.entries(changes))("%s starts no engine, and it is said what to do", async (_, change) => {
    change()
    const error = await write()
    expect([error instanceof BackendError, (error as BackendError).code]).toEqual([true, "OFF"])
    expect(error?.message).toMatch(/mine\.gguf is not the file that was taken into use.*hudfold model use/)
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
    "of a record that an earlier version has written": () => {
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

  test.skipIf(process.platform !== "linux")("that cannot be read for once is loaded the next time", async () => {
    const { stamp, ...record } = JSON.parse(readFileSync(planted.modelRecord, "utf8"))
    expect(stamp).toBeString()
    // its bytes are looked at, and cannot be: root reads whatever the mode, but no folder
    renameSync(model, `${model}.away`)
    symlinkSync("/proc/self/mem", model)
    writeFileSync(planted.modelRecord, JSON.stringify(record))
    expect((await write())?.message).toMatch(/the model could not be read/)
    expect(starts(planted)).toBe(0)
    rmSync(model)
    renameSync(`${model}.away`, model)
    expect(await (backend as Backend).write(writing("a log"), never)).toBeDefined()
    expect(starts(planted)).toBe(1)
  })

  test("changed since is not what setup keeps, for the plugin would not load it", async () => {
    const plan = async () => {
      const plan = await planSetup({ env: {}, places: planted, main: planted.main, model: undefined })
      return [plan.model?.kind, plan.missing?.path]
    }
    expect(await plan()).toEqual(["kept", undefined])
    writeFileSync(model, other())
    expect(await plan()).toEqual(["hub", model])
  })

  test("changed while the engine rests is not loaded by its next start", async () => {
    expect(await write()).toBeUndefined()
    const opened = backend as Backend
    await opened.unload()
    writeFileSync(model, other())
    expect((await errorOf(opened.write(writing("another log"), never))).message).toContain("is not the file")
    expect(starts(planted)).toBe(1)
  })
})

describe("digest.model, which a project may have set,", () => {
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
    "a path that begins as the models folder does": () => {
      mkdirSync(`${planted.models}-evil`, { recursive: true })
      copyFileSync(model, join(`${planted.models}-evil`, "evil.gguf"))
      return join(`${planted.models}-evil`, "evil.gguf")
    },
    "a way out of the models folder": () => {
      inProject("evil.gguf")
      mkdirSync(planted.models, { recursive: true })
      return `${planted.models}/../../../project/evil.gguf`
    },
    "a link in the models folder that leads out of it": () => inModels("owner/repo/evil.gguf", inProject("evil.gguf")),
    "a linked folder in the models folder": () => {
      inProject("evil.gguf")
      return join(inModels("owner", join(folder.path, "project")), "evil.gguf")
    },
    "what a download has not finished": () => {
      mkdirSync(join(planted.models, "owner/repo"), { recursive: true })
      const part = join(planted.models, "owner/repo/a.gguf.0123456789ab.part")
      copyFileSync(model, part)
      return part
    },
    "a file that is not there": () => join(planted.models, "none.gguf"),
    "a device": () => "/dev/zero",
    "the models folder itself": () => planted.models,
    "an address": () => "https://example.com/evil.gguf",
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
    "cannot be another machine's file, %s, and is not even looked for, since Windows would log in there",
    async (named) => {
      const off = expect.stringMatching(/^option digest\.model: expected the absolute path of a GGUF file/)
      expect(await open({ model: named })).toEqual({ off })
    },
  )

  test("can be the model in use, and is held against its checksum", async () => {
    const opened = (await open({ model })) as Backend
    expect(opened.id).toBe("llama/mine")
    writeFileSync(model, other())
    expect((await errorOf(opened.write(writing("a log"), never))).message).toContain("is not the file")
  })

  test("can be one that setup has fetched", async () => {
    const path = join(planted.models, "owner/repo/fetched.gguf")
    mkdirSync(join(path, ".."), { recursive: true })
    copyFileSync(model, path)
    expect((await open({ model: path })) as Backend).toMatchObject({ id: "llama/fetched" })
    expect(existsSync(path)).toBe(true)
  })
})
