// A session that is short and has no news goes out as OpenCode made it, byte for byte: its messages and its system prompt, in
// OpenCode 1 and 2. With the first news there is a HUD.

import { expect, test } from "bun:test"
import * as fc from "fast-check"
import type { HostPart } from "../../src/host/v1/message.ts"
import * as module from "../../src/plugin.ts"
import { fakeHostV2, heard, loadedModule, type SentV2, storedOf, textsOf } from "../support/host-v2.ts"
import { host } from "../support/hosted.ts"
import { LARGE } from "../support/large.ts"
import { bash, edit, failedTool, read, SessionBuilder, tool, usage } from "../support/session.ts"

const SLOTS = ["auto", "tail", "tool", "sticky"] as const
const optionsFor = (slot: (typeof SLOTS)[number]) => ({ store: { enabled: false }, deadlineMs: 5000, hud: { slot } })

type Made = (n: number) => HostPart
const words = fc.string({ maxLength: 200 })
/** Calls of which a HUD could tell something, but nothing new. `n` makes each the first of its kind. */
const quiet: fc.Arbitrary<Made> = fc.oneof(
  words.map(
    (text): Made =>
      (n) =>
        read(`src/part-${n}.ts`, text),
  ),
  fc.constant<Made>((n) => edit(`src/part-${n}.ts`)),
  words.map(
    (text): Made =>
      (n) =>
        bash(`make step-${n}`, text),
  ),
  words.map(
    (text): Made =>
      (n) =>
        bash(`rm build-${n}`, text, 1),
  ),
  words.map(
    (text): Made =>
      (n) =>
        failedTool("read", { filePath: `none-${n}.ts` }, text),
  ),
  words.map(
    (content): Made =>
      (n) =>
        tool("todowrite", { todos: [{ content, status: "pending" }], n }, "[]"),
  ),
)
const failing = fc.constant<Made>((n) => bash(`npm test part-${n}`, "Tests: 1 failed, 3 passed, 4 total", 1))
const step = (made: fc.Arbitrary<Made>) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ calls: fc.array(made, { maxLength: 3 }), said: words }) },
    { weight: 1, arbitrary: fc.record({ asked: words }) },
  )
/** A check that failed is no news either. */
const pieces = fc
  .tuple(
    fc.array(step(quiet), { maxLength: 20 }),
    fc.array(step(fc.oneof(quiet, failing)), { minLength: 1, maxLength: 9 }),
  )
  .map((parts) => parts.flat())
type Pieces = typeof pieces extends fc.Arbitrary<infer Each> ? Each : never

function sessionOf(pieces: Pieces): SessionBuilder {
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (const [n, piece] of pieces.entries())
    if ("asked" in piece) session.user(piece.asked)
    else {
      const calls = piece.calls.map((make, at) => make(10 * n + at))
      session.assistant([{ type: "text", text: piece.said }, ...calls], usage(100, 9000 + n * 1000))
    }
  return session
}

const REPEATED = () => bash("ls src", "login.ts")
const RUNS = { numRuns: LARGE ? 300 : 15 }

test("in OpenCode 1", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...SLOTS), async (pieces, slot) => {
      const session = sessionOf(pieces)
      const opencode = await host({ options: optionsFor(slot), client: {} })
      // the model is told after the first request, whose slot depends on it
      await opencode.request([])
      for (const end of session.messages.keys()) {
        const given = session.messages.slice(0, end + 1)
        expect(JSON.stringify((await opencode.request(given)).messages)).toBe(JSON.stringify(given))
      }
      expect(opencode.wrong).toEqual([])
      session.assistant([REPEATED()]).assistant([REPEATED()])
      const { messages } = await opencode.request(session.messages)
      expect(JSON.stringify(messages)).toContain("<hud>\\nhudfold status, call ")
      expect(opencode.wrong.filter((wrong) => wrong.startsWith("the system prompt"))).toEqual([])
      await opencode.dispose()
    }),
    RUNS,
  )
}, 120_000)

test("in OpenCode 2", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(...SLOTS), async (pieces, slot) => {
      const session = sessionOf(pieces)
      const [bare, ours] = [fakeHostV2(), fakeHostV2()]
      const setUp = loadedModule(module).setup(ours.context(optionsFor(slot)))
      const cleanup = (await setUp) as () => Promise<void>
      const request = async (): Promise<[SentV2, SentV2]> => [await bare.request(), await ours.request()]
      for (const message of session.messages) {
        for (const one of [bare, ours]) one.store(storedOf(message))
        await heard()
        const [plain, sent] = await request()
        expect(JSON.stringify(sent)).toBe(JSON.stringify(plain))
      }
      session.assistant([REPEATED()]).assistant([REPEATED()])
      for (const message of session.messages.slice(-2)) for (const one of [bare, ours]) one.store(storedOf(message))
      const [plain, sent] = await request()
      expect(textsOf(sent.messages).join("\n")).toContain("<hud>\nhudfold status, call ")
      expect(sent.system).toEqual(plain.system)
      await cleanup()
    }),
    RUNS,
  )
}, 120_000)
