// Random sessions on the real OpenCode: whatever happens to a session, in whichever order, each of its requests is whole.
//
// What happens is drawn from the seed in the test's name: turns of work for three protocols with changes of the model, outputs
// that fill the window, recalls by id and by number, aborts in an answer and in a command, refused requests, undo and redo, the
// same prompt once more, forks at any message, compactions, the end of the process in the middle of a turn, and OpenCode's
// pruning, which odd seeds switch on. While the model waits, each request is compared with what OpenCode and the store have of
// its session. Not covered: subagents, deleted messages, the panel's switches.
//
// Three short sequences are played daily, and 20 long ones by `npm run prove`. `HUDFOLD_SEEDS=7,30` plays these seeds.

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { type Fold, originalText } from "../../src/fold/fold.ts"
import { conversationOf, messageOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { contextAt } from "../../src/session/recorded.ts"
import { readStatus } from "../../src/status/files.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { randomWork, WORK_FILES } from "../opencode/long-work.ts"
import { type ModelRequest, resultsOf, withoutHud } from "../opencode/request.ts"
import { faultsOf, type Template } from "../opencode/roles.ts"
import type { Reply } from "../opencode/wire.ts"
import * as episodes from "../support/episodes.ts"
import { EAGER, foldsIn, recallID } from "../support/folds.ts"
import { drawer } from "../support/planted.ts"
import { FOLDED } from "../support/records.ts"
import { sized } from "../support/size.ts"
import * as world from "../support/world.ts"
import { bash, say, use } from "../support/world.ts"

/** They have found: nothing; step numbers that a fork used twice; savings counted of outputs that OpenCode had cleared. */
const DAILY = [860, 86, 335]
const SEEDS =
  process.env.HUDFOLD_SEEDS?.split(",").map(Number) ?? Array.from({ length: sized(0, 20) }, (_, at) => at + 1)
const ACTIONS = sized(8, 24)

/** What a request to each must be like. Gemini is not among them: its calls have no ids. */
const MODELS: Readonly<Record<string, Template>> = {
  [episodes.CHAT_60K]: "chat",
  [episodes.CLAUDE_60K]: "anthropic",
  [world.BINDING]: "anthropic",
  "openai/gpt-5": "responses",
}
/** With an eager plugin nothing is lost by a fold, with the last one the cache is gone at once. */
const FOLDING = [{}, EAGER[1], EAGER[1], { fold: { price: { lifetimeMinutes: 0 } } }]
/** Each as often as it is likely. A sequence has five of them, so that each happens more than once. */
const KINDS = [
  ...(["work", "work", "work", "fill", "fill", "fill", "fork", "fork"] as const),
  ...(["compact", "undo", "again", "abort", "refuse", "kill"] as const),
]
const CLEARED = "[Old tool result content cleared]"
const OURS = /<hud>|^folded r[0-9a-z]{7} · |kept by hudfold as a record/m

type Played = {
  id: string
  model: string
  /** the newest request, unless what it contains has changed since */
  last?: ModelRequest | undefined
  /** the first request of the newest turn */
  first?: ModelRequest | undefined
  /** of the newest request: how many steps are folded, and the tokens of all that is folded */
  folded?: { steps: number; tokens: number }
}

test.each(SEEDS.length > 0 ? SEEDS : DAILY)(
  "random session %i",
  async (seed) => {
    const { below } = drawer(seed * 7919)
    const config = { ...episodes.EPISODE_CONFIG, compaction: { prune: seed % 2 === 1 } }
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
  /** what was done, and what was wrong with it */
  private readonly done: string[] = []
  private readonly found = new Set<string>()
  /** tool parts as OpenCode has finished them, by id */
  private readonly finished = new Map<string, string>()
  /** what was asked back, by the id of the call */
  private readonly asked = new Map<string, Fold>()

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
      sessions.push({ id: await this.here.client.create({ title: "T" }), model: this.pick(Object.keys(MODELS)) })
    const one = this.pick(sessions.slice(-1 - below(2)))
    if (below(5) === 0) Object.assign(one, { model: this.pick(Object.keys(MODELS)), last: undefined })
    const kind = this.pick(this.kinds)
    done.push(`${kind} ${one.id} ${one.model}`)
    await this[kind](one, `It is ${done.length} o'clock, so "go on" <with> it.`)
    if (kind !== "work" && kind !== "fill") one.last = undefined
    await this.checkStatus(one)
    expect({ done, found: [...this.found] }).toEqual({ done, found: [] })
  }

  async finish(): Promise<void> {
    for (const { id } of this.sessions) this.checkStored(await this.messages(id))
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
  private play(one: Played, replies: readonly (Reply | undefined)[]): void {
    const waiting = [...replies, say("Done.")]
    one.first = undefined
    this.here.provider.play((request) => {
      if (request.caller === "compaction") one.last = undefined
      if (request.caller !== "main") return undefined
      one.first ??= request
      const checked = this.check(one, request).catch((cause) => void this.found.add(String(cause)))
      const reply = waiting.length > 0 ? (waiting.shift() ?? this.recall(request)) : say("Done.")
      return { ...reply, after: () => checked }
    }, one.id)
  }

  private recall(request: ModelRequest): Reply {
    const steps = episodes.recordedSteps(request)
    const ids = [...foldsIn(request).values()].map(recallID)
    const isSent = ({ id, side, step }: Fold) => (side === "step" ? steps.includes(step) : ids.includes(id))
    const fold = this.pick(foldsOf(this.here, request.session).filter(isSent))
    if (!fold) return use(bash("ls"))
    const id = `recall_${request.index}`
    this.asked.set(id, fold)
    const named = fold.side === "step" ? { steps: `${fold.step}` } : { ids: fold.id }
    return use({ name: "hud_recall", arguments: named, id })
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
    const steps = Array.from({ length: 3 + this.below(2) }, () => use(bash(`cat ${files()}`)))
    await this.prompt(one, text, steps)
  }

  private async fork(one: Played): Promise<void> {
    const messages = await this.messages(one.id)
    const at = this.below(2) === 0 ? this.pick(messages)?.info.id : undefined
    const fork = { id: await this.here.client.fork(one.id, at), model: one.model }
    this.sessions.push(fork)
    await this.work(fork)
  }

  private async compact(one: Played): Promise<void> {
    if ((await this.messages(one.id)).length > 0) await this.here.client.summarize(one.id, one.model)
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
    this.checkStored(messages)
    this.checkNames(messages, folds)
    const faults = faultsOf(request, MODELS[one.model] as Template, false)
    const { found, gone, tokens } = compared(request, messages, folds)
    // of an answer that was killed OpenCode stores an empty text, and sends it
    for (const fault of [...found, ...faults]) if (!fault.endsWith("empty text")) this.found.add(fault)
    const numbers = gone.map(({ step }) => step)
    this.compare("the steps in records", episodes.recordedSteps(request), numbers)
    const [before, now] = [one.last ?? request, request].map(episodes.piecesOf) as [string[], string[]]
    if (one.last && keyOf(one.last) === keyOf(request)) this.compare("beginning", now.slice(0, before.length), before)
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
      const fold = this.asked.get(callID)
      const message = messages.find(({ info }) => info.id === fold?.messageID)
      const original = fold && message && originalText(messageOf(message), fold)
      // an original that looks like an answer has a line above it
      if (original && !state.output?.endsWith(original)) this.compare(`recalled ${fold.id}`, state.output, original)
    }
  }

  /** Of what the session still has, an id and a number each name one thing. */
  private checkNames(messages: readonly HostMessage[], folds: readonly Fold[]): void {
    const left = new Set(messages.map(({ info }) => info.id))
    const named = new Map<string | number, string>()
    for (const { id, step, partID, messageID } of folds) {
      if (!left.has(messageID)) continue
      this.compare(`what is ${id}`, partID, named.get(id) ?? partID)
      this.compare(`which step is ${step}`, messageID, named.get(step) ?? messageID)
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
    if (steps === folded.steps && savedTokens > folded.tokens)
      this.found.add(`${savedTokens} tokens are saved of ${folded.tokens}`)
  }
}

function dataOf({ host }: world.ServedWorld): string {
  return join(host.root, "data", "opencode-hudfold")
}

function foldsOf(here: world.ServedWorld, session: string): Fold[] {
  using store = new Database(join(dataOf(here), "hud.db"), { readonly: true })
  const rows = store.query("SELECT fold FROM fold WHERE session_id = ?").all(session) as { fold: string }[]
  return rows.map(({ fold }) => JSON.parse(fold) as Fold)
}

/** What is folded and cleared: where it is the same, requests that begin alike have the same bytes. */
function keyOf(request: ModelRequest): string {
  const cleared = [...resultsOf(request)].flatMap(([id, text]) => (text.startsWith(CLEARED) ? [id] : []))
  return JSON.stringify([[...foldsIn(request).keys()], episodes.recordedSteps(request), cleared])
}

/** A part as OpenCode sends it. */
function sentOf({ text = "", tool, state }: HostPart): string {
  return tool ? `${tool} ${JSON.stringify(state?.input)} ${resultOf(state)}` : text
}

function resultOf(state: HostPart["state"]): string {
  return state?.time?.compacted ? CLEARED : (state?.output ?? state?.error ?? "")
}

/** What is lost, moved or changed in a request, the folds of the steps that are gone, and the tokens of all that is folded. */
function compared(request: ModelRequest, messages: readonly HostMessage[], folds: readonly Fold[]) {
  const found: string[] = []
  const gone: Fold[] = []
  let tokens = 0
  const sent = episodes.piecesOf(request).join("\n")
  let reached = -1
  const expectNext = (text: string) => {
    const at = sent.indexOf(JSON.stringify(text).slice(1, -1), reached + 1)
    if (at < 0) found.push(`lost or moved: ${text}`)
    else reached = at
  }
  const results = resultsOf(request)
  const foldOf = new Map(folds.map((fold) => [fold.partID, fold]))
  const messageBy = new Map(messages.map((message) => [message.info.id, message]))
  // the newest is the answer to this request
  for (const { id, kind } of contextAt(conversationOf(messages), messages.length - 1)) {
    const { parts = [] } = messageBy.get(id) ?? {}
    const tools = parts.filter(({ type }) => type === "tool")
    const fold = foldOf.get(id)
    if (kind === "step" && fold && !tools.some(({ callID = "" }) => results.has(callID))) {
      gone.push(fold)
      tokens += tokensOfLength(parts.map(sentOf).join("\n").length)
      if (!sent.includes(JSON.stringify(fold.text).slice(1, -1))) found.push(`in no record: ${fold.text}`)
      continue
    }
    if (kind !== "summary")
      for (const { type, text, synthetic } of parts) if (type === "text" && text && !synthetic) expectNext(text)
    for (const { id = "", callID = "", state } of tools) {
      expectNext(callID)
      const result = results.get(callID) ?? ""
      const original = resultOf(state)
      if (FOLDED.test(result)) tokens += tokensOfLength(original.length)
      if (!result.startsWith(FOLDED.test(result) ? (foldOf.get(id)?.text ?? "no fold") : original))
        found.push(`the result of ${callID} is ${result}`)
    }
  }
  return { found, gone, tokens }
}
