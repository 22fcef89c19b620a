// What is asked of OpenCode's server, and OpenCode's wildcards, in the rules that deny tools to agents and prompts. The rules may
// come from anyone who sends a prompt.

import { expect, test } from "bun:test"
import { matchesRecall, storedMessages } from "../../src/host/v1/host.ts"
import { dataOfFile } from "../support/data.ts"
import { load, worked } from "./loaded.ts"

dataOfFile()

test("few stored messages are asked for one by one, many all at once, and none if none is wanted", async () => {
  const asked: string[] = []
  const answer = (path: { id: string; messageID?: string }, data: unknown) => {
    asked.push(path.messageID ?? path.id)
    return data
  }
  const client = (one: unknown, all?: unknown) =>
    ({
      session: {
        message: async ({ path }: { path: { id: string; messageID: string } }) => answer(path, one),
        messages: async ({ path }: { path: { id: string } }) => answer(path, all),
      },
    }) as never
  const ids = ["a", "b", "c", "d", "e"]
  expect(await storedMessages(client({ data: 1 }), "ses", ids)).toEqual([1, 1, 1, 1, 1])
  expect(await storedMessages(client({ error: { name: "NotFoundError" } }), "ses", ["f"])).toEqual([undefined])
  expect(await storedMessages(client({}), "ses", [])).toEqual([])
  expect(await storedMessages(client({}, { data: [1, 2] }), "ses", [...ids, "f"])).toEqual([1, 2])
  expect(await storedMessages(client({}, { data: [3] }), "ses")).toEqual([3])
  expect(asked).toEqual([...ids, "f", "ses", "ses"])
  for (const nothing of [undefined, null, 7, {}, { error: {} }]) {
    expect(await storedMessages(client(nothing), "ses", ["a"])).toEqual([{ unanswered: "a" }])
    for (const wanted of [[...ids, "f"], undefined])
      await expect(storedMessages(client(nothing, nothing), "ses", wanted)).rejects.toThrow("did not return")
  }
})

test.each([
  ["hud_recall", true],
  ["*", true],
  ["hud_*", true],
  ["*recall", true],
  ["hud*recall*", true],
  ["*_*_*", false],
  ["**hud**recall**", true],
  ["h*d_r*l", true],
  ["hud_recal?", true],
  ["?".repeat(10), true],
  ["?".repeat(11), false],
  ["*?".repeat(10), true],
  ["*?".repeat(11), false],
  ["", false],
  ["hud_recal", false],
  ["hud_recalls", false],
  ["hud.recall", false],
  ["(hud_recall|x)", false],
  ["[h]ud_recall", false],
  ["\ud800*", false],
])("%j matches hud_recall: %p", (pattern, isSo) => {
  expect(matchesRecall(pattern)).toBe(isSo)
})

const HOSTILE = {
  "stars over which a regular expression goes on for ever": `${"*".repeat(60)}z`,
  "stars between letters, as many": `${"*l".repeat(60)}z`,
  "a million stars": `${"*".repeat(1_000_000)}z`,
  "what is no regular expression": "[(\\",
  "half a character": "\ud800",
  "a property of every object": "__proto__",
}

test.each(Object.entries(HOSTILE))(
  "a prompt that denies %s gets its HUD",
  async (_, name) => {
    const hooks = await load()
    try {
      const session = worked("ses_hostile")
      const info = session.messages[0]?.info as { tools?: object }
      info.tools = JSON.parse(`{${JSON.stringify(name)}: false}`)
      const sent = await hooks.transform(session.fresh())
      expect(sent.at(-1)?.parts[0]?.text).toStartWith("<hud>")
      expect(hooks.logged).toEqual([])
    } finally {
      await hooks.dispose()
    }
  },
  5_000,
)
