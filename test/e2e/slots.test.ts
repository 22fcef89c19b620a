// Where the HUD is in the requests, by wire format and model.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { hudsOf, type ModelRequest, messagesOf, withoutHud } from "../opencode/request.ts"
import type { Reply } from "../opencode/wire.ts"
import { testLarge } from "../support/large.ts"
import { sample } from "../support/size.ts"
import * as world from "../support/world.ts"
import {
  ALONE,
  ANTHROPIC,
  BINDING,
  bash,
  COPILOT,
  converse,
  edit,
  MISTRAL,
  OPENAI,
  PATIENCE_MS,
  PLUGIN,
  read,
  say,
  todo,
  use,
} from "../support/world.ts"

let here: world.ServedWorld

beforeAll(async () => {
  here = await world.serveWorld({ plugin: [PLUGIN, ALONE] })
}, PATIENCE_MS)
afterAll(() => here.close())

/** Work with something new to say at every step, from the first on: a plan is told at once. */
function work(thinks: boolean): Reply[] {
  const plan = todo(["mend the login", "pending"], ["tell the user", "pending"])
  const thinking = (text: string) => (thinks ? { thinking: text } : {})
  return [
    { ...thinking("The README first."), text: "I look around.", calls: [read("README.md"), plan] },
    { ...thinking("Two files next."), calls: [read("alpha.txt"), read("beta.txt")] },
    use(todo(["mend the login", "in_progress"], ["tell the user", "pending"])),
    use(bash("sh check")),
    use(edit("alpha.txt", "first", `first ${crypto.randomUUID()}`)),
    use(bash("sh check")),
    say("It still fails."),
  ]
}

type How = { directory?: string; thinks?: boolean }

async function twoTurns(model: string, { directory, thinks = true }: How = {}): Promise<ModelRequest[]> {
  const options = { model, ...(directory ? { directory } : {}) }
  const { session, requests } = await converse(here, "Make the login test pass on node 22", work(thinks), options)
  // The edited line is put back, so that every test finds the file as it was.
  const back = [use(bash("git checkout alpha.txt")), use(read("gamma.txt")), say("Done.")]
  const next = await converse(here, "Then look at gamma", back, { ...options, session })
  // Some slots write into what OpenCode holds in memory; none of it may reach the database.
  expect(JSON.stringify(await here.client.messages(session))).not.toContain("<hud>")
  return [...requests, ...next.requests]
}

/** Requests from the first with a HUD on; it must come as soon as there was a plan. */
function informed(requests: ModelRequest[]): ModelRequest[] {
  const first = requests.findIndex((request) => hudsOf(request).length > 0)
  expect(first).toBeGreaterThanOrEqual(0)
  expect(first).toBeLessThanOrEqual(1)
  return requests.slice(first)
}

function rolesOf(request: ModelRequest): unknown[] {
  return messagesOf(request).map((message) => message.role)
}

function bareRolesOf(request: ModelRequest): unknown[] {
  return withoutHud(request).map((message) => (JSON.parse(message) as { role: string }).role)
}

function expectPrefixes(requests: ModelRequest[], messages: (request: ModelRequest) => string[]): void {
  requests.slice(1).forEach((request, at) => {
    const before = messages(requests[at] as ModelRequest)
    expect(messages(request).slice(0, before.length)).toEqual(before)
  })
}

const whole = (request: ModelRequest) => messagesOf(request).map((message) => JSON.stringify(message))

describe.each(
  sample(
    [
      [OPENAI, false],
      [ANTHROPIC, true],
    ],
    [OPENAI],
  ),
)("%s", (model, thinks) => {
  test(
    "has exactly one HUD, as the last message, from the first step on, and nothing before it changes",
    async () => {
      const requests = await twoTurns(model, { thinks })
      expect(requests).toHaveLength(10)
      const huds = informed(requests).map((request) => {
        expect(hudsOf(request)).toHaveLength(1)
        const last = messagesOf(request).at(-1)
        expect(last?.role).toBe("user")
        const content = Array.isArray(last?.content) ? (last.content.at(-1) as { text?: string }).text : last?.content
        const [hud] = hudsOf(request)
        expect(content).toBe(hud)
        return hud
      })
      expect(new Set(huds).size).toBe(huds.length)
      expect(huds.at(-1)).toContain("alpha.txt")
      expectPrefixes(requests, withoutHud)
    },
    PATIENCE_MS,
  )
})

