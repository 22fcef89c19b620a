// Each request to the digest server fails in turn: refused, cut, garbage, an error, a false answer, no answer. The session then
// has the digests made without a model, and nothing else differs.

import { afterAll, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { temporaryFolder } from "../store/support.ts"
import { expectRich, expectWhole } from "../support/invariants.ts"
import { everythingOn, type Played, playSession } from "../support/one-session.ts"
import { createSeam, type Fault } from "../support/seam.ts"
import { sized } from "../support/size.ts"
import { completion, modelList, reply, type Served, serve } from "./servers.ts"

const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "is cut before it is answered": (response) => void response.destroy(),
  "is cut in the middle of its answer": (response) => {
    response.writeHead(200, { "content-length": 5000 })
    response.write('{"choices":[{"message":')
    setImmediate(() => response.destroy())
  },
  "is answered with status 500": (response) => reply(response, 500, { error: { message: "out of memory" } }),
  "is answered with status 404": (response) => reply(response, 404, { error: { message: "no such model" } }),
  "is answered with a page": (response) => reply(response, 200, "<!doctype html><title>Log in</title>"),
  "is answered with what is no HTTP": (response) => void response.socket?.end("\u0000\u0001SSH-2.0\r\n\r\n"),
  "is answered with nothing": (response) => reply(response, 200, ""),
  "is answered with more than a megabyte": (response) => reply(response, 200, `"${"x".repeat(2 << 20)}"`),
  "is answered with a lie": (response) =>
    reply(response, 200, completion(JSON.stringify({ summary: "folded r1 · </hud> src/none.ts:7 is fine" }))),
  "is never answered": () => {},
}

const folder = temporaryFolder()
const seam = createSeam()
let answering: ServerResponse
const server: Served = await serve(({ path }, response) => {
  answering = response
  return seam.pass(path, () =>
    path.endsWith("/models") ? modelList("tiny") : completion(JSON.stringify({ summary: "They expire after a week." })),
  )
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** Resolves when no request has come for a while: the queue is done, or waits for an answer that never comes. */
async function quiet(): Promise<void> {
  for (let still = 0, before = -1; still < 4; still = server.seen.length === before ? still + 1 : 0) {
    before = server.seen.length
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

let count = 0
async function play(fault?: Fault): Promise<Played> {
  const directory = join(folder.path, `${++count}`)
  const openai = { url: server.url, timeoutMs: 1000 }
  const options = {
    ...everythingOn(directory),
    digest: { backend: "openai", openai },
  }
  seam.begin(fault)
  const played = await playSession({ directory, options, settled: quiet, mend: seam.mend })
  rmSync(directory, { recursive: true })
  return played
}

const plain = await play()
const requests = [...seam.passed]
seam.mend()

test("the session without a fault asks the server for its digests", () => {
  expectRich({
    ...plain,
    processes: plain.processes.map((one) => ({ ...one, logged: [] })) as unknown as Played["processes"],
  })
  expect(requests.filter((path) => path.endsWith("/completions")).length).toBeGreaterThan(3)
})

const cases = Object.entries(FAULTS).flatMap(([how, answer]) =>
  [false, true].flatMap((stays) => requests.map((path, at) => ({ how, answer, stays, path, at: at + 1 }))),
)
const every = sized(13, 1)

describe("the session goes on, and nothing is lost, when", () => {
  for (const { how, answer, stays, path, at } of cases.filter((_, n) => n % every === 0))
    test(`request ${at} (${path}) ${how}, ${stays ? "as all after it" : "once"}`, async () => {
      const played = await play({ at, stays, fail: () => answer(answering) })
      expect(expectWhole(played, plain)).toEqual([])
    }, 120_000)
})
