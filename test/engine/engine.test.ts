// The sidecar process: its greeting, its behaviour on the wire, and its shutdown.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { copyFile, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"
import { testLarge } from "../support/large.ts"
import {
  cleanUp,
  documentOf,
  failureOf,
  LONG_ANSWER,
  loadOf,
  PATIENCE_MS,
  RUNTIMES,
  type Sidecar,
  SLOW,
  sidecarFolder,
  startSidecar,
  tinyModel,
  untilComputing,
  workFolder,
  writeOf,
} from "./support.ts"

setDefaultTimeout(PATIENCE_MS)
/** The work it leaves undone would take longer, on a busy machine too. */
const AT_ONCE_MS = 10_000
afterAll(cleanUp)

test("without an installed engine it answers hello, and refuses to load a model with a hint to run setup", async () => {
  const bare = await workFolder()
  await copyFile(join(await sidecarFolder(), "main.js"), join(bare, "main.js"))
  const sidecar = await startSidecar({ folder: bare, runtime: "node" })
  const hello = await sidecar.request("engine/hello", { protocol: PROTOCOL })
  expect(hello).toEqual({ protocol: PROTOCOL })
  const failure = await failureOf(sidecar.request("engine/load", loadOf(await tinyModel())))
  expect(failure).toEqual({
    code: "NO_ENGINE",
    message: expect.stringContaining("hudfold setup --uninstall --keep-models"),
  })
  expect(await sidecar.end()).toEqual({ code: 0, signal: null })
})

test("it answers unknown and invalid requests with an error, and continues", async () => {
  const sidecar = await startSidecar()
  await expect(sidecar.ask("engine/fly", {})).rejects.toMatchObject({ code: -32601 })
  const wrong: [string, unknown][] = [
    ["engine/hello", {}],
    ["engine/hello", undefined],
    ["engine/load", { ...loadOf("/x"), gpu: "abacus" }],
    ["engine/load", { ...loadOf("/x"), contextTokens: -1 }],
    ["digest/write", { ...writeOf("x"), answer: "{}" }],
  ]
  for (const [name, params] of wrong) {
    const failure = await failureOf(sidecar.ask(name, params))
    expect(failure).toEqual({ code: "BAD_REQUEST", message: `${name}: the request does not match the protocol` })
  }
  expect((await failureOf(sidecar.request("digest/write", writeOf("x")))).code).toBe("NOT_LOADED")
  sidecar.child.stdin.write('{"jsonrpc":"2.0"\nnot a message at all\n')
  await sidecar.notify("engine/pause", { paused: "perhaps" })
  const hello = await sidecar.request("engine/hello", { protocol: PROTOCOL })
  expect(hello.protocol).toBe(PROTOCOL)
  for (const line of ['{"jsonrpc":"2.0"', "not a message at all", '"paused":"perhaps"'])
    expect(sidecar.stderr).toContain(line)
  await sidecar.end()
})

test("stdout carries only messages, whatever llama.cpp prints", async () => {
  const sidecar = await startSidecar()
  await sidecar.request("engine/load", loadOf(await tinyModel()))
  // these make llama.cpp print
  await failureOf(sidecar.request("engine/load", loadOf(await tinyModel({ fault: "nan" }))))
  await failureOf(sidecar.request("engine/load", loadOf(await tinyModel({ fault: "truncated" }))))
  expect(sidecar.noise).toEqual([])
  await sidecar.end()
})

for (const runtime of Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[]) {
  // the other tests run it on Bun, and one of engine-write.test.ts on Node
  const one = runtime === "opencode" ? test : testLarge
  one(`on ${runtime} it loads, writes, loads again, and ends with stdin`, async () => {
    const sidecar = await startSidecar({ runtime })
    const load = loadOf(await tinyModel())
    await sidecar.request("engine/load", load)
    const reply = await sidecar.request("digest/write", writeOf(documentOf(300)))
    expect(reply.structured).not.toBeNull()
    await sidecar.request("engine/load", load)
    expect((await sidecar.request("digest/write", writeOf(documentOf(300)))).text).toBe(reply.text)
    expect(await sidecar.end()).toEqual({ code: 0, signal: null })
  })
}

/** Working on a request that takes half a minute. */
async function busySidecar(request = writeOf(documentOf(12_000))): Promise<Sidecar> {
  const sidecar = await startSidecar()
  await sidecar.request("engine/load", loadOf(await tinyModel(SLOW), { contextTokens: 16_384 }))
  void sidecar.request("digest/write", request).catch(() => {})
  await untilComputing(sidecar)
  return sidecar
}

const ends: Record<string, (sidecar: Sidecar) => void> = {
  "stdin ends": ({ child }) => child.stdin.end(),
  "stdin and stdout are closed at once": ({ child }) => {
    child.stdin.destroy()
    child.stdout.destroy()
  },
  "SIGTERM comes": ({ child }) => child.kill("SIGTERM"),
  "SIGINT comes": ({ child }) => child.kill("SIGINT"),
  "SIGHUP comes": ({ child }) => child.kill("SIGHUP"),
}
// a signal comes in a test below
const common = ["stdin ends"]
for (const [how, end] of Object.entries(ends)) {
  const one = common.includes(how) ? test : testLarge
  one(`during work it exits at once when ${how}`, async () => {
    const sidecar = await busySidecar()
    const start = performance.now()
    end(sidecar)
    await sidecar.exited
    expect(performance.now() - start).toBeLessThan(AT_ONCE_MS)
  })
}

test("it exits while it loads a model", async () => {
  const sidecar = await startSidecar()
  let loaded = false
  const load = sidecar.request("engine/load", loadOf(await tinyModel(SLOW)))
  void load.then(() => (loaded = true)).catch(() => {})
  // into the load, which takes longer; the next line says so if it did not
  await Bun.sleep(200)
  expect(loaded).toBe(false)
  const start = performance.now()
  await sidecar.end()
  expect(performance.now() - start).toBeLessThan(AT_ONCE_MS)
})

testLarge("while it writes an answer it exits with code 0", async () => {
  const sidecar = await busySidecar(writeOf("x", LONG_ANSWER))
  sidecar.child.kill("SIGTERM")
  expect(await sidecar.exited).toEqual({ code: 0, signal: null })
})

test.skipIf(process.platform !== "linux")(
  "with one thread all its threads have a lower priority (skipped without /proc)",
  async () => {
    const sidecar = await startSidecar()
    await sidecar.request("engine/load", loadOf(await tinyModel(), { threads: 1 }))
    await sidecar.request("digest/write", writeOf("x"))
    const tasks = await readdir(`/proc/${sidecar.child.pid}/task`)
    const nice = await Promise.all(
      tasks.map(async (id) => {
        const stat = await readFile(`/proc/${sidecar.child.pid}/task/${id}/stat`, "utf8")
        // the nineteenth field; the second is a name in brackets, which may hold spaces
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16])
      }),
    )
    expect(new Set(nice)).toEqual(new Set([10]))
    await sidecar.end()
  },
)
