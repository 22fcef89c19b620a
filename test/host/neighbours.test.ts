// Another plugin changes the same request, before this one or after it: its changes stay, the HUD is there once, and its text is
// not taken for the user's. Hooks are called here in the host's order; test/e2e/neighbours.test.ts runs some of these plugins
// in the real OpenCode.

import { describe, expect, test } from "bun:test"
import type { HostMessage } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { hooksOf, SYSTEMS, TAIL, TRANSFORMS } from "../support/neighbour.ts"
import { bash, read, SessionBuilder, tool, usage } from "../support/session.ts"

type Hooks = Record<string, (input: unknown, output: unknown) => unknown>
type Sent = { messages: HostMessage[]; system: string[] }

const ASKED = "make the login test pass on node 22, please"
const ORDERS = ["before it", "after it"] as const

/** The array of every call of a session; OpenCode reads it again for each. */
const CALLS = makeCalls()
const calls = () => structuredClone(CALLS)

function makeCalls(): HostMessage[][] {
  const session = new SessionBuilder("ses_neighbours").user(ASKED)
  const arrays = [session.fresh()]
  const step = (...parts: Parameters<SessionBuilder["assistant"]>) => {
    session.assistant(...parts)
    arrays.push(session.fresh())
  }
  step([tool("todowrite", { todos: [{ content: "look", status: "in_progress" }] }, "[]")], usage(4000))
  step([read("src/login.ts")], usage(400, 60_000))
  // long enough for a HUD that has room for the task
  const notes = { filePath: "notes.md", content: "What the login does, and why.\n".repeat(1200) }
  step([tool("write", notes, "Wrote file successfully.")], usage(400, 60_200))
  step([bash("npm test", "1 failed\nError: expected 200, got 401", 1)], usage(400, 60_400))
  for (let n = 0; n < 6; n++) step([read(`src/${n}.ts`)], usage(400, 60_800 + 400 * n))
  session.user("and then the docs")
  arrays.push(session.fresh())
  return arrays
}

async function ours(fold: object = { enabled: false }): Promise<{ hooks: Hooks; logged: string[] }> {
  const logged: string[] = []
  const client = { app: { log: async (line: { body: { message: string } }) => void logged.push(line.body.message) } }
  const input = { client, directory: "/home/dev/shop", worktree: "/home/dev/shop" }
  const options = { store: { enabled: false }, fold, deadlineMs: 5000 }
  return { hooks: (await plugin.server(input as never, options)) as unknown as Hooks, logged }
}

/** What goes out of each call: what stands in the array that OpenCode handed over, whatever a hook put in its place. */
async function drive(plugins: readonly Hooks[]): Promise<Sent[]> {
  const sent: Sent[] = []
  for (const messages of calls()) {
    const array = { messages }
    for (const hooks of plugins) await hooks["experimental.chat.messages.transform"]?.({}, array)
    const system = ["You are OpenCode."]
    const prompt = { system }
    const model = { id: "claude-sonnet-4-5", providerID: "anthropic", limit: { context: 200_000, output: 8_000 } }
    for (const hooks of plugins)
      await hooks["experimental.chat.system.transform"]?.({ sessionID: "ses_neighbours", model }, prompt)
    sent.push({ messages, system })
  }
  return sent
}

const isOurs = (message: HostMessage | null | undefined) => String(message?.info?.id).startsWith("msg_hudfold")
const hudsIn = ({ messages }: Sent) => messages.filter(isOurs).map(({ parts }) => parts[0]?.text ?? "")

/** What is sent without the HUD. */
function theirs({ messages, system }: Sent): Sent {
  return { messages: messages.filter((message) => !isOurs(message)), system }
}

/** The HUD cannot be had: the array OpenCode sends is frozen, empty or no longer the one that hooks are given. */
const WITHOUT_HUD: Readonly<Record<string, readonly string[]>> = {
  "removes all messages": ORDERS,
  "freezes the array": ["before it"],
  "puts another array in the array's place": ["before it"],
  "puts nonsense in the array's place": ["before it"],
  "puts nonsense into the array": ["before it"],
}

const INTO_THE_LAST = "puts its note into the user's message"

describe.each([...Object.keys(TRANSFORMS), ...Object.keys(SYSTEMS)])("a plugin that %s", (does) => {
  test.each(ORDERS)("%s: its changes stay, and the HUD is there once, complete and about the user", async (order) => {
    const alone = await drive([hooksOf(does) as Hooks])
    const { hooks, logged } = await ours()
    const both = await drive(order === "before it" ? [hooksOf(does) as Hooks, hooks] : [hooks, hooksOf(does) as Hooks])
    if (does === INTO_THE_LAST && order === "after it") {
      // the HUD is the last of the user's messages then, and the note stands below it
      for (const { messages } of both) expect(messages.at(-1)?.parts.at(-1)?.text).toBe(TAIL)
    } else expect(both.map(theirs)).toEqual(alone.map(theirs))
    const huds = both.map(hudsIn)
    const wanted = WITHOUT_HUD[does]?.includes(order) ? 0 : 1
    expect(huds.map((said) => said.length)).toEqual(huds.map((_, call) => (call === 0 ? 0 : wanted)))
    for (const hud of huds.flat()) {
      expect(hud).toMatch(/^<hud>\nhudfold status, call \d+\n[\s\S]*\n<\/hud>$/)
      expect(hud).not.toContain(TAIL)
    }
    // an older request is not shown while the newest one, which is the plugin's there, is recent
    const isTheirsNewest = does === "adds a user message at the end" && order === "before it"
    if (wanted === 1 && does !== "removes the oldest message" && !isTheirsNewest)
      expect(huds.flat().join("\n")).toContain(ASKED)
    // a problem with an array is logged once, not at every call
    expect(new Set(logged).size).toBe(logged.length)
    expect(logged.length).toBeLessThanOrEqual(1)
  })
})

test("beside a plugin that adds a message at the end, every call has one HUD also when the array comes back changed", async () => {
  const { hooks } = await ours()
  const messages = calls()[4] as HostMessage[]
  const transform = hooks["experimental.chat.messages.transform"]
  for (let again = 0; again < 5; again++) {
    await transform?.({}, { messages })
    TRANSFORMS["adds a user message at the end"]?.(messages, { messages })
  }
  expect(messages.filter(isOurs)).toHaveLength(1)
  expect(messages.filter(({ parts }) => parts[0]?.text === TAIL)).toHaveLength(5)
})

test("steps share a record also where another plugin puts a message between them that is not sent", async () => {
  const { hooks } = await ours({ price: { read: 1, write: 1 } })
  const session = new SessionBuilder("ses_neighbours").user(ASKED)
  for (let n = 0; n < 20; n++) session.assistant([read(`src/${n}.ts`, `export const a${n} = 1\n`.repeat(200))])
  const messages = session.fresh()
  TRANSFORMS["puts a user's message with results after every step"]?.(messages, { messages })
  await hooks["experimental.chat.messages.transform"]?.({}, { messages })
  const texts = messages.flatMap(({ parts }) => parts.map(({ text = "" }) => text))
  expect(texts.filter((text) => text.includes("kept by hudfold as a record"))).toHaveLength(1)
})
