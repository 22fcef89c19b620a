// Random sessions on the real OpenCode: whatever happens to a session, in whichever order, each of its requests is whole.
//
// What happens is drawn from the seed in the test's name: turns of work for six providers with changes of the model, outputs
// that fill the window, recalls with all arguments, aborts in an answer and in a command, refused requests, rejected and
// failing calls beside others, undo and redo, the same prompt once more, forks at any message, compactions and subagents, also
// aborted or killed, resumed subagents, the user's own commands, attached files, a prompt while the agent works and one without
// a turn, the agent `plan`, messages and parts deleted or edited through OpenCode's server, the panel's switches, the end of the
// process in the middle of a turn, two sessions or two processes at once, and OpenCode's pruning, which odd seeds switch on.
// While the model waits, each request is compared with what OpenCode and the store have of its session.
//
// Three short sequences are played daily, and 20 long ones by `npm run prove`. `HUDFOLD_SEEDS=7,30` plays these seeds.

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Fold } from "../../src/fold/fold.ts"
import { originalIn } from "../../src/fold/select.ts"
import { conversationOf, messageOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { contextAt } from "../../src/session/recorded.ts"
import { readStatus, readSwitches, statusFolder } from "../../src/status/files.ts"
import { readFold } from "../../src/store/writes.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { askFor, FOREVER, foldAll, setSwitch } from "../../src/tui/switch.ts"
import { randomWork, WORK_FILES } from "../opencode/long-work.ts"
import { hudsOf, type ModelRequest, resultsOf, withoutHud } from "../opencode/request.ts"
import { faultsOf, type Template } from "../opencode/roles.ts"
import type { HostEvent } from "../opencode/serve.ts"
import type { Reply } from "../opencode/wire.ts"
import * as episodes from "../support/episodes.ts"
import { EAGER, foldsIn, recallID } from "../support/folds.ts"
import { drawer } from "../support/planted.ts"
import { FOLDED } from "../support/records.ts"
import { sized } from "../support/size.ts"
import * as world from "../support/world.ts"
import { bash, say, use } from "../support/world.ts"

/**
 * Together they have subagents, forks, undo, rejected calls, the user's commands, edits, deletions,
 * switches, two at once, the agent `plan`, attached files, and prompts that wait or start no turn.
 */
const DAILY = [90, 869, 1473]
const SEEDS =
  process.env.HUDFOLD_SEEDS?.split(",").map(Number) ?? Array.from({ length: sized(0, 20) }, (_, at) => at + 1)
const ACTIONS = sized(8, 24)

/** What a request to each must be like. Of an interrupted turn OpenCode sends what Mistral's and Gemma's templates forbid. */
const MODELS: Readonly<Record<string, Template>> = {
  [episodes.CHAT_60K]: "chat",
  [episodes.CLAUDE_60K]: "anthropic",
  [world.BINDING]: "anthropic",
  "openai/gpt-5": "responses",
  "mistral/mistral-large-latest": "chat",
  "google/gemini-3-pro-preview": "gemini",
}
/** With an eager plugin nothing is lost by a fold, with the last one the cache is gone at once. */
const FOLDING = [
  {},
  EAGER[1],
  EAGER[1],
  { fold: { price: { lifetimeMinutes: 0 } } },
  { fold: { maxContextTokens: 20_000 } },
]
/** Each as often as it is likely. A sequence has five of them, so that each happens more than once. */
const KINDS = [
  ...(["work", "work", "work", "fill", "fill", "fill", "fork", "fork"] as const),
  ...(["compact", "undo", "again", "abort", "refuse", "kill"] as const),
  ...(["task", "task", "remove", "remove", "edit", "reject", "shell", "panel", "panel"] as const),
  ...(["together", "together", "elsewhere"] as const),
  ...(["plan", "queue", "note", "attach"] as const),
]
/** A command that OpenCode asks the user about. */
const ASKED = "echo secret"
const PERMISSION = { bash: { "*": "allow", [`${ASKED}*`]: "ask" } }
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const CLEARED = "[Old tool result content cleared]"
const OURS = /<hud>|^folded r[0-9a-z]{7} · |kept by hudfold as a record/m

type Played = {
  id: string
  model: string
  /** the session that started it as a subagent */
  parent?: string
  /** its messages when the newest request came */
  messages?: readonly HostMessage[]
  /** shared with its forks; once messages were deleted, their steps no longer have the same numbers */
  family: { isCut?: boolean }
  /** the newest request, unless what it contains has changed since */
  last?: ModelRequest | undefined
  /** the first request of the newest turn */
  first?: ModelRequest | undefined
  /** of the newest request: how many steps are folded, and the tokens of all that is folded */
  folded?: { steps: number; tokens: number } | undefined
}

test.each(SEEDS.length > 0 ? SEEDS : DAILY)(
  "random session %i",
  async (seed) => {
    const { below } = drawer(seed * 7919)
    const config = { ...episodes.EPISODE_CONFIG, compaction: { prune: seed % 2 === 1 }, permission: PERMISSION }
    const plugin = [world.PLUGIN, FOLDING[below(FOLDING.length)] as object] as const
    const here = await world.serveWorld({ plugin, files: WORK_FILES, models: episodes.EPISODE_MODELS, config })
    try {
      const sequence = new Sequence(here, below, seed)
      for (let at = 0; at < ACTIONS; at++) await sequence.act()
      await sequence.finish()
    } finally {
      await here.close()
    }
  },
  600_000,
)

class Sequence {
  private readonly here: world.ServedWorld
  private readonly below: (count: number) => number
  private readonly kinds: (typeof KINDS)[number][]
  private readonly turns: ReturnType<typeof randomWork>
  private readonly sessions: Played[] = []
  private readonly children: Played[] = []
  /** what was done, and what was wrong with it */
  private readonly done: string[] = []
  private readonly found = new Set<string>()
  /** tool parts as OpenCode has finished them, by id */
  private readonly finished = new Map<string, string>()
  /** what was asked back, by the id of the call, and the one line of it that was */
  private readonly asked = new Map<string, { fold: Fold; found?: string }>()

  constructor(here: world.ServedWorld, below: (count: number) => number, seed: number) {
    this.here = here
    this.below = below
    this.turns = randomWork(1_000, seed)
    this.kinds = KINDS.slice(0, 5).map(() => this.pick(KINDS))
  }

  /** Does one thing to one session, and expects that nothing was wrong. */
  async act(): Promise<void> {
    const { sessions, done, below } = this
    if (sessions.length === 0 || below(12) === 0)
      sessions.push({
        id: await this.here.client.create({ title: "T" }),
        model: this.pick(Object.keys(MODELS)),
        family: {},
      })
    const one = this.pick(sessions.slice(-1 - below(2)))
    if (below(5) === 0) Object.assign(one, { model: this.pick(Object.keys(MODELS)), last: undefined })
    const kind = this.pick(this.kinds)
    done.push(`${kind} ${one.id} ${one.model}`)
    await this[kind](one, `It is ${done.length} o'clock, so "go on" <with> it.`)
    if (kind !== "work" && kind !== "fill") one.last = undefined
    await this.checkStatus(one)
    for (const child of this.children) await this.checkStatus(child)
    expect({ done, found: [...this.found] }).toEqual({ done, found: [] })
  }

  async finish(): Promise<void> {
    for (const { id } of [...this.sessions, ...this.children]) this.checkStored(await this.messages(id))
    await this.here.client.close()
    const warned = this.here.host.log().match(/.*level=(?:WARN|ERROR).*hudfold: .*/g) ?? []
    expect({ done: this.done, found: [...this.found, ...warned] }).toEqual({ done: this.done, found: [] })
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  private async messages(session: string): Promise<HostMessage[]> {
    return (await this.here.client.messages(session)) as HostMessage[]
  }

  /** Has the model answer with these, or recall something where there is none, and checks each request before. */
  private play(one: Played, replies: readonly (Reply | undefined)[]) {
    const waiting = [...replies, say("Done.")]
    one.first = undefined
    const script = (request: ModelRequest): Reply | undefined => {
      if (request.caller === "compaction") one.last = undefined
      if (request.caller !== (one.parent ? "child" : "main")) return undefined
      one.first ??= request
      const checked = this.check(one, request).catch((cause) => void this.found.add(String(cause)))
      const reply = waiting.length > 0 ? (waiting.shift() ?? this.recall(one, request)) : say("Done.")
      return { ...reply, after: () => checked }
    }
    this.here.provider.play(script, one.id)
    return script
  }

  private recall(one: Played, request: ModelRequest): Reply {
    const steps = episodes.recordedSteps(request)
    const ids = [...foldsIn(request).values()].map(recallID)
    const isSent = ({ id, kind, step }: Fold) => (kind === "step" ? steps.includes(step) : ids.includes(id))
    const fold = this.pick(foldsOf(this.here, request.session).filter(isSent))
    if (!fold) return use(bash("ls"))
    const id = `call_${String(request.index).padStart(4, "0")}_9`
    const named = fold.kind === "step" && !one.family.isCut ? { steps: `${fold.step}` } : { ids: fold.id }
    const recall = (args: object): Reply => use({ name: "hud_recall", arguments: { ...args }, id })
    const message = one.messages?.find(({ info }) => info.id === fold.messageID)
    const original = (message && originalIn(messageOf(message), fold)?.text) ?? ""
    const search = this.pick(original.split("\n").filter((line) => line.trim() !== "" && line.length < 500))
    const file = `m${1 + this.below(20)}.ts`
    const around = `${Math.max(1, fold.step - 20)}-${fold.step + 20}`
    switch (this.below(10)) {
      case 0:
      case 1:
        if (search === undefined) break
        this.asked.set(id, { fold, found: search })
        return recall({ ...named, search })
      case 2:
        return recall({ search: search ?? "limit" })
      case 3:
        return recall(this.pick([{ file }, { file, search: "limit" }, { ...named, file }]) as object)
      case 4:
        return recall(
          this.pick([{ steps: around }, { steps: around, page: 2 }, { steps: "1-9999", lines: "3" }]) as object,
        )
      case 5:
        return recall({ ...named, lines: `${1 + this.below(9)}-${5 + this.below(20)}` })
      case 6:
        return recall(
          this.pick([{}, { ids: "r0000000" }, { steps: "99999" }, { ids: "x y" }, { steps: "no", page: -1 }]) as object,
        )
      default:
    }
    this.asked.set(id, { fold })
    return recall(named)
  }

  private async prompt(one: Played, text: string, replies: readonly (Reply | undefined)[]): Promise<void> {
    this.play(one, replies)
    await this.here.client.prompt(one.id, text, { model: one.model })
  }

  private async work(one: Played): Promise<void> {
    const { prompt, replies } = this.turns.shift() as (typeof this.turns)[number]
    const recalls = Array.from({ length: this.below(3) }, () => undefined)
    await this.prompt(one, prompt, [...replies.slice(0, -1), ...recalls, ...replies.slice(-1)])
  }

  /** OpenCode prunes what is older than two turns and the newest 40,000 tokens of outputs. */
  private async fill(one: Played, text: string): Promise<void> {
    const files = () => Array.from({ length: 3 + this.below(2) }, () => `src/m${1 + this.below(20)}.ts`).join(" ")
    const steps = Array.from({ length: 3 + this.below(2) }, () =>
      this.below(3) > 0
        ? use(bash(`cat ${files()}`))
        : use(bash("ls"), world.read("missing.ts"), bash(`cat ${files()}; exit 3`), bash("ls src")),
    )
    await this.prompt(one, text, steps)
  }

  private async fork(one: Played): Promise<void> {
    const messages = await this.messages(one.id)
    const at = this.below(2) === 0 ? this.pick(messages)?.info.id : undefined
    const fork: Played = { ...one, id: await this.here.client.fork(one.id, at), last: undefined, folded: undefined }
    this.sessions.push(fork)
    await this.work(fork)
  }

  /** Two sessions work at once, of which one may be the fork of the other. */
  private async together(one: Played): Promise<void> {
    const other = this.pick(this.sessions.filter(({ id }) => id !== one.id))
    await Promise.all([this.work(one), other && this.below(3) > 0 ? this.work(other) : this.fork(one)])
  }

  /** Goes on in a second OpenCode beside the first, and then in the first. */
  private async elsewhere(one: Played, text: string): Promise<void> {
    const first = this.here.client
    this.here.client = await this.here.host.serve()
    try {
      await this.work(one)
      await this.fill(one, text)
    } finally {
      await this.here.client.close()
      this.here.client = first
    }
    one.last = undefined
    await this.work(one)
  }

  /** One subagent or two, new or resumed, which may be aborted or killed. */
  private async task(one: Played, text: string): Promise<void> {
    const { client, provider } = this.here
    const end = this.pick(["done", "done", "abort", "kill"])
    const last = end === "done" ? say("It is done.") : this.pick([world.UNENDING, world.UNENDING_COMMAND])
    const repliesOf = () => [...(this.turns.shift()?.replies.slice(0, -1) ?? []), undefined, last]
    const old = this.below(2) === 0 ? this.pick(this.children.filter(({ parent }) => parent === one.id)) : undefined
    const fresh = old ? [] : Array.from({ length: end === "done" ? 1 + this.below(2) : 1 }, repliesOf)
    if (old) this.play(Object.assign(old, { model: one.model, last: undefined }), repliesOf())
    provider.play((request) => {
      if (request.caller !== "child") return undefined
      const child = { id: request.session, model: one.model, parent: one.id, family: {} }
      this.children.push(child)
      return this.play(child, fresh.shift() ?? [])(request)
    })
    const brief = {
      description: "look at it",
      prompt: text,
      subagent_type: "general",
      ...(old ? { task_id: old.id } : {}),
    }
    const tasks = (old ? [old] : [...fresh]).map(() => ({ name: "task", arguments: brief }))
    this.play(one, [use(bash("ls"), ...tasks)])
    if (end === "done") return void (await client.prompt(one.id, text, { model: one.model }))
    const from = client.events.length
    await client.promptAsync(one.id, text, { model: one.model })
    await client.event(({ properties }) => properties.sessionID !== one.id && world.isUnending(properties), { from })
    if (end === "abort") {
      const since = client.events.length
      await client.abort(one.id)
      return client.idle(one.id, since)
    }
    await this.restart()
  }

  /** Deletes a step, a part of one, or a turn through OpenCode's server. */
  private async remove(one: Played): Promise<void> {
    const messages = await this.messages(one.id)
    const at = this.below(messages.length)
    const { info, parts } = messages[at] ?? {}
    if (!info || at === 0) return
    const part = this.pick((parts ?? []).filter(({ type }) => type === "tool" || type === "text"))
    const next = messages.findIndex((message, n) => n > at && message.info.role === "user")
    const turn = messages.slice(at, info.role === "assistant" ? at + 1 : next < 0 ? messages.length : next)
    // a compaction goes as a whole
    if (turn.some((message) => message.info.summary && info.role === "assistant")) return
    const isPart = info.role === "assistant" && part !== undefined && this.below(2) === 0
    for (const message of turn) {
      const path = `/session/${one.id}/message/${message.info.id}${isPart ? `/part/${part.id}` : ""}`
      await this.here.client.call("DELETE", path)
      this.forget(message)
    }
    one.family.isCut = true
    one.last = undefined
    await this.work(one)
  }

  /** Edits the text or the output in a part through OpenCode's server. */
  private async edit(one: Played): Promise<void> {
    const message = this.pick(await this.messages(one.id))
    const isEdited = ({ type, synthetic, tool, state }: HostPart) =>
      type === "text" ? !synthetic : tool && tool !== "hud_recall" && state?.status === "completed"
    const part = this.pick((message?.parts ?? []).filter(isEdited))
    if (!message || !part) return
    const text = `edited ${this.done.length}: ${"other words ".repeat(1 + this.below(200))}`
    const body = part.type === "text" ? { ...part, text } : { ...part, state: { ...part.state, output: text } }
    await this.here.client.call("PATCH", `/session/${one.id}/message/${message.info.id}/part/${part.id}`, { body })
    this.forget(message)
    one.last = undefined
    await this.work(one)
  }

  /** Forgets what a message that is edited or deleted held. */
  private forget({ info, parts }: HostMessage): void {
    for (const { id = "" } of parts) this.finished.delete(id)
    for (const [call, { fold }] of this.asked) if (fold.messageID === info.id) this.asked.delete(call)
  }

  /** The user rejects one of several calls, with or without a reason. */
  private async reject(one: Played, text: string): Promise<void> {
    const { client } = this.here
    this.play(one, [use(bash("ls src"), bash(ASKED), bash("ls")), use(bash("ls"))])
    const from = client.events.length
    await client.promptAsync(one.id, text, { model: one.model })
    const isAsked = ({ type, properties }: HostEvent) => type === "permission.asked" && properties.sessionID === one.id
    const { properties } = await client.event(isAsked, { from })
    const since = client.events.length
    const words = this.below(2) === 0 ? { message: "not that" } : {}
    await client.call("POST", `/permission/${properties.id}/reply`, { body: { reply: "reject", ...words } })
    await client.idle(one.id, since)
  }

  /** The agent `plan`, to whose prompt OpenCode adds a reminder in memory only, and then `build` again. */
  private async plan(one: Played, text: string): Promise<void> {
    this.play(one, [use(bash("ls src")), use(world.read(`src/m${1 + this.below(20)}.ts`)), undefined])
    await this.here.client.prompt(one.id, text, { model: one.model, agent: "plan" })
    await this.work(one)
  }

  /** The user says more while the agent works. */
  private async queue(one: Played, text: string): Promise<void> {
    const { client } = this.here
    const more = Array.from({ length: 2 + this.below(3) }, () => use(bash(`cat src/m${1 + this.below(20)}.ts`)))
    this.play(one, [use(bash("sleep 1; ls src")), ...more, undefined, ...more])
    const from = client.events.length
    await client.promptAsync(one.id, text, { model: one.model })
    await client.event(({ properties }) => /"running".*"sleep 1/.test(JSON.stringify(properties)), { from })
    await client.prompt(one.id, `Also ${text}`, { model: one.model })
    if (this.below(2) === 0) await this.work(one)
  }

  /** A message that is stored without a turn. */
  private async note(one: Played, text: string): Promise<void> {
    const body = { noReply: true, parts: [{ type: "text", text: `A note. ${text}` }] }
    await this.here.client.call("POST", `/session/${one.id}/message`, { body })
    if (this.below(2) === 0) await this.work(one)
  }

  /** The user attaches a file, a folder or an image. */
  private async attach(one: Played, text: string): Promise<void> {
    const [providerID, ...rest] = one.model.split("/")
    const path = join(this.here.host.project, "src", `m${1 + this.below(20)}.ts`)
    const file = this.pick([
      { mime: "text/plain", url: `file://${path}`, filename: "src/m.ts" },
      { mime: "text/plain", url: `file://${path}?start=1&end=3`, filename: "src/m.ts" },
      { mime: "application/x-directory", url: `file://${join(path, "..")}`, filename: "src" },
      { mime: "image/png", url: `data:image/png;base64,${PIXEL}`, filename: "a.png" },
    ])
    const parts = [
      { type: "text", text },
      { type: "file", ...file },
    ]
    this.play(one, [use(bash("ls src")), undefined])
    const body = { model: { providerID, modelID: rest.join("/") }, parts }
    await this.here.client.call("POST", `/session/${one.id}/message`, { body })
    await this.work(one)
  }

  private async shell(one: Played): Promise<void> {
    const [providerID, ...rest] = one.model.split("/")
    const body = {
      agent: "build",
      model: { providerID, modelID: rest.join("/") },
      command: `cat src/m${1 + this.below(20)}.ts`,
    }
    await this.here.client.call("POST", `/session/${one.id}/shell`, { body })
    await this.work(one)
  }

  /** The user does what the panel and its commands allow: pause, fold all, fold, unfold, pin or release steps. */
  private async panel(one: Played): Promise<void> {
    const folder = statusFolder(dataOf(this.here))
    const status = await readStatus(folder, one.id)
    const kind = this.below(4)
    const name = this.pick(["hud", "folding"] as const)
    if (kind === 0) await setSwitch(folder, one.id, name, this.pick(["on", "paused"]), status?.[name].activity)
    else if (kind === 1) await foldAll(folder, one.id, status)
    else {
      const steps = (await this.messages(one.id)).filter(({ info }) => info.role === "assistant")
      const wish = this.pick(["fold", "unfold", "pin", "release"] as const)
      const messageIDs = [this.pick(steps), this.pick(steps)].flatMap((step) => step?.info.id ?? [])
      if (status)
        await askFor(
          wish,
          folder,
          status,
          messageIDs.map((messageID) => ({ messageID, tokens: 9 })),
        )
    }
    await this.work(one)
  }

  /** The user may abort it, or the process be killed. Then OpenCode 1.18 answers the next prompt with a summary. */
  private async compact(one: Played): Promise<void> {
    const { client, provider } = this.here
    if ((await this.messages(one.id)).length === 0) return
    const end = this.pick(["done", "done", "abort", "kill"])
    if (end === "done") return client.summarize(one.id, one.model)
    const from = client.events.length
    provider.play(({ caller }) => (caller === "compaction" ? world.UNENDING : undefined), one.id)
    const asked = client.summarize(one.id, one.model).catch(() => {})
    await client.event(({ properties }) => properties.sessionID === one.id && world.isUnending(properties), { from })
    const since = client.events.length
    await (end === "abort" ? client.abort(one.id) : this.restart())
    await asked
    if (end === "abort") await client.idle(one.id, since)
    await this.work(one)
    await this.work(one)
  }

  private async undo(one: Played): Promise<void> {
    const asked = (await this.messages(one.id)).filter(({ info }) => info.role === "user").slice(-4)
    if (asked.length < 2) return
    await this.here.client.revert(one.id, this.pick(asked).info.id as string)
    if (this.below(3) === 0) await this.here.client.call("POST", `/session/${one.id}/unrevert`)
  }

  private async again(one: Played, text: string): Promise<void> {
    await this.prompt(one, text, [use(bash("ls"))])
    const { first } = one
    const asked = (await this.messages(one.id)).findLast(({ info }) => info.role === "user")
    await this.here.client.revert(one.id, asked?.info.id as string)
    one.last = undefined
    await this.prompt(one, text, [])
    if (first && one.first && keyOf(first) === keyOf(one.first))
      this.compare("asked again", withoutHud(first), withoutHud(one.first))
  }

  private async abort(one: Played, text: string): Promise<void> {
    this.play(one, [use(bash("ls src")), this.pick([world.UNENDING, world.UNENDING_COMMAND])])
    await world.promptAndAbort(this.here.client, one.id, text, { model: one.model })
  }

  private async kill(one: Played, text: string): Promise<void> {
    this.play(one, [use(bash("ls src")), this.pick([world.UNENDING, world.UNENDING_COMMAND])])
    await world.promptUnending(this.here.client, one.id, text, { model: one.model })
    await this.restart()
  }

  /** Kills OpenCode and starts it again. */
  private async restart(): Promise<void> {
    await this.here.client.kill()
    this.here.client = await this.here.host.serve()
  }

  private async refuse(one: Played, text: string): Promise<void> {
    await this.prompt(one, text, [use(bash("ls src")), { status: 400, message: "this model is out of order" }])
  }

  private compare(what: string, one: unknown, other: unknown): void {
    if (!Bun.deepEquals(one, other)) this.found.add(`${what}: ${JSON.stringify(one)} | ${JSON.stringify(other)}`)
  }

  private async check(one: Played, request: ModelRequest): Promise<void> {
    const messages = await this.messages(one.id)
    const folds = foldsOf(this.here, one.id)
    one.messages = messages
    this.checkStored(messages)
    this.checkNames(messages, folds, one.family.isCut)
    const faults = faultsOf(request, MODELS[one.model] as Template, false)
    const { found, gone, tokens } = compared(request, messages, folds, one.family.isCut)
    for (const fault of [...found, ...faults]) {
      // of an answer that was killed OpenCode stores an empty text, and sends it
      if (fault.endsWith("empty text")) continue
      // what a compaction keeps may begin with a step, right after the summary
      if (fault === "content 2 is the second of the model's") continue
      // where a call was deleted, the text beside it and the next step are two of the model's in a row, or its reasoning is left
      if (!one.family.isCut || !/second of the model's$|reasoning without what follows it$/.test(fault))
        this.found.add(fault)
    }
    const numbers = gone.map(({ step }) => step)
    const recorded = episodes.recordedSteps(request)
    if (!one.family.isCut) this.compare("the steps in records", recorded, numbers)
    else if (numbers.some((step) => !recorded.includes(step))) this.found.add(`${numbers} are not in ${recorded}`)
    const { hud, whole = {} } = readSwitches(statusFolder(dataOf(this.here)), one.id)
    // those that such a model was sent before stay
    if (hud === "paused" && one.model !== world.BINDING && hudsOf(request).length > 0)
      this.found.add("a HUD that is paused")
    for (const { messageID } of gone) if (whole[messageID] === FOREVER) this.found.add(`${messageID} is pinned`)
    const [before, now] = [one.last ?? request, request].map(episodes.piecesOf) as [string[], string[]]
    const at = episodes.sharedPieces(before, now)
    const [was = "", is = ""] = [before[at], now[at]]
    // where room is needed the lines of a record become shorter
    const isShortened = was.includes("kept by hudfold as a record") && is.length < was.length
    // OpenCode moves its reminder of the agent to the newest message of the user
    const isMoved = [was, is].some((piece) => piece.includes("<system-reminder>"))
    if (one.last && at < before.length && keyOf(one.last) === keyOf(request) && !isShortened && !isMoved)
      this.compare("beginning", is, was)
    one.last = request
    one.folded = { steps: gone.length, tokens }
  }

  /** Nothing of the plugin is stored, what OpenCode has finished stays as it is, and what was asked back came back. */
  private checkStored(messages: readonly HostMessage[]): void {
    for (const part of messages.flatMap(({ parts }) => parts)) {
      const { id = "", callID = "", tool, state } = part
      if (tool !== "hud_recall" && OURS.test(sentOf(part))) this.found.add(`${id} has what the plugin sends`)
      if (state?.status !== "completed" && state?.status !== "error") continue
      const now = JSON.stringify({ ...part, state: { ...state, time: undefined } })
      this.compare("stored", now, this.finished.get(id) ?? now)
      this.finished.set(id, now)
      if (tool === "hud_recall" && (state.status === "error" || /^hud_recall failed/.test(state.output ?? "")))
        if (!/abort/.test(state.error ?? ""))
          this.found.add(`recall of ${JSON.stringify(state.input)}: ${resultOf(state)}`)
      const { fold, found } = this.asked.get(callID) ?? {}
      const message = messages.find(({ info }) => info.id === fold?.messageID)
      const original = fold && message && originalIn(messageOf(message), fold)?.text
      // an original that looks like an answer has a line above it
      const isBack = found === undefined ? state.output?.endsWith(original ?? "") : state.output?.includes(found)
      if (original && !isBack && !/^\[page 1 of/m.test(state.output ?? ""))
        this.compare(`recalled ${fold.id}`, state.output, found ?? original)
    }
  }

  /** Of what the session still has, an id and a number each name one thing. */
  private checkNames(messages: readonly HostMessage[], folds: readonly Fold[], isCut = false): void {
    const left = new Set(messages.map(({ info }) => info.id))
    const named = new Map<string | number, string>()
    for (const { id, step, partID, messageID } of folds) {
      if (!left.has(messageID)) continue
      this.compare(`what is ${id}`, partID, named.get(id) ?? partID)
      if (!isCut) this.compare(`which step is ${step}`, messageID, named.get(step) ?? messageID)
      named.set(id, partID).set(step, messageID)
    }
  }

  /** The status has no negative number except where the plugin added cost, and folds save no more than they leave out. */
  private async checkStatus({ id, folded }: Played): Promise<void> {
    const status = await readStatus(join(dataOf(this.here), "sessions"), id)
    if (!status || !folded) return
    const { context, saved, folding } = status
    const { steps, savedTokens, kept, outputs } = folding
    const negative = JSON.stringify({ context, outputs, savedTokens, kept, calls: saved.calls }).match(/"\w+":-[\d.]+/g)
    if (negative || Math.abs(saved.share) > 1) this.found.add(`the status has ${negative ?? saved.share}`)
    // where room is needed no line of a record is left, and a step's own tokens are rounded
    if (steps === folded.steps && savedTokens > folded.tokens + folded.steps)
      this.found.add(`${savedTokens} tokens are saved of ${folded.tokens}`)
  }
}

function dataOf({ host }: world.ServedWorld): string {
  return join(host.root, "data", "opencode-hudfold")
}

function foldsOf(here: world.ServedWorld, session: string): Fold[] {
  using store = new Database(join(dataOf(here), "hud.db"), { readonly: true })
  const rows = store.query("SELECT fold FROM fold WHERE session_id = ?").all(session) as { fold: string }[]
  return rows.flatMap(({ fold }) => readFold(fold) ?? [])
}

/** What is folded and cleared: where it is the same, requests that begin alike have the same bytes. */
function keyOf(request: ModelRequest): string {
  const cleared = [...resultsOf(request)].flatMap(([id, text]) => (text.startsWith(CLEARED) ? [id] : []))
  const folds = foldsIn(request)
  // Gemini's ids are places, at which another output may stand
  const folded = request.wire === "gemini" ? [...folds] : [...folds.keys()]
  return JSON.stringify([folded, episodes.recordedSteps(request), cleared])
}

/** A part as OpenCode sends it. Outputs that were cleared at `beforeMs` or later count as whole; default: none do. */
function sentOf({ text = "", tool, state }: HostPart, beforeMs?: number): string {
  return tool ? `${tool} ${JSON.stringify(state?.input)} ${resultOf(state, beforeMs)}` : text
}

function resultOf(state: HostPart["state"], beforeMs = Number.POSITIVE_INFINITY): string {
  return Number(state?.time?.compacted || Number.POSITIVE_INFINITY) < beforeMs
    ? CLEARED
    : (state?.output ?? state?.error ?? "")
}

/** What is lost, moved or changed in a request, the folds of the steps that are gone, and the tokens of all that is folded. */
function compared(request: ModelRequest, messages: readonly HostMessage[], folds: readonly Fold[], isCut = false) {
  const found: string[] = []
  const gone: Fold[] = []
  let tokens = 0
  const sent = episodes.piecesOf(request).join("\n")
  let reached = -1
  const expectNext = (text: string, raw = JSON.stringify(text).slice(1, -1)) => {
    const at = sent.indexOf(raw, reached + 1)
    if (at < 0) found.push(`lost or moved: ${text}`)
    else reached = at
  }
  const results = resultsOf(request)
  const recorded = episodes.recordedSteps(request)
  // Gemini's calls have no ids, and come in order
  const inOrder = request.wire === "gemini" ? [...results.keys()] : undefined
  const idOf = ({ callID = "" }: HostPart) => (request.model.includes("mistral") ? mistralID(callID) : callID)
  const foldOf = new Map(folds.map((fold) => [fold.partID, fold]))
  // outputs that OpenCode clears during a turn are whole for the plugin until the next turn
  const turnMs = messages.findLast(({ info }) => info.role === "user")?.info.time?.created as number
  const messageBy = new Map(messages.map((message) => [message.info.id, message]))
  // the newest is the answer to this request
  for (const { id, kind } of contextAt(conversationOf(messages), messages.length - 1)) {
    const { parts = [] } = messageBy.get(id) ?? {}
    const tools = parts.filter(({ type }) => type === "tool")
    const fold = foldOf.get(id)
    const isTold = fold !== undefined && sent.includes(JSON.stringify(fold.text).slice(1, -1))
    const isRecorded = fold !== undefined && recorded.includes(fold.step) && (isTold || !isCut)
    if (kind === "step" && isRecorded && !tools.some((part) => results.has(idOf(part)))) {
      gone.push(fold)
      tokens += tokensOfLength(parts.map((part) => sentOf(part, turnMs)).join("\n").length)
      if (!isTold) found.push(`in no record: ${fold.text}`)
      continue
    }
    if (kind !== "summary")
      for (const { type, text, synthetic } of parts) if (type === "text" && text && !synthetic) expectNext(text)
    for (const part of tools) {
      const { id = "", callID = "", state } = part
      const sentID = inOrder ? (inOrder.shift() ?? "none") : idOf(part)
      expectNext(callID, JSON.stringify(sentID))
      const result = results.get(sentID) ?? ""
      const original = resultOf(state)
      if (FOLDED.test(result)) tokens += tokensOfLength(original.length)
      if (!result.startsWith(FOLDED.test(result) ? (foldOf.get(id)?.text ?? "no fold") : original))
        found.push(`the result of ${callID} is ${result}`)
    }
  }
  return { found, gone, tokens }
}

/** OpenCode makes such ids for Mistral's models, of nine letters and digits. */
function mistralID(id: string): string {
  return id
    .replace(/[^a-zA-Z0-9]/g, "")
    .slice(0, 9)
    .padEnd(9, "0")
}
