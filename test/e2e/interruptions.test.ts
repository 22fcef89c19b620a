// What happens to a session besides prompts: aborts, errors, undo, forks, the end of the process.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, messagesOf, promptOf } from "../opencode/request.ts"
import { LARGE, testLarge } from "../support/large.ts"
import {
  ALONE,
  bash,
  converse,
  OPENAI,
  PATIENCE_MS,
  PLUGIN,
  promptAndAbort,
  read,
  type ServedWorld,
  say,
  serveWorld,
  todo,
  UNENDING,
  use,
} from "../support/world.ts"

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ snapshots: LARGE, plugin: [PLUGIN, ALONE] })
}, PATIENCE_MS)
afterAll(() => here.close())

/** The HUD begins with the first step when something is planned. */
const PLAN = todo(["mend the login", "in_progress"])

function onlyHud(request: ModelRequest | undefined): string {
  const huds = request ? hudsOf(request) : []
  expect(huds).toHaveLength(1)
  return huds[0] as string
}

test(
  "after an abort in the middle of an answer the next prompt works and its HUD knows what was done before",
  async () => {
    const { client, provider } = here
    const session = await client.create()
    provider.play([use(read("alpha.txt"), PLAN), UNENDING], session)
    await promptAndAbort(client, session, "Look at alpha")

    const next = await converse(here, "Go on with beta", [use(read("beta.txt")), say("Done.")], { session })
    expect(next.requests).toHaveLength(2)
    expect(onlyHud(next.requests[0])).toContain("alpha.txt")
    expect(onlyHud(next.requests[1])).toContain("beta.txt")
  },
  PATIENCE_MS,
)

testLarge(
  "after an answer with status 400 the next prompt works and its HUD knows what was done before",
  async () => {
    const { client } = here
    const failing = [use(read("alpha.txt"), PLAN), { status: 400, message: "this model is out of order" }]
    const { session } = await converse(here, "Look at alpha", failing)
    const stored = await client.messages(session)
    expect(JSON.stringify(stored.at(-1)?.info.error)).toContain("out of order")

    const next = await converse(here, "Once more", [use(read("beta.txt")), say("Done.")], { session })
    expect(next.requests).toHaveLength(2)
    expect(onlyHud(next.requests[0])).toContain("alpha.txt")
    expect(onlyHud(next.requests[1])).toContain("beta.txt")
  },
  PATIENCE_MS,
)

testLarge(
  "a call that OpenCode repeats after a server error carries the same single HUD",
  async () => {
    const overloaded = { status: 503, message: "overloaded" }
    const { requests } = await converse(here, "Look at alpha", [use(read("alpha.txt"), PLAN), overloaded, say("Done.")])
    expect(requests).toHaveLength(3)
    expect(onlyHud(requests[1])).toContain("alpha.txt")
    expect(requests[2]?.raw).toBe(requests[1]?.raw as string)
  },
  PATIENCE_MS,
)

test(
  "a prompt sent while the agent works joins the turn, and the HUD still comes last and once",
  async () => {
    const { client, provider } = here
    const session = await client.create()
    const at = client.events.length
    const joins = Promise.withResolvers<void>()
    provider.play(
      [
        use(read("alpha.txt"), PLAN),
        { ...use(bash("sh check")), after: () => joins.promise },
        say("Done."),
        say("Done."),
      ],
      session,
    )
    await client.promptAsync(session, "Look at alpha")
    await provider.received((request) => request.session === session && provider.from("main", session).length === 2)
    await client.promptAsync(session, "And mind the cookies")
    joins.resolve()
    await client.idle(session, at)
    const requests = provider.from("main", session)
    const joined = requests.find((request) => promptOf(request).includes("And mind the cookies"))
    expect(onlyHud(joined)).toContain("alpha.txt")
    expect(messagesOf(joined as ModelRequest).at(-1)?.content).toBe(onlyHud(joined))
    expect(requests.map((request) => hudsOf(request).length)).toEqual([0, ...requests.slice(1).map(() => 1)])
  },
  PATIENCE_MS,
)

