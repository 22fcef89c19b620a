// A client may give a user's message any id, also one that begins like those of the messages this plugin adds.

import { expect, test } from "bun:test"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { load, worked } from "./loaded.ts"

const TEXT = "these words must arrive"

test.each(["msg_hudfold", "msg_hudfold_0", "msg_hudfold_hud_1", "msg_hudfolder", "msg_hudfold_3x"])(
  "a user's message with the id %s is read, sent, and sent again when the array comes back",
  async (id) => {
    const hooks = await load({ store: { enabled: false } })
    for (const part of [{}, { id: "prt_hudfold" }, { id: "prt_hudfold", synthetic: false }]) {
      const session = worked("ses_own")
      session.messages.splice(1, 0, {
        info: { id, role: "user", sessionID: "ses_own" },
        parts: [{ type: "text", text: TEXT, messageID: id, ...part }],
      })
      const words = (messages: readonly HostMessage[]) =>
        messages.flatMap(({ parts }) => parts.filter(({ text }) => text === TEXT)).length
      const sent = await hooks.transform(session.fresh())
      expect(words(sent)).toBe(1)
      expect(words(await hooks.transform(sent))).toBe(1)
      expect(words(await hooks.transform(structuredClone(sent)))).toBe(1)
      const read = conversationOf(sent).find((message) => message.id === id)
      expect(read?.parts).toEqual([{ type: "text", text: TEXT, by: "user", ignored: false }])
    }
    expect(hooks.logged).toEqual([])
    await hooks.dispose()
  },
)

test("the plugin's own messages are known again in a copy of the array", async () => {
  const hooks = await load({ store: { enabled: false } })
  const session = worked("ses_copied")
  const huds = (messages: readonly HostMessage[]) => JSON.stringify(messages).split("<hud>").length - 1
  const sent = await hooks.transform(session.fresh())
  expect(huds(sent)).toBe(1)
  expect(huds(await hooks.transform(structuredClone(sent)))).toBe(1)
  await hooks.dispose()
})
