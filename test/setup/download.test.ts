// Downloads from a local server that behaves like the hub and its storage, and has the faults of networks.

import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type DownloadOptions, download, locate } from "../../src/setup/download.ts"
import { SetupError } from "../../src/setup/errors.ts"
import { readReference } from "../../src/setup/models.ts"
import { applyModelPlan } from "../../src/setup/plan.ts"
import { temporaryFolder } from "../store/support.ts"
import { type Hub, modelBytes, sha256, startHub } from "./hub.ts"

const NAME = "owner/repo/model-Q8_0.gguf"
const bytes = modelBytes(1_000_000)
let hub: Hub
let folder: ReturnType<typeof temporaryFolder>
let target: string

beforeEach(async () => {
  hub = await startHub({ [NAME]: bytes, "owner/repo/model-Q4_0.gguf": modelBytes(1000, 2) })
  folder = temporaryFolder()
  target = join(folder.path, "models", "model.gguf")
})
afterEach(async () => {
  await hub.close()
  folder[Symbol.dispose]()
})

const env = (more: Record<string, string> = {}) => ({ HF_ENDPOINT: hub.url, ...more })

async function find(text = `hf:${NAME}`, more = {}) {
  const reference = readReference(text)
  if (reference.kind !== "hub") throw new Error("expected a reference to the hub")
  return locate(reference, env(more))
}

async function fetchIt(options: Partial<DownloadOptions> = {}): Promise<string> {
  return download(await find(), target, { env: env(), ...options })
}

async function failure(work: () => Promise<unknown>): Promise<SetupError> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof SetupError) return error
  throw new Error(`expected a SetupError, got ${error}`)
}

/** The files in the target's folder. */
const files = () => (existsSync(dirname(target)) ? readdirSync(dirname(target)) : []).sort()
const part = `model.gguf.${sha256(bytes).slice(0, 12)}.part`

test("a file is downloaded over a redirect to another host, and no other files are left", async () => {
  const told: number[] = []
  expect(await fetchIt({ onProgress: (done, total) => told.push(done, total ?? 0) })).toBe(sha256(bytes))
  expect(readFileSync(target).equals(bytes)).toBe(true)
  expect(files()).toEqual(["model.gguf"])
  expect(told.slice(-2)).toEqual([bytes.length, bytes.length])
})

test("an existing file is not downloaded again", async () => {
  await fetchIt()
  const before = hub.asked.filter(({ server }) => server === "storage").length
  expect(await fetchIt()).toBe(sha256(bytes))
  expect(hub.asked.filter(({ server }) => server === "storage")).toHaveLength(before)
})

test("a connection that breaks repeatedly is resumed each time", async () => {
  hub.faults.halfway = new Promise(() => {})
  // the storage sends half of the rest each time, and the connection is cut there
  const stops = [500_000, 750_000, 875_000]
  const retries: string[] = []
  const onProgress = (done: number) => {
    if (done < (stops[0] ?? Number.POSITIVE_INFINITY)) return
    stops.shift()
    if (stops.length === 0) delete hub.faults.halfway
    hub.cut()
  }
  expect(await fetchIt({ onProgress, onRetry: (reason) => retries.push(reason) })).toBe(sha256(bytes))
  expect(readFileSync(target).equals(bytes)).toBe(true)
  expect(retries).toHaveLength(3)
  const ranges = hub.asked.flatMap(({ server, range }) => (server === "storage" && range ? [range] : []))
  expect(ranges).toEqual(["bytes=500000-", "bytes=750000-", "bytes=875000-"])
}, 120_000)

test("an aborted download is resumed by the next run", async () => {
  const stop = new AbortController()
  hub.faults.halfway = new Promise(() => {})
  const stopped = fetchIt({ signal: stop.signal, onProgress: (done) => done >= 400_000 && stop.abort() })
  expect(await stopped.catch((error: Error) => error.name)).toBe("AbortError")
  expect(files()).toEqual([part])
  const kept = readFileSync(join(dirname(target), part)).length
  expect(kept).toBeGreaterThanOrEqual(400_000)
  delete hub.faults.halfway
  expect(await fetchIt()).toBe(sha256(bytes))
  expect(hub.asked.at(-1)?.range).toBe(`bytes=${kept}-`)
  expect(files()).toEqual(["model.gguf"])
})