test(
  "reverted messages are gone from the HUD",
  async () => {
    const { client } = here
    const first = await converse(here, "Look at alpha", [use(read("alpha.txt")), say("Done.")])
    const { session } = first
    const second = await converse(here, "Look at beta", [use(read("beta.txt")), use(bash("sh check")), say("Done.")], {
      session,
    })
    expect(onlyHud(second.requests.at(-1))).toContain("beta.txt")
    const stored = await client.messages(session)
    const message = stored.findLast(({ info }) => info.role === "user")?.info.id as string
    await client.revert(session, message)

    const third = await converse(here, "Look at gamma", [use(read("gamma.txt")), say("Done.")], { session })
    expect(onlyHud(third.requests[0])).toContain("alpha.txt")
    for (const request of third.requests) {
      expect(onlyHud(request)).not.toContain("beta.txt")
      expect(onlyHud(request)).not.toContain("sh check")
    }
    expect(onlyHud(third.requests.at(-1))).toContain("gamma.txt")
  },
  PATIENCE_MS,
)

test(
  "a fork knows what its origin knew at that point, and diverges from there",
  async () => {
    const { client } = here
    const first = await converse(here, "Look at alpha", [
      use(read("alpha.txt")),
      use(bash("sh check")),
      say("It fails."),
    ])
    const fork = await client.fork(first.session)
    const there = await converse(here, "Look at beta", [use(read("beta.txt")), say("Done.")], { session: fork })
    expect(onlyHud(there.requests[0])).toContain("alpha.txt")
    expect(onlyHud(there.requests[0])).toContain("sh check")
    expect(onlyHud(there.requests[1])).toContain("beta.txt")

    const origin = await converse(here, "Look at gamma", [use(read("gamma.txt")), say("Done.")], {
      session: first.session,
    })
    expect(onlyHud(origin.requests[1])).toContain("gamma.txt")
    expect(onlyHud(origin.requests[1])).not.toContain("beta.txt")
  },
  PATIENCE_MS,
)

test(
  "a session resumed in a new process has a HUD with the files, failures and todo of the old one on its first call",
  async () => {
    const { host, provider } = here
    const earlier = [use(read("alpha.txt"), PLAN), use(bash("sh check")), say("It fails.")]
    const first = await converse(here, "Make the login test pass", earlier)

    provider.play([use(read("beta.txt")), say("Done.")], first.session)
    const second = await host.run("Continue with it", { session: first.session })
    expect(second.exitCode).toBe(0)
    expect(second.session).toBe(first.session)
    const requests = provider.from("main", first.session).slice(3)
    expect(requests).toHaveLength(2)
    // `run` quotes a message with spaces
    expect(promptOf(requests[0] as ModelRequest)).toContain("Continue with it")
    for (const known of ["alpha.txt", "sh check", "expected 200, got 401", "mend the login"]) {
      expect(onlyHud(requests[0])).toContain(known)
    }
    expect(onlyHud(requests[1])).toContain("beta.txt")
  },
  2 * PATIENCE_MS,
)

testLarge(
  "a session resumed after a compaction in a new process still knows the files from before it",
  async () => {
    const { client, host, provider } = here
    const { session } = await converse(here, "Look at alpha", [
      use(read("alpha.txt")),
      use(bash("sh check")),
      say("It fails."),
    ])
    await client.summarize(session, OPENAI)
    await converse(here, "Look at beta", [use(read("beta.txt")), say("Done.")], { session })

    const before = provider.from("main", session).length
    provider.play([say("Done.")], session)
    const resumed = await host.run("Go on", { session })
    expect(resumed.exitCode).toBe(0)
    const request = provider.from("main", session)[before]
    for (const known of ["alpha.txt", "beta.txt", "sh check"]) expect(onlyHud(request)).toContain(known)
  },
  2 * PATIENCE_MS,
)
