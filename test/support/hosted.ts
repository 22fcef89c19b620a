// The plugin as OpenCode hosts it: calls its hooks with what OpenCode would pass, frozen where the plugin must not write, and
// describes what is wrong with the result.

import type { HostMessage } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { MODEL } from "./driver.ts"
import { foldsIn, isRecordPart, wrongIn } from "./records.ts"

const HUD_ID = "msg_hudfold"

/** A request as it would go out, after the hook. `folds`: what stands in place of outputs and steps, by part or message id. */
export type Sent = { messages: HostMessage[]; hud: string | undefined; folds: Map<string, string> }

export type Hosted = {
  /** what no hook may do: reject, change what is not its own, send half of something */
  readonly wrong: string[]
  /** One model call: the messages hook and the system hook. */
  request(messages: readonly HostMessage[]): Promise<Sent>
  /** The array that is to be summarised, which goes out as it came or folded, without a HUD. */
  compact(messages: readonly HostMessage[]): Promise<Sent>
  event(type: string, properties: object): Promise<void>
  recall(asked: { ids: string } | { steps: string }, messages?: readonly HostMessage[]): Promise<string>
  dispose(): Promise<void>
}

export type HostedOptions = {
  options: object
  /** what the plugin is given to call OpenCode by */
  client: object
  directory?: string
  model?: object
  sessionID?: string
}

/** Loads the plugin for one session. */
export async function host({
  options,
  client,
  directory = "/home/dev/shop",
  model = MODEL,
  sessionID = "ses_test",
}: HostedOptions): Promise<Hosted> {
  const wrong: string[] = []
  const hooks = await plugin.server({ client, directory, worktree: directory } as never, options as never)
  const call = async (name: string, ...args: unknown[]) => {
    const hook = (hooks as Record<string, unknown>)[name] as ((...args: unknown[]) => Promise<void>) | undefined
    try {
      await hook?.(...args)
    } catch (error) {
      wrong.push(`${name} rejected: ${String(error)}`)
    }
  }
  await call("config", { compaction: { auto: true } })
  const transformed = async (given: readonly HostMessage[]): Promise<Sent> => {
    const messages = frozen(given)
    await call("experimental.chat.messages.transform", {}, { messages })
    const huds = messages.filter(isHud)
    const others = messages.filter((message) => !isHud(message))
    wrong.push(...wrongHuds(messages, huds), ...wrongIn(given, others))
    return { messages, hud: huds[0]?.parts[0]?.text, folds: foldsIn(given, others) }
  }
  return {
    wrong,
    async request(given) {
      const sent = await transformed(given)
      const output = { system: ["You are OpenCode."] }
      await call("experimental.chat.system.transform", { sessionID, model }, output)
      if (output.system.length !== 1 || output.system[0] !== "You are OpenCode.")
        wrong.push(`the system prompt became ${JSON.stringify(output.system)}`)
      return sent
    },
    async compact(given) {
      const output = { context: [] }
      await call("experimental.session.compacting", { sessionID }, output)
      const sent = await transformed(given)
      if (sent.hud !== undefined) wrong.push("the summariser was sent a HUD")
      return sent
    },
    event: (type, properties) => call("event", { event: { type, properties: { sessionID, ...properties } } }),
    async recall(asked, messages) {
      const tool = hooks.tool?.hud_recall as unknown as Recall
      const answer = await tool.execute(asked, { sessionID, ...(messages ? { messages } : {}) }).catch((error) => {
        wrong.push(`hud_recall rejected: ${String(error)}`)
        return ""
      })
      return typeof answer === "string" ? answer : answer.output
    },
    dispose: () => call("dispose"),
  }
}

type Recall = { execute(args: object, context: object): Promise<string | { output: string }> }

/** A hook may change the array of messages, and nothing in it. */
function frozen(messages: readonly HostMessage[]): HostMessage[] {
  return messages.map((message) => deepFrozen(structuredClone(message)))
}

function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  for (const inner of Object.values(value)) deepFrozen(inner)
  return Object.freeze(value)
}

function wrongHuds(sent: readonly HostMessage[], huds: readonly HostMessage[]): string[] {
  const found: string[] = []
  if (huds.length > 1) found.push(`${huds.length} HUDs`)
  if (huds.length === 1 && sent.at(-1) !== huds[0]) found.push("the HUD is not the last message")
  for (const { parts } of huds)
    if (parts.length !== 1 || !/^<hud>\n[\s\S]+\n<\/hud>$/.test(parts[0]?.text ?? "")) found.push("half a HUD")
  return found
}

/** A message of the plugin's that is not a record. */
function isHud({ info, parts }: HostMessage): boolean {
  return info.id?.startsWith(HUD_ID) === true && !parts.some(isRecordPart)
}
