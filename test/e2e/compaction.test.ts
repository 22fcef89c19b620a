// What a compaction keeps: the facts handed to the summariser, and the HUD afterwards.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, promptOf } from "../opencode/request.ts"
import type { Reply } from "../opencode/wire.ts"
import { testLarge } from "../support/large.ts"
import {
  bash,
  converse,
  edit,
  isUnending,
  OPENAI,
  PATIENCE_MS,
  read,
  type ServedWorld,
  SMALL,
  say,
  serveWorld,
  todo,
  UNENDING,
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

test(
  "a fork of a compacted session knows what was before the compaction",
  async () => {
    const { client } = here
    const { session } = await converse(here, GOAL, [...work(), say("It still fails.")])
    await client.summarize(session, OPENAI)
    const fork = await client.fork(session)
    const { requests } = await converse(here, "Go on", [use(read("gamma.txt")), say("Done.")], { session: fork })
    expect(hudsOf(requests[0] as ModelRequest)[0]).toContain("sh check")
    for (const known of ["call 7", "beta.txt", "gamma.txt", "sh check"])
      expect(hudsOf(requests[1] as ModelRequest)[0]).toContain(known)
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

/** Begins a compaction, and resolves when its summary has begun to arrive. */
async function beginCompaction({ client, provider }: ServedWorld, session: string) {
  const from = client.events.length
  provider.play(({ caller }) => (caller === "compaction" ? UNENDING : undefined), session)
  const asked = client.summarize(session, OPENAI).catch(() => {})
  await client.event(({ properties }) => properties.sessionID === session && isUnending(properties), { from })
  return { asked }
}

test(
  "after a compaction that the user aborted, nothing counts as compacted, and the next one gets all facts",
  async () => {
    const { client, provider } = here
    const { session } = await converse(here, GOAL, [...work(), say("It still fails.")])
    const from = client.events.length
    const { asked } = await beginCompaction(here, session)
    await client.abort(session)
    await asked
    await client.idle(session, from)

    // OpenCode 1.18 answers this prompt with a summary, and goes on sending everything
    expect((await converse(here, "Go on", [], { session })).requests).toEqual([])
    const { requests } = await converse(here, "Go on with it", [say("Done.")], { session })
    expect(promptOf(requests[0] as ModelRequest)).toContain("Go on with it")
    expect(hudsOf(requests[0] as ModelRequest).join()).not.toContain("compacted")

    await client.summarize(session, OPENAI)
    expectFacts(besidesTranscript(provider.from("compaction", session).at(-1)))
    const after = await converse(here, "Go on", [say("Done.")], { session })
    expect(hudsOf(after.requests[0] as ModelRequest)[0]).toContain("compacted once")
  },
  PATIENCE_MS,
)

testLarge(
  "after a compaction that was killed, the one that OpenCode makes up for it gets all facts",
  async () => {
    const world = await serveWorld()
    try {
      const { session } = await converse(world, GOAL, [...work(), say("It still fails.")])
      const { asked } = await beginCompaction(world, session)
      await world.client.kill()
      await asked
      const client = await world.host.serve()
      world.provider.play([], session)
      await client.prompt(session, "Go on")
      expectFacts(besidesTranscript(world.provider.from("compaction", session).at(-1)))
    } finally {
      await world.close()
    }
  },
  2 * PATIENCE_MS,
)
