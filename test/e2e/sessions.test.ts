// Several sessions in one OpenCode process: none knows the facts of another.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, type ModelRequest } from "../opencode/request.ts"
import { testLarge } from "../support/large.ts"
import {
  ALONE,
  bash,
  converse,
  FILES,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  todo,
  use,
} from "../support/world.ts"

/** The HUD begins with the first step when something is planned. */
const PLAN = todo(["look and report", "in_progress"])

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ plugin: [PLUGIN, ALONE] })
}, PATIENCE_MS)
afterAll(() => here.close())

function said(requests: readonly ModelRequest[]): string {
  return requests.flatMap((request) => hudsOf(request)).join("\n")
}

/** Both sessions ask at the same time, and every answer waits until the other has asked as well. */
async function interleave(one: string, other: string, mine: string, theirs: string): Promise<void> {
  const { client, provider } = here
  const asked = (session: string, times: number) =>
    provider.received((it) => it.session === session && provider.from("main", session).length >= times)
  const steps = (path: string, beside: string) =>
    [use(read(path), PLAN), use(bash(`cat ${path} && exit 3`)), use(read(path)), say("Done.")].map((reply, at) => ({
      ...reply,
      after: () => asked(beside, at + 1),
    }))
  provider.play(steps(mine, other), one)
  provider.play(steps(theirs, one), other)
  await Promise.all([client.prompt(one, `Look at ${mine}`), client.prompt(other, `Look at ${theirs}`)])
}

async function expectApart(one: string, other: string): Promise<void> {
  const { provider } = here
  await interleave(one, other, "alpha.txt", "beta.txt")
  const [mine, theirs] = [provider.from("main", one), provider.from("main", other)]
  const lastStart = Math.max(mine[0]?.index ?? 0, theirs[0]?.index ?? 0)
  const firstEnd = Math.min(mine.at(-1)?.index ?? 0, theirs.at(-1)?.index ?? 0)
  expect(lastStart).toBeLessThan(firstEnd)
  expect(mine.map((request) => hudsOf(request).length)).toEqual([0, 1, 1, 1])
  expect(theirs.map((request) => hudsOf(request).length)).toEqual([0, 1, 1, 1])
  expect(said(mine)).toContain("alpha.txt")
  expect(said(mine)).not.toContain("beta.txt")
  expect(said(theirs)).toContain("beta.txt")
  expect(said(theirs)).not.toContain("alpha.txt")
}

test(
  "two sessions that work at the same time do not mix",
  async () => expectApart(await here.client.create(), await here.client.create()),
  PATIENCE_MS,
)

testLarge(
  "two projects in one process do not mix",
  async () => {
    const directory = here.host.addProject("other", FILES)
    await expectApart(await here.client.create(), await here.client.create({ directory }))
  },
  PATIENCE_MS,
)

test(
  "a subagent has its own HUD, without its parent's facts",
  async () => {
    const { client, provider } = here
    const session = await client.create()
    const brief = { description: "look at gamma", prompt: "Read gamma.txt and report", subagent_type: "general" }
    provider.play((request) => {
      if (request.caller !== "child") return undefined
      const step = provider.from("child", request.session).length
      return step <= 2 ? use(read("gamma.txt"), read("missing.txt")) : say("It has two lines.")
    })
    provider.play([use(read("alpha.txt"), PLAN), use({ name: "task", arguments: brief }), say("Done.")], session)
    await client.prompt(session, "Compare alpha with gamma, with a helper for gamma")
    const [child] = await client.children(session)
    const inside = provider.from("child", child)
    expect(inside.map((request) => hudsOf(request).length)).toEqual([0, 1, 1])
    expect(said(inside)).toContain("gamma.txt")
    expect(said(inside)).not.toContain("alpha.txt")
    expect(said(inside)).not.toContain("Compare alpha")
    const outside = provider.from("main", session)
    expect(outside.map((request) => hudsOf(request).length)).toEqual([0, 1, 1])
    expect(said(outside)).toContain("alpha.txt")
    expect(said(outside)).not.toContain("gamma.txt")
  },
  PATIENCE_MS,
)

test(
  "a deleted session leaves nothing behind for the next one",
  async () => {
    const { client } = here
    const { session } = await converse(here, "Look at alpha", [use(read("alpha.txt"), PLAN), say("Done.")])
    await client.remove(session)
    const next = await converse(here, "Look at beta", [use(read("beta.txt"), PLAN), say("Done.")])
    expect(next.requests.map((request) => hudsOf(request).length)).toEqual([0, 1])
    expect(said(next.requests)).not.toContain("alpha.txt")
  },
  PATIENCE_MS,
)
