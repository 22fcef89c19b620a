// Messages and parts of other plugins may lack an id, or share one. No user's words are replaced by a record, and what is
// folded can be recalled.

import { expect, test } from "bun:test"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"

type Hooks = {
  "experimental.chat.messages.transform"(input: object, output: { messages: HostMessage[] }): Promise<void>
  tool: { hud_recall: { execute(args: object, context: object): Promise<{ output: string }> } }
  dispose(): Promise<void>
}

const tools = (parts: readonly HostPart[]) => parts.filter(({ type }) => type === "tool")
const agents = (messages: readonly HostMessage[]) => messages.filter(({ info }) => info.role === "assistant")

const DAMAGE: Readonly<Record<string, (messages: HostMessage[]) => void>> = {
  "without message ids": (messages) => {
    for (const { info } of agents(messages)) delete info.id
  },
  "with empty message ids": (messages) => {
    for (const { info } of agents(messages)) info.id = ""
  },
  "with numbers as message ids": (messages) => {
    for (const [at, { info }] of agents(messages).entries()) Object.assign(info, { id: at })
  },
  "with one id for two messages": (messages) => {
    for (const [at, { info }] of agents(messages).entries()) info.id = `msg_${at >> 1}`
  },
  "without part ids": (messages) => {
    for (const { parts } of messages) for (const part of tools(parts)) delete part.id
  },
  "with empty part ids": (messages) => {
    for (const { parts } of messages) for (const part of tools(parts)) part.id = ""
  },
  "with one id for two parts of a message": (messages) => {
    for (const { info, parts } of messages) for (const part of tools(parts)) part.id = `prt_${info.id}`
  },
}

/** Outputs large enough to be folded, each unlike all others. */
const output = (call: number, of: string) =>
  Array.from({ length: 60 }, (_, at) => `${of} ${call} line ${at} of the output`).join("\n")

function longSession(calls: number): SessionBuilder {
  const session = new SessionBuilder("ses_ids").user("make the login test pass on node 22, please")
  for (let call = 0; call < calls; call++)
    session.assistant([bash(`ls ${call}`, output(call, "listed")), read(`src/${call}.ts`, output(call, "read"))], {
      ...usage(4000 + 1500 * call),
    })
  return session
}

for (const [how, damage] of Object.entries(DAMAGE))
  test(`a session ${how}`, async () => {
    const input = { directory: "/home/dev/shop", worktree: "/home/dev/shop" }
    const hooks = (await plugin.server(input as never, {
      store: { enabled: false },
      deadlineMs: 5000,
    })) as never as Hooks
    const session = longSession(60)
    let sent: HostMessage[] = []
    for (let count = 9; count <= session.messages.length; count += 4) {
      sent = session.fresh().slice(0, count)
      damage(sent)
      await hooks["experimental.chat.messages.transform"]({}, { messages: sent })
      expect(sent.flatMap(({ parts }) => parts.map(({ text }) => text))).toContain(
        "make the login test pass on node 22, please",
      )
    }
    const whole = JSON.stringify(sent)
    const recalled: string[] = []
    for (const [, id] of whole.matchAll(/folded (r[0-9a-z]{7}) ·/g)) recalled.push(await recall({ ids: id }))
    for (const [, steps] of whole.matchAll(/hud_recall with steps \\"([\d,-]+)\\"/g))
      for (let page = 1, more = true; more; page++) {
        const text = await recall({ steps, page })
        recalled.push(text)
        more = text.includes("the next is hud_recall")
      }
    async function recall(args: object): Promise<string> {
      const answer = await hooks.tool.hud_recall.execute(args, { sessionID: "ses_ids", messages: sent })
      return answer.output
    }
    const known = [whole, ...recalled].join("\n")
    const lost = Array.from({ length: 60 }, (_, call) => call).flatMap((call) =>
      [`listed ${call} line 30 of`, `read ${call} line 30 of`].filter((line) => !known.includes(line)),
    )
    expect(lost).toEqual([])
    await hooks.dispose()
  })