test("an abort ends the reading of a complete part, of a fetched file, and of the user's own", async () => {
  const aborted = { env: env(), signal: AbortSignal.abort() }
  const fetching = async () => download(await find(), target, aborted).catch((error: Error) => error.name)
  mkdirSync(dirname(target))
  writeFileSync(join(dirname(target), part), bytes)
  expect([await fetching(), files()]).toEqual(["AbortError", [part]])
  await fetchIt()
  expect([await fetching(), files()]).toEqual(["AbortError", ["model.gguf"]])
  const own = { kind: "file", name: "model", path: target } as const
  expect(await applyModelPlan(own, aborted).catch((error: Error) => error.name)).toBe("AbortError")
})

test("a corrupt part is detected and deleted, and the next run succeeds", async () => {
  await fetchIt()
  writeFileSync(join(dirname(target), part), Buffer.from(bytes.subarray(0, 500_000)).fill("x", 8, 16))
  writeFileSync(target, "another file")
  expect((await failure(fetchIt)).code).toBe("CHECKSUM")
  expect(files()).toEqual(["model.gguf"])
  expect(await fetchIt()).toBe(sha256(bytes))
})

test("a storage without ranges sends the whole file again", async () => {
  hub.faults = { ignoresRanges: true, halfway: new Promise(() => {}) }
  const onProgress = (done: number) => {
    if (!hub.faults.halfway || done < 500_000) return
    delete hub.faults.halfway
    hub.cut()
  }
  expect(await fetchIt({ onProgress })).toBe(sha256(bytes))
  expect(hub.asked.at(-1)?.range).toBe("bytes=500000-")
  expect(readFileSync(target).equals(bytes)).toBe(true)
})

describe("a wrong file is reported and not kept:", () => {
  const rows: { what: string; faults: Hub["faults"]; code: string; says: RegExp }[] = [
    {
      what: "other bytes of the same length",
      faults: { sendsInstead: modelBytes(bytes.length, 7) },
      code: "CHECKSUM",
      says: /expected sha256 \w{64}, got \w{64}; it was deleted/,
    },
    {
      what: "a shorter file",
      faults: { sendsInstead: modelBytes(500) },
      code: "CHECKSUM",
      says: /expected 1000000 bytes, got 500/,
    },
    {
      what: "a web page",
      faults: { sendsPage: true },
      code: "NOT_A_MODEL",
      says: /a web page. A proxy or a login page/,
    },
    {
      what: "bytes that are not a model",
      faults: { sendsInstead: Buffer.alloc(bytes.length, "<html>") },
      code: "NOT_A_MODEL",
      says: /begins with GGUF, got a web page, which some servers send/,
    },
  ]
  for (const { what, faults, code, says } of rows) {
    test(what, async () => {
      const file = await find()
      hub.faults = faults
      const error = await failure(() => download(file, target, { env: env() }))
      expect(error.code as string).toBe(code)
      expect(error.message).toMatch(says)
      expect(files()).toEqual([])
    })
  }
})

test("a file that does not end where it should is not written beyond its size", async () => {
  let sent = 0
  const chunk = (at: number) => (at === 0 ? bytes : modelBytes(100_000, at).fill(0, 0, 4))
  await using endless = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({ pull: (stream) => (sent < 100 ? stream.enqueue(chunk(sent++)) : stream.close()) }),
      ),
  })
  const url = `http://127.0.0.1:${endless.port}/x`
  const written: number[] = []
  const onProgress = (done: number) => written.push(done)
  const file = { ...(await find()), url }
  const error = await failure(() => download(file, target, { env: { HF_ENDPOINT: url }, onProgress }))
  expect([error.code, error.message]).toEqual([
    "CHECKSUM",
    `${url} is not the expected file: expected 1000000 bytes, got more; nothing was kept`,
  ])
  expect(Math.max(0, ...written)).toBeLessThanOrEqual(bytes.length)
  expect(sent).toBeLessThan(100)
  expect(files()).toEqual([])
})

