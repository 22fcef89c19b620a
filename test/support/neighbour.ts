// Plugins that change a request as real plugins do, well or badly. OpenCode loads this file like any plugin; option `does`
// selects one.

import type { HostMessage } from "../../src/host/v1/message.ts"

export type Transform = (messages: HostMessage[], output: { messages: unknown }) => void

export const TAIL = "A note of another plugin: mind the gap."

const note = (more: object) => ({ type: "text", text: TAIL, ...more })

const tail =
  (role: string, { info = {}, part = {} }: { info?: object; part?: object } = {}): Transform =>
  (messages) => {
    const sessionID = messages[0]?.info.sessionID ?? ""
    messages.push({ info: { role, sessionID, ...info }, parts: [note(part)] })
  }

const freeze = (value: unknown): void => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const one of Object.values(value)) freeze(one)
}

const IDS = { info: { id: "msg_neighbour", time: { created: 1 } }, part: { id: "prt_neighbour", synthetic: true } }

/** OpenCode sends no such part. */
const RESULT = { type: "tool_result", tool_use_id: "call_1", content: "Tool output unavailable" }

/** What is done to the array before it goes out. */
export const TRANSFORMS: Readonly<Record<string, Transform>> = {
  "adds a user message at the end": tail("user"),
  "adds a synthetic user message at the end": tail("user", { part: { synthetic: true } }),
  "adds a user message with ids of its own at the end": tail("user", IDS),
  "adds an assistant message at the end": tail("assistant", { info: { id: "msg_prefill", parentID: "msg_000000" } }),
  "puts a message in front": (messages) => {
    messages.unshift({ info: { role: "user", sessionID: messages[0]?.info.sessionID ?? "" }, parts: [note({})] })
  },
  "puts its note into the user's message": (messages) => {
    messages.findLast(({ info }) => info.role === "user")?.parts.push(note({ synthetic: true }))
  },
  "puts a copy of the user's part with its note before it": (messages) => {
    const asked = messages.find(({ info }) => info.role === "user")
    asked?.parts.unshift({ ...asked.parts[0], ...note({}) })
  },
  "puts a user's message with results after every step": (messages) => {
    const added = { info: { role: "user", sessionID: messages[0]?.info.sessionID ?? "" }, parts: [RESULT] }
    messages.splice(0, messages.length, ...messages.flatMap((one) => (one.info.role === "user" ? one : [one, added])))
  },
  "removes the oldest message": (messages) => void messages.shift(),
  "removes all messages": (messages) => void messages.splice(0),
  "puts clones in the messages' places": (messages) => {
    messages.splice(0, messages.length, ...structuredClone(messages))
  },
  "freezes every message": (messages) => {
    for (const message of messages) freeze(message)
  },
  "freezes the array": (messages) => freeze(messages),
  "changes the messages' order": (messages) => void messages.splice(0, 2, ...messages.slice(0, 2).toReversed()),
  "changes outputs": (messages) => {
    for (const { parts } of messages)
      for (const { state } of parts)
        if (state?.output !== undefined) state.output = `${state.output.slice(0, 20)} [cut]`
  },
  "puts another array in the array's place": (messages, output) => {
    output.messages = messages.slice(-2)
  },
  "puts nonsense in the array's place": (_, output) => {
    output.messages = "nonsense"
  },
  "puts nonsense into the array": (messages) => {
    messages.push(
      null as unknown as HostMessage,
      7 as unknown as HostMessage,
      { parts: "none" } as unknown as HostMessage,
    )
  },
}

export const SYSTEMS: Readonly<Record<string, (system: string[], output: { system: unknown }) => void>> = {
  "adds a system message": (system) => void system.push("Speak like a pirate."),
  "puts words before the system prompt": (system) => void system.splice(0, 1, `Be brief.\n${system[0]}`),
  "empties the system prompt": (system) => void system.splice(0),
  "puts another system prompt in its place": (_, output) => {
    output.system = ["Another."]
  },
  "puts nonsense in the system prompt's place": (_, output) => {
    output.system = 7
  },
}

const HOOKS = [
  "config",
  "event",
  "chat.message",
  "chat.params",
  "chat.headers",
  "tool.definition",
  "tool.execute.before",
  "tool.execute.after",
  "experimental.chat.messages.transform",
  "experimental.chat.system.transform",
  "experimental.text.complete",
  "dispose",
]

type Hooks = Record<string, (input: unknown, output: { messages: HostMessage[]; system: string[] }) => unknown>

const fail = () => {
  throw new Error("another plugin's fault")
}

export function hooksOf(does: string): Hooks {
  const transform = TRANSFORMS[does]
  if (transform)
    return { "experimental.chat.messages.transform": async (_, output) => transform(output.messages, output) }
  const system = SYSTEMS[does]
  if (system) return { "experimental.chat.system.transform": async (_, output) => system(output.system, output) }
  if (does === "rejects in server()") fail()
  if (does === "answers nonsense from every hook")
    return Object.fromEntries(HOOKS.map((hook) => [hook, async () => ({ messages: 7, nonsense: true })]))
  const [, how, hook = ""] = /^(throws|rejects) in (.+)$/.exec(does) ?? []
  if (!how) throw new Error(`no such neighbour: ${does}`)
  return { [hook]: how === "throws" ? fail : async () => fail() }
}

export default {
  id: "neighbour",
  server: async (_: unknown, options?: { does?: string }) => hooksOf(options?.does ?? ""),
}