describe.each(sample([[MISTRAL], [COPILOT]], [COPILOT]))("%s", (model) => {
  test(
    "gets the HUD inside the last tool result, so that the roles stay the same",
    async () => {
      const requests = await twoTurns(model)
      for (const request of informed(requests)) {
        expect(hudsOf(request)).toHaveLength(1)
        expect(rolesOf(request)).toEqual(bareRolesOf(request))
        const last = messagesOf(request).at(-1)
        expect(JSON.stringify(last?.content)).toContain("<hud>")
      }
      // Within a turn the last message is the tool's: Copilot bills by its role, and OpenCode puts no "Done." behind it.
      expect(requests.slice(1, 7).map((request) => rolesOf(request).at(-1))).toEqual(Array(6).fill("tool"))
      expect(messagesOf(requests[6] as ModelRequest).some((message) => message.content === "Done.")).toBe(false)
      expectPrefixes(requests, withoutHud)
    },
    PATIENCE_MS,
  )
})

test(
  "a model that has thought gets the HUD inside the last tool result until the turn ends, and sees what it thought",
  async () => {
    const requests = await twoTurns(OPENAI)
    for (const request of informed(requests)) {
      expect(hudsOf(request)).toHaveLength(1)
      expect(JSON.stringify(messagesOf(request).at(-1)?.content)).toContain("<hud>")
    }
    const thoughtsSeen = requests.map((request) => {
      const messages = messagesOf(request)
      const shown = messages.slice(messages.findLastIndex(({ role }) => role === "user"))
      return shown.filter((message) => message.reasoning_content).length
    })
    expect(thoughtsSeen).toEqual([0, 1, 2, 2, 2, 2, 2, 0, 0, 0])
    expectPrefixes(requests, withoutHud)
  },
  PATIENCE_MS,
)

function expectSticky(requests: ModelRequest[]): void {
  const seen = informed(requests)
  const counts = seen.map((request) => hudsOf(request).length)
  expect(counts.at(-1)).toBeGreaterThan(1)
  expectPrefixes(requests, whole)
  seen.slice(1).forEach((request, at) => {
    const before = hudsOf(seen[at] as ModelRequest)
    expect(hudsOf(request).slice(0, before.length)).toEqual(before)
  })
  expect(hudsOf(seen.at(-1) as ModelRequest).join("\n")).toContain("sh check")
}

test(
  "a Claude with signed thinking keeps every HUD in place, byte for byte, and gets only the new one at the end",
  async () => expectSticky(await twoTurns(BINDING)),
  PATIENCE_MS,
)

testLarge(
  "the option hud.slot sticky does the same for any model",
  async () => {
    const plugin = [[PLUGIN, { ...ALONE, deadlineMs: 5_000, hud: { slot: "sticky" } }]]
    const directory = here.host.addProject("sticky", { ...world.FILES, "opencode.json": JSON.stringify({ plugin }) })
    expectSticky(await twoTurns(OPENAI, { directory }))
  },
  PATIENCE_MS,
)

testLarge(
  "a sticky session resumed in a new process finds its HUDs where they were sent",
  async () => {
    const { host, provider } = here
    const steps = [use(read("alpha.txt"), read("beta.txt")), use(bash("sh check")), say("It fails.")]
    const first = await converse(here, "Make the login test pass on node 22", steps, { model: BINDING })
    provider.play([use(read("gamma.txt")), say("Done.")], first.session)
    const second = await host.run("Then look at gamma", { model: BINDING, session: first.session })
    expect(second.exitCode).toBe(0)
    const requests = provider.from("main", first.session)
    expect(requests).toHaveLength(5)
    expect(hudsOf(requests[2] as ModelRequest).length).toBeGreaterThan(0)
    expectPrefixes(requests, whole)
  },
  2 * PATIENCE_MS,
)