describe("refusals of the hub are explained:", () => {
  const rows: { faults: Hub["faults"]; env?: Record<string, string>; code: string; says: RegExp }[] = [
    { faults: { refuses: { status: 404 } }, code: "NOT_FOUND", says: /owner\/repo has no such file \(status 404\)/ },
    {
      faults: { refuses: { status: 401, reason: "RepoNotFound" } },
      code: "NOT_FOUND",
      says: /has no such repository, or it is private/,
    },
    {
      faults: { refuses: { status: 401, reason: "GatedRepo" } },
      code: "GATED",
      says: /accept its licence: do so there, and set HF_TOKEN/,
    },
    { faults: { refuses: { status: 403 } }, env: { HF_TOKEN: "t" }, code: "GATED", says: /HF_TOKEN was refused/ },
    { faults: { refuses: { status: 500 } }, code: "HUB_FAILED", says: /status 500.*hudfold setup --model/ },
  ]
  for (const { faults, env: more, code, says } of rows) {
    test(`${faults.refuses?.status} ${faults.refuses?.reason ?? ""}`, async () => {
      hub.faults = faults
      const error = await failure(() => find(undefined, more))
      expect(error.code as string).toBe(code)
      expect(error.message).toMatch(says)
    })
  }
})

test("without a network it says what could not be reached and how to fetch the file by other means", async () => {
  const file = await find()
  await hub.close()
  const error = await failure(() => download(file, target, { env: env() }))
  expect(error.code).toBe("OFFLINE")
  expect(error.message).toContain(`${hub.url} could not be reached`)
  expect(error.message).toContain(
    `fetch ${file.url} by other means and run: hudfold setup --model /path/to/model-Q8_0.gguf`,
  )
  expect(files()).toEqual([])
}, 120_000)

test("without a checksum the file is accepted as it is, and never resumed", async () => {
  hub.faults.saysNothing = true
  const file = await find()
  expect([file.sha256, file.sizeBytes]).toEqual([undefined, undefined])
  writeFileSync(join(folder.path, "model.gguf.unchecked.part"), "GGUF of another time")
  target = join(folder.path, "model.gguf")
  expect(await download(file, target, { env: env() })).toBe(sha256(bytes))
  expect(hub.asked.some(({ range }) => range !== undefined)).toBe(false)
})

test("a file larger than the free disk space is refused before the download", async () => {
  const file = { ...(await find()), sizeBytes: 1e15 }
  const error = await failure(() => download(file, target, { env: env() }))
  expect(error.code).toBe("DISK_FULL")
  expect(error.message).toContain("1000000.1 GB")
  expect(hub.asked.some(({ server }) => server === "storage")).toBe(false)
})

test("the token goes to the hub and not to its storage", async () => {
  const token = { HF_TOKEN: "hf-secret" }
  await download(await find(undefined, token), target, { env: env(token) })
  const sent = (server: string) => hub.asked.filter((one) => one.server === server).map((one) => one.authorization)
  expect(new Set(sent("hub"))).toEqual(new Set(["Bearer hf-secret"]))
  expect(sent("storage")).toEqual([undefined])
})

describe("a quantisation", () => {
  test("selects the only file that ends in it", async () => {
    expect(basename((await find("hf:owner/repo:q8_0")).url)).toBe("model-Q8_0.gguf")
  })

  test("that no file has is refused with a list of the files", async () => {
    const error = await failure(() => find("hf:owner/repo:Q5_K_M"))
    expect(error.code).toBe("NOT_FOUND")
    expect(error.message).toContain("it has model-Q8_0.gguf, model-Q4_0.gguf")
  })
})
