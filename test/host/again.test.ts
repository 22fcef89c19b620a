// OpenCode 2 has a request prepared again whose call failed, as often as it tries. Each time it is the same up to the HUD, which
// is at the end; a sticky one, which stays, is the same too.

import { expect, test } from "bun:test"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { edit, read, SessionBuilder, tool, usage } from "../support/session.ts"
import { load } from "./loaded.ts"

const withoutHud = (messages: readonly HostMessage[]) =>
  messages.filter(({ parts }) => !parts.some(({ text }) => text?.startsWith("<hud>")))

/** What the provider reports for a request: the messages, and a system prompt of 9,000 tokens. */
const reportOf = (messages: readonly HostMessage[]) =>
  usage(100, 9000 + Math.round(JSON.stringify(messages.map(({ parts }) => parts)).length / 4))

test("a request prepared again near its maximum is the same", async () => {
  const hooks = await load({ store: { enabled: false }, fold: { maxContextTokens: 30_000 } })
  const session = new SessionBuilder("ses_again").user("make the login test pass on node 22, please")
  let records = 0
  for (let call = 0; call < 150; call++) {
    const [first, ...others] = [0, 1, 2].map(() => session.fresh()) as [HostMessage[], HostMessage[], HostMessage[]]
    await hooks.transform(first)
    for (const again of others) {
      await hooks.transform(again)
      expect(withoutHud(again)).toEqual(withoutHud(first))
    }
    if (JSON.stringify(first).includes("kept by hudfold as a record")) records++
    const looked = read(`src/${call}.ts`, `value ${call}\n`.repeat(20 + 40 * (call % 7)))
    // an answer is not folded, so that in the end hardly anything is left to be
    const asked = tool(
      "task",
      { description: `look at ${call}`, prompt: "look" },
      `${call} is one of the files. `.repeat(30),
    )
    session.assistant(call % 2 === 0 ? [asked] : [looked, edit(`src/${call % 5}.ts`)], reportOf(first))
  }
  expect(records).toBeGreaterThan(100)
  await hooks.dispose()
})

test("a sticky HUD is not followed by another when the request is prepared again", async () => {
  const hooks = await load({ store: { enabled: false }, hud: { slot: "sticky" }, fold: { maxContextTokens: 30_000 } })
  const session = new SessionBuilder("ses_sticky").user("make the login test pass on node 22, please")
  let huds = 0
  for (let call = 0; call < 40; call++) {
    const [first, ...others] = [0, 1, 2].map(() => session.fresh()) as [HostMessage[], HostMessage[], HostMessage[]]
    await hooks.transform(first)
    for (const again of others) {
      await hooks.transform(again)
      expect(again).toEqual(first)
    }
    huds = first.length - withoutHud(first).length
    // more files than one HUD has room for
    const files = [0, 1, 2].map((n) => read(`src/${call}/part-${n}.ts`, `value ${call} ${n}\n`.repeat(40)))
    session.assistant(files, reportOf(first))
  }
  expect(huds).toBeGreaterThan(0)
  await hooks.dispose()
})
