// OpenCode as the plugin sees it: hooks called in its order, events around them, and for every call a new array read
// from the stored session. What is retained of such an array is retained by the plugin.

import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { bash, edit, read, tool } from "./session.ts"

type Hook = (input: object, output?: object) => Promise<void>

/** As OpenCode passes it to the system hook. */
export const MODEL = {
  id: "claude-sonnet-4-5",
  providerID: "anthropic",
  limit: { context: 200_000, output: 8_000 },
  cost: { input: 3, output: 15, cache: { read: 0.3, write: 3.75 } },
}

/** One instance of the plugin, as OpenCode makes one for each directory. */
export async function openDirectory(options: Record<string, unknown>, directory = "/home/dev/shop") {
  const logged: string[] = []
  const stored = new Map<string, DrivenSession>()
  const client = {
    app: { log: async ({ body }: { body: { message: string } }) => void logged.push(body.message) },
    session: { messages: async ({ path }: { path: { id: string } }) => ({ data: stored.get(path.id)?.array() }) },
    tui: {},
  }
  const hooks = await plugin.server({ client, directory, worktree: directory } as never, options)
  const hook = (name: keyof typeof hooks) => hooks[name] as unknown as Hook
  return {
    logged,
    stored,
    transform: hook("experimental.chat.messages.transform"),
    system: hook("experimental.chat.system.transform"),
    compacting: hook("experimental.session.compacting"),
    event: (type: string, properties: object) => hook("event")({ event: { type, properties } }),
    /** what the agent is answered that asks for originals with this array before it */
    async recall(sessionID: string, messages: readonly HostMessage[], args: object): Promise<string> {
      const answer = await hooks.tool?.hud_recall?.execute(args as never, { sessionID, messages } as never)
      return typeof answer === "string" ? answer : (answer?.output ?? "")
    },
    dispose: () => (hooks.dispose as () => Promise<void>)(),
  }
}

export type Directory = Awaited<ReturnType<typeof openDirectory>>

/** What is told of every call: the array as it goes out, how long the hook took, which call of the session it was. */
export type Watcher = (session: DrivenSession, sent: readonly HostMessage[], ms: number, call: number) => void

/** One session. `word` stands in all that is said and done in it, and nowhere else. */
export class DrivenSession {
  calls = 0
  private made = 0
  private context: string[] = []

  constructor(
    readonly directory: Directory,
    readonly id: string,
    readonly word: string,
    private readonly watch: Watcher = () => {},
  ) {
    directory.stored.set(id, this)
  }

  /** The messages that the next call has before it, every object new. */
  array(): HostMessage[] {
    return this.context.map((text) => JSON.parse(text) as HostMessage)
  }

  create(parentID?: string): Promise<void> {
    return this.event("session.created", { info: { id: this.id, ...(parentID === undefined ? {} : { parentID }) } })
  }

  /** From the user's message until idle; `within` runs while the last call's tools do, as a subagent would. */
  async turn(calls: number, within?: () => Promise<void>): Promise<void> {
    await this.event("session.status", { status: { type: "busy" } })
    await this.add("user", {}, [
      { type: "text", text: `look into ${this.word} part ${this.made}, and mend what fails` },
    ])
    for (let call = 0; call < calls; call++) await this.call(call === calls - 1 ? within : undefined)
    await this.event("session.status", { status: { type: "idle" } })
    await this.event("session.idle", {})
  }

  /** Takes back the newest messages, as an undo does. */
  undo(messages: number): void {
    this.context.length = Math.max(1, this.context.length - messages)
  }

  /** OpenCode compacts: all but the newest two messages become a summary. */
  async compact(): Promise<void> {
    await this.directory.compacting({ sessionID: this.id }, { context: [] })
    await this.directory.transform({}, { messages: this.array() })
    const tail = this.context.slice(-2)
    const [first] = tail.map((text) => JSON.parse(text) as HostMessage)
    this.context = []
    await this.add("user", {}, [{ type: "compaction", auto: true, tail_start_id: first?.info.id }])
    const summary = { summary: true, finish: "stop", parentID: this.array().at(-1)?.info.id, agent: "compaction" }
    await this.add("assistant", summary, [{ type: "text", text: "A summary." }])
    this.context.push(...tail)
    await this.event("session.compacted", {})
  }

  async remove(): Promise<void> {
    this.directory.stored.delete(this.id)
    await this.event("session.deleted", { info: { id: this.id } })
  }

  private async call(within?: () => Promise<void>): Promise<void> {
    const { directory, id } = this
    // the request before this one went over the network: timers and sockets had their turn
    await new Promise((resolve) => setImmediate(resolve))
    const messages = this.array()
    const started = performance.now()
    await directory.transform({}, { messages })
    this.watch(this, messages, performance.now() - started, this.calls)
    await directory.system({ sessionID: id, model: MODEL }, { system: ["You are OpenCode."] })
    const parts = stepOf(this.word, this.calls++)
    for (const part of parts) {
      await this.event("message.part.updated", { part: { ...part, state: { status: "running", input: {} } } })
      if (within) await within()
      await this.event("message.part.updated", { part })
    }
    const cached = Math.round(sizeOf(messages) / 4)
    await this.add("assistant", { tokens: { input: 4, output: 90, cache: { read: cached, write: 400 } } }, [
      { type: "step-start" },
      ...parts,
      { type: "step-finish", reason: "tool-calls" },
    ])
  }

  private async add(role: "user" | "assistant", info: object, parts: readonly HostPart[]): Promise<void> {
    const number = String(++this.made).padStart(6, "0")
    const id = `msg_${this.id}_${number}`
    const model = { providerID: MODEL.providerID, modelID: MODEL.id }
    const whole = {
      id,
      sessionID: this.id,
      role,
      time: { created: Date.now() },
      agent: "build",
      ...(role === "user" ? { model } : model),
      ...info,
    }
    const own = parts.map((part, at) => ({ id: `prt_${this.id}_${number}_${at}`, messageID: id, ...part }))
    this.context.push(JSON.stringify({ info: whole, parts: own }))
    // announced more than once, as OpenCode does
    for (let times = 0; times < 2; times++) await this.event("message.updated", { info: whole })
  }

  private event(type: string, properties: object): Promise<void> {
    return this.directory.event(type, { sessionID: this.id, ...properties })
  }
}

/** Lines of an output, by turns; the longest is 40 kB. */
const LINES = [3, 40, 12, 120, 8, 60, 25, 500]

/** What the agent does at a call: two tools, now and then one that it has used before, with the same result. */
function stepOf(word: string, call: number): HostPart[] {
  const again = call % 9 === 8 ? call - 4 : call
  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) => `src/${word}/a${again}.ts:${at}: const ${word}${at} = compute(${again})`)
  const text = lines(LINES[again % LINES.length] ?? 1).join("\n")
  const file = `src/${word}/file-${again % 23}.ts`
  const first = again % 3 === 0 ? read(file, text) : tool("grep", { pattern: `${word}${again}` }, text)
  const fails = again % 4 === 0
  return [first, again % 5 === 0 ? edit(file) : bash(`npm test -- ${word}${again}`, text, fails ? 1 : 0)]
}

function sizeOf(messages: readonly HostMessage[]): number {
  let size = 0
  for (const { parts } of messages)
    for (const part of parts) size += String(part.state?.output ?? part.text ?? "").length
  return size
}
