// What a compaction keeps: the facts handed to the summariser, and the HUD afterwards.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, promptOf } from "../opencode/request.ts"
import type { Reply } from "../opencode/wire.ts"
import { testLarge } from "../support/large.ts"
import {
  bash,
  converse,
  edit,
  OPENAI,
  PATIENCE_MS,
  read,
  type ServedWorld,
  SMALL,
  say,
  serveWorld,
  todo,
  use,
} from "../support/world.ts"

const GOAL = "Make the login test pass on node 22 without touching the cookies"

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld()
}, PATIENCE_MS)
afterAll(() => here.close())

function work(): Reply[] {
  return [
    use(todo(["mend the login", "in_progress"], ["tell the user", "pending"])),
    use(read("alpha.txt"), read("beta.txt")),
    use(edit("beta.txt", "two", `two ${crypto.randomUUID()}`)),
    use(bash("sh check")),
  ]
}

/** What the summariser is told besides the transcript: the transcript alone would hold the same names. */
function besidesTranscript(request: ModelRequest | undefined): string {
  const prompt = request ? promptOf(request) : ""
  const end = prompt.indexOf("</conversation>")
  expect(end).toBeGreaterThan(0)
  return prompt.slice(end)
}

function expectFacts(told: string): void {
  expect(told).toContain(GOAL)
  expect(told).toContain("alpha.txt")
  expect(told).toContain("beta.txt")
  expect(told).toContain("sh check")
  expect(told).toContain("expected 200, got 401")
  expect(told).toContain("mend the login")
  expect(told).not.toContain("<hud>")
}

test(
  "a compaction by the user gets goal, files, open failures and todo, and the next HUD still knows them",
  async () => {
    const { client, provider } = here
    const { session } = await converse(here, GOAL, [...work(), say("It still fails.")])
    await client.summarize(session, OPENAI)
    expectFacts(besidesTranscript(provider.from("compaction", session)[0]))

    const { requests } = await converse(here, "Go on", [use(read("gamma.txt")), say("Done.")], { session })
    // Right after a compaction it is small, but it is there.
    expect(requests.map((request) => hudsOf(request).length)).toEqual([1, 1])
    for (const known of ["beta.txt", "gamma.txt", "sh check"])
      expect(hudsOf(requests[1] as ModelRequest)[0]).toContain(known)
  },
  PATIENCE_MS,
)

test(
  "a compaction at the context limit gets the same facts, and the turn goes on with one HUD per call",
  async () => {
    const { provider } = here
    const full = { ...use(read("gamma.txt")), usage: { input: 59_000 } }
    const { session, requests } = await converse(here, GOAL, [...work(), full, say("Done.")], { model: SMALL })
    const [compaction] = provider.from("compaction", session)
    expectFacts(besidesTranscript(compaction))
    const after = requests.filter((request) => request.index > (compaction?.index ?? 0))
    expect(after).toHaveLength(1)
    expect(hudsOf(after[0] as ModelRequest)).toHaveLength(1)
  },
  PATIENCE_MS,
)

testLarge(
  "a session resumed in a new process only to be compacted hands over its facts too",
  async () => {
    const { host, provider } = here
    const { session } = await converse(here, GOAL, [...work(), say("It still fails.")])
    const resumed = await host.serve()
    try {
      await resumed.summarize(session, OPENAI)
    } finally {
      await resumed.close()
    }
    expectFacts(besidesTranscript(provider.from("compaction", session)[0]))
  },
  2 * PATIENCE_MS,
)
