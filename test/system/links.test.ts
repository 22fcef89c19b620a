// Links planted where a file is about to be written, and ids and names that would lead out of their folder: nothing outside
// changes.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { writeTo } from "../../src/cli/written-file.ts"
import { placesIn } from "../../src/engine/installed.ts"
import { createLease } from "../../src/engine/lease.ts"
import { download, locate } from "../../src/setup/download.ts"
import { installEngine } from "../../src/setup/engine.ts"
import {
  fetchedModels,
  fetchedPath,
  type ModelReference,
  readReference,
  setModelInUse,
} from "../../src/setup/models.ts"
import { installedPaths, uninstall } from "../../src/setup/plan.ts"
import { forget, readStatus, readSwitches, statusFolder, writeStatus, writeSwitches } from "../../src/status/files.ts"
import { type Hub, modelBytes, sha256, startHub } from "../setup/hub.ts"
import { temporaryFolder } from "../store/support.ts"
import { statusOf } from "../support/status.ts"
import { modeOf, walk } from "../support/walk.ts"
import { looseInstaller, VARIANTS } from "./written.ts"

let folder: ReturnType<typeof temporaryFolder>
let hub: Hub
let data = ""
const bytes = modelBytes(1000)
const NAME = "owner/repo/a-Q8_0.gguf"
beforeEach(async () => {
  folder = temporaryFolder()
  data = join(folder.path, "data")
  hub = await startHub({ [NAME]: bytes })
})
afterEach(async () => {
  await hub.close()
  folder[Symbol.dispose]()
})

const fetchModel = async () => {
  const file = await locate(readReference("hf:owner/repo:Q8_0") as ModelReference & { kind: "hub" }, {
    HF_ENDPOINT: hub.url,
  })
  return download(file, fetchedPath(placesIn(data), file), { env: {} })
}
const install = async () => {
  const main = join(folder.path, "main.js")
  writeFileSync(main, "// ours\n")
  await installEngine(VARIANTS, placesIn(data), main, { installers: [looseInstaller] })
}
const record = { name: "m", path: "/m.gguf", sizeBytes: 1, sha256: "" }
const part = `models/${NAME}.${sha256(bytes).slice(0, 12)}.part`

const writers: [what: string, link: string, write: () => unknown][] = [
  ["a status", "sessions/ses_1.status.json", () => writeStatus(statusFolder(data), statusOf())],
  [
    "a switch",
    "sessions/ses_1.switches.json",
    () => writeSwitches(statusFolder(data), "ses_1", { hud: "paused", folding: "on" }),
  ],
  ["a lease", "sidecar.lease", () => createLease(join(data, "sidecar.lease")).acquire()],
  ["a download", part, fetchModel],
  ["a download that is in place", `models/${NAME}`, fetchModel],
  ["the record of a model", "model.json", () => setModelInUse(placesIn(data), record)],
  ["the record of a model, aside", "model.json.new", () => setModelInUse(placesIn(data), record)],
  ["the engine", "sidecar", install],
  ["the engine that was", "sidecar.old", install],
  ["a report", "report.html", () => writeTo("--out", join(data, "report.html"), "<!doctype html>")],
  [
    "a report, aside",
    `report.html.${process.pid}.tmp`,
    () => writeTo("--out", join(data, "report.html"), "<!doctype html>"),
  ],
  ["a bundle", "bundle.json", () => writeTo("--bundle", join(data, "bundle.json"), "{}")],
]

describe("a link planted in place of", () => {
  for (const [what, link, write] of writers) {
    for (const target of ["a file", "a folder", "nothing"] as const) {
      test(`${what}, to ${target}, is not followed`, async () => {
        const beyond = join(folder.path, "beyond")
        if (target === "a file") writeFileSync(beyond, "theirs", { mode: 0o644 })
        if (target === "a folder") {
          mkdirSync(beyond, { mode: 0o755 })
          writeFileSync(join(beyond, "theirs"), "theirs", { mode: 0o644 })
        }
        mkdirSync(dirname(join(data, link)), { recursive: true, mode: 0o700 })
        symlinkSync(beyond, join(data, link))
        await Promise.try(write).catch(() => {})
        if (target === "nothing") return expect(existsSync(beyond)).toBe(false)
        const theirs = target === "a file" ? beyond : join(beyond, "theirs")
        expect([readFileSync(theirs, "utf8"), modeOf(theirs)]).toEqual(["theirs", "644"])
        if (target === "a folder") expect([readdirSync(beyond), modeOf(beyond)]).toEqual([["theirs"], "755"])
      })
    }
  }
})

for (const link of ["models", "models/owner", "models/owner/repo", `models/${NAME}`]) {
  test(`uninstalling removes no model behind a link at ${link}`, async () => {
    const beyond = join(folder.path, "beyond")
    const theirs = join(beyond, relative(link, `models/${NAME}`))
    mkdirSync(dirname(theirs), { recursive: true })
    writeFileSync(theirs, "GGUF of theirs")
    mkdirSync(dirname(join(data, link)), { recursive: true, mode: 0o700 })
    symlinkSync(relative(link, `models/${NAME}`) === "" ? theirs : beyond, join(data, link))
    expect(await installedPaths(placesIn(data), false)).toEqual([])
    await uninstall(placesIn(data), false, {})
    expect(readFileSync(theirs, "utf8")).toBe("GGUF of theirs")
  })
}

test("uninstalling removes models of a data folder that is behind a link", async () => {
  mkdirSync(join(folder.path, "real"), { mode: 0o700 })
  symlinkSync(join(folder.path, "real"), data)
  await fetchModel()
  await uninstall(placesIn(data), false, {})
  expect(readdirSync(join(folder.path, "real"))).toEqual([])
})

test("a link to a model on a drive that is not mounted is no fetched model, and the others are listed", async () => {
  await fetchModel()
  symlinkSync(join(folder.path, "not-mounted", "theirs.gguf"), join(dirname(join(data, "models", NAME)), "theirs.gguf"))
  expect((await fetchedModels(placesIn(data))).map(({ path }) => path)).toEqual([join(data, "models", NAME)])
})

test("a download with a planted partial file still completes, as a separate file", async () => {
  writeFileSync(join(folder.path, "beyond"), "GGUF of theirs")
  mkdirSync(dirname(join(data, part)), { recursive: true })
  symlinkSync(join(folder.path, "beyond"), join(data, part))
  expect(await fetchModel()).toBe(sha256(bytes))
  expect(readFileSync(join(data, "models", NAME)).equals(bytes)).toBe(true)
  expect(readFileSync(join(folder.path, "beyond"), "utf8")).toBe("GGUF of theirs")
})

test("a file named like the report's temporary file is not removed when the report cannot be written", async () => {
  mkdirSync(join(data, "report.html"), { recursive: true })
  const theirs = join(data, `report.html.${process.pid}.tmp`)
  writeFileSync(theirs, "theirs")
  await expect(writeTo("--out", join(data, "report.html"), "<!doctype html>")).rejects.toThrow("is not a file")
  expect(readFileSync(theirs, "utf8")).toBe("theirs")
})

const ids = [
  ...["../ses_1", "../../ses_1", "a/../../b", "/etc/passwd", "..", ".", "", "a\\..\\b", "C:ses", "ses_1\n", "\nses_1"],
  ...[
    "ses\u00001",
    "ses_1\u0000.status.json",
    "ses 1",
    "x".repeat(101),
    "x".repeat(300),
    "sés",
    "ses_１",
    "%2e%2e%2fx",
  ],
  ...["ses_1/", "~", "$HOME", "`id`", "\ud800", "\u202eses", "-\u200b", "ses*", "ses?", "ses|1", "nul:", "ses.1"],
]
test.each(ids)("the session id %j writes, reads and removes nothing", async (id) => {
  const sessions = statusFolder(data)
  writeStatus(sessions, statusOf({ sessionID: "ses_1" }))
  for (const name of ["ses_1.status.json", "ses_1.switches.json"]) writeFileSync(join(data, name), "theirs")
  const before = walk(folder.path)
  expect(() => writeStatus(sessions, statusOf({ sessionID: id }))).toThrow("not a session id")
  await expect(writeSwitches(sessions, id, { hud: "paused", folding: "paused" })).rejects.toThrow("not a session id")
  await expect(writeSwitches(sessions, id, { hud: "on", folding: "on" })).rejects.toThrow("not a session id")
  forget(sessions, id)
  expect(await readStatus(sessions, id)).toBeUndefined()
  expect(readSwitches(sessions, id)).toEqual({ hud: "on", folding: "on" })
  expect(walk(folder.path)).toEqual(before)
})

test.each(["__proto__", "constructor", "hasOwnProperty", "-", "_", "--help", "x".repeat(100)])(
  "the session id %j is an ordinary name, and writes only its own file",
  async (id) => {
    const sessions = statusFolder(data)
    writeStatus(sessions, statusOf({ sessionID: id }))
    await writeSwitches(sessions, id, { hud: "paused", folding: "on" })
    expect(readdirSync(sessions).sort()).toEqual([`${id}.status.json`, `${id}.switches.json`])
    expect((await readStatus(sessions, id))?.sessionID).toBe(id)
    expect(readSwitches(sessions, id).hud).toBe("paused")
    expect(readSwitches(sessions, "ses_1")).toEqual({ hud: "on", folding: "on" })
  },
)

const answers = [
  ...["../../../../evil-Q8_0.gguf", "/evil-Q8_0.gguf", "a/../../../evil-Q8_0.gguf", "..\\evil-Q8_0.gguf"],
  ...[".hidden/x-Q8_0.gguf", "a//b-Q8_0.gguf", "a\u0000b-Q8_0.gguf", "./x-Q8_0.gguf", "a b/x-Q8_0.gguf"],
]
test.each(answers)("the file name %j from a hub is refused", async (name) => {
  await using evil = await hubOf(name)
  const found = locate(readReference("hf:owner/repo:Q8_0") as ModelReference & { kind: "hub" }, {
    HF_ENDPOINT: evil.url,
  })
  await expect(found).rejects.toThrow(/no file of owner\/repo ends in Q8_0\.gguf/)
})

test.each(["hf:../../x/y:Q8_0", "hf:owner/..:Q8_0", "hf:owner/repo/../../x.gguf", "hf:owner/repo/.x/y.gguf"])(
  "the reference %s is none",
  (text) => {
    expect(() => readReference(text)).toThrow(expect.objectContaining({ code: "BAD_REFERENCE" }))
  },
)

/** A hub that answers with another list of files. */
async function hubOf(path: string) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json([{ type: "file", path }]),
  })
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) }
}
