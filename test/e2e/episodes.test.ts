// Episodes on the real OpenCode: a long session in a small window is never compacted, its records stay the same bytes whatever
// happens to the session, and nothing that went into them is lost.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { longWork, WORK_FILES } from "../opencode/long-work.ts"
import { type ModelRequest, messagesOf, promptOf, resultsOf } from "../opencode/request.ts"
import { faultsOf } from "../opencode/roles.ts"
import type { Client } from "../opencode/serve.ts"
import type { Reply } from "../opencode/wire.ts"
import {
  CEILING_TOKENS,
  CHAT_60K,
  CHAT_LARGE,
  CLAUDE_60K,
  EPISODE_CONFIG,
  EPISODE_MODELS,
  piecesOf,
  recordedSteps,
  sharedPieces,
  wordsOf,
} from "../support/episodes.ts"
import { testLarge, withoutRare } from "../support/large.ts"
import { sized } from "../support/size.ts"
import {
  bash,
  PLUGIN,
  promptAndAbort,
  read,
  type ServedWorld,
  say,
  serveWorld,
  UNENDING,
  use,
} from "../support/world.ts"

const PATIENCE_MS = 600_000
const STEPS = sized(72, 200, 108)
/** The protocols share everything but the bytes, so only one of them is played daily, and one in full in the large run. */
const CHAT_STEPS = sized(0, STEPS, 72)
/** Without folding the daily session is compacted too, so that a session without the plugin shows no more then. */
const BARE_STEPS = sized(0, STEPS, 108)

/** The plugin is on in one of the two projects, so that one process serves both. */
const WITH_PLUGIN = { "opencode.json": JSON.stringify({ plugin: [[PLUGIN, { deadlineMs: 5_000 }]] }) }

type Played = { session: string; model: string; prompts: string[]; replies: Map<ModelRequest, Reply> }

let here: ServedWorld
let client: Client
let claude: Played
let chat: Played
let bare: string
/** of the chat session, in flight when its process was killed; the first with a new record */
let killed: ModelRequest

beforeAll(async () => {
  const files = { ...WORK_FILES, ...WITH_PLUGIN }
  here = await serveWorld({ plugin: null, files, models: EPISODE_MODELS, config: EPISODE_CONFIG })
  client = here.client
  const other = here.host.addProject("bare", WORK_FILES)
  ;[claude, chat, bare] = await Promise.all([
    begin(CLAUDE_60K).then((one) => playAll(one, STEPS)),
    begin(CHAT_60K).then((one) => playAll(one, CHAT_STEPS)),
    begin(CHAT_60K, other)
      .then((one) => playAll(one, BARE_STEPS))
      .then(({ session }) => session),
  ])
}, PATIENCE_MS)
afterAll(() => here.close())

async function begin(model: string, directory?: string): Promise<Played> {
  return { session: await client.create(directory ? { directory } : {}), model, prompts: [], replies: new Map() }
}

async function playAll(played: Played, steps: number): Promise<Played> {
  for (const { prompt, replies } of longWork(steps)) await ask(played, prompt, replies)
  return played
}

/** One turn; resolves with its requests. */
async function ask(played: Played, prompt: string, replies: readonly Reply[], model = played.model) {
  const { session } = played
  const before = requestsOf(session).length
  script(played, replies)
  played.prompts.push(prompt)
  await client.prompt(session, prompt, { model })
  return requestsOf(session).slice(before)
}

function script({ session, replies: made }: Played, replies: readonly Reply[]): void {
  const waiting = [...replies]
  here.provider.play((request) => {
    if (request.caller !== "main") return undefined
    const reply = waiting.shift() ?? say("Done.")
    made.set(request, reply)
    return reply
  }, session)
}

function requestsOf(session: string): ModelRequest[] {
  return here.provider.from("main", session)
}

function lastOf({ session }: Played): ModelRequest {
  return requestsOf(session).at(-1) as ModelRequest
}

/** All that was sent before is sent again; what follows is new. */
function expectSameBeginning(before: ModelRequest, now: ModelRequest | undefined): void {
  expect(now).toBeDefined()
  const sent = piecesOf(before)
  const again = piecesOf(now as ModelRequest)
  const shared = sharedPieces(sent, again)
  expect(again.slice(shared, sent.length)[0]).toBe(sent[shared] as string)
  expect(recordedSteps(before).length).toBeGreaterThan(0)
}

/** Those of the pieces that stand in another request too, in the same order. */
function inOrder(pieces: readonly string[], among: readonly string[]): string[] {
  let from = 0
  return pieces.filter((piece) => {
    const at = among.indexOf(piece, from)
    if (at >= 0) from = at + 1
    return at >= 0
  })
}

describe.each(withoutRare([["claude"], ["chat"]] as const, ["chat"]))("a long session on the %s wire", (wire) => {
  const played = () => (wire === "claude" ? claude : chat)

  test("is never compacted, and each of its requests stays below the size at which it would be", () => {
    const { session } = played()
    expect(here.provider.from("compaction", session)).toEqual([])
    const sizes = requestsOf(session).map(
      ({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite + usage.output,
    )
    expect(Math.max(...sizes)).toBeLessThan(CEILING_TOKENS)
    expect(sizes.length).toBe(longWork(wire === "claude" ? STEPS : CHAT_STEPS).flatMap(({ replies }) => replies).length)
  })

  test("is accepted by the provider: roles, calls and results fit, and no text is empty", () => {
    const requests = requestsOf(played().session)
    expect(requests.flatMap((request) => faultsOf(request, wire === "claude" ? "anthropic" : "chat", false))).toEqual(
      [],
    )
  })

  test("has all words of the user in all of its requests, in their order and unchanged", () => {
    const { session, prompts } = played()
    for (const request of requestsOf(session)) {
      const words = wordsOf(request)
      expect(words).toEqual(prompts.slice(0, words.length))
      expect(words.length).toBeGreaterThan(0)
    }
    expect(wordsOf(lastOf(played()))).toEqual(prompts)
  })

  test("repeats the request before it, except for a few cuts that only fold", () => {
    const requests = requestsOf(played().session)
    const cuts = requests.slice(1).flatMap((now, at) => {
      const before = requests[at] as ModelRequest
      const sent = piecesOf(before)
      const again = piecesOf(now)
      if (sharedPieces(sent, again) === sent.length) return []
      // calls, results and thinking that are neither folded nor new are the same as before, in the same order
      const kept = again.filter(
        (piece) => /"call_\d|"signature"/.test(piece) && !/":"folded r|kept by hudfold/.test(piece),
      )
      const old = kept.slice(0, kept.findLastIndex((piece) => sent.includes(piece)) + 1)
      expect(inOrder(old, sent)).toEqual(old)
      for (const step of recordedSteps(before)) expect(recordedSteps(now)).toContain(step)
      return [now]
    })
    expect(cuts.length).toBeGreaterThan(0)
    expect(cuts.length).toBeLessThan(requests.length / 8)
  })
})

testLarge("without the plugin such a session is compacted", async () => {
  expect(here.provider.from("compaction", bare).length).toBeGreaterThan(1)
})

test("signed thinking arrives untouched with every step that is still there", () => {
  const { session, replies } = claude
  const made = new Map([...replies].map(([request, reply]) => [String(request.index).padStart(4, "0"), reply]))
  let seen = 0
  for (const request of requestsOf(session))
    for (const { role, content } of messagesOf(request)) {
      if (role !== "assistant" || !Array.isArray(content)) continue
      const blocks = content as { type: string; id?: string; thinking?: string; signature?: string }[]
      const id = /^call_(\d+)_/.exec(blocks.find(({ type }) => type === "tool_use")?.id ?? "")?.[1]
      if (id === undefined) continue
      const { thinking } = made.get(id) ?? {}
      const signed = { type: "thinking", thinking, signature: Buffer.from(`signed ${id}`).toString("base64") }
      expect(blocks.filter(({ type }) => type === "thinking")).toEqual(thinking === undefined ? [] : [signed as never])
      if (thinking !== undefined) seen++
    }
  expect(seen).toBeGreaterThan(STEPS)
})

test(
  "after an abort in the middle of a step the request begins like the aborted one",
  async () => {
    const { session, model } = claude
    script(claude, [use(read("README.md")), UNENDING])
    claude.prompts.push("Look at the readme")
    await promptAndAbort(client, session, "Look at the readme", { model })
    const aborted = lastOf(claude)
    const [next] = await ask(claude, "Go on with it", [use(bash("cat README.md")), say("It is short.")])
    expectSameBeginning(aborted, next)
  },
  PATIENCE_MS,
)

test(
  "after a revert the request begins like the one before what was reverted",
  async () => {
    const before = lastOf(claude)
    const { session } = claude
    await ask(claude, "Look once more", [use(bash("cat README.md")), say("It is still short.")])
    const stored = await client.messages(session)
    await client.revert(session, stored.findLast(({ info }) => info.role === "user")?.info.id as string)
    claude.prompts.pop()
    const [next] = await ask(claude, "Look at the first module instead", [say("It is there.")])
    expectSameBeginning(before, next)
    expect(promptOf(next as ModelRequest)).toBe("Look at the first module instead")
    expect(wordsOf(next as ModelRequest)).toEqual(claude.prompts)
  },
  PATIENCE_MS,
)

test(
  "a fork begins like its origin",
  async () => {
    const before = lastOf(claude)
    const session = await client.fork(claude.session)
    const fork = { ...claude, session, prompts: [...claude.prompts] }
    const [next] = await ask(fork, "Take the other way", [say("This is the other way.")])
    expectSameBeginning(before, next)
    expect(here.provider.from("compaction", session)).toEqual([])
  },
  PATIENCE_MS,
)

testLarge(
  "a session whose process is killed during the first request with a new record sends that record again",
  async () => {
    const { session, model } = chat
    const waiting = longWork(STEPS).flatMap(({ replies }) => replies.filter(({ calls }) => calls))
    let recorded = recordedSteps(lastOf(chat)).length
    here.provider.play((request) => {
      const now = recordedSteps(request).length
      if (request.caller !== "main") return undefined
      if (now === recorded) return waiting.shift()
      recorded = now
      killed = request
      return { delayMs: PATIENCE_MS }
    }, session)
    chat.prompts.push("Do it all again")
    await client.promptAsync(session, "Do it all again", { model })
    await here.provider.received((request) => request === killed, PATIENCE_MS)
    await client.kill()
    client = await here.host.serve()
    const [next] = await ask(chat, "Go on", [use(read("README.md")), say("Done.")])
    expectSameBeginning(killed, next)
    expect(wordsOf(next as ModelRequest)).toEqual(chat.prompts)
  },
  PATIENCE_MS,
)

test(
  "resumed in a new process, the session's next request begins like the last",
  async () => {
    const before = lastOf(claude)
    const { session, model } = claude
    here.provider.play([say("Nothing is left.")], session)
    const { exitCode } = await here.host.run("What is left?", { session, model })
    expect(exitCode).toBe(0)
    expectSameBeginning(before, lastOf(claude))
  },
  PATIENCE_MS,
)

testLarge(
  "the agent gets the arguments and the outputs of steps back verbatim, by their numbers in the records",
  async () => {
    const { session, replies } = chat
    const first = new Map(
      requestsOf(session)
        .toReversed()
        .flatMap((request) => [...resultsOf(request)]),
    )
    const steps = [...replies]
    const recorded = recordedSteps(lastOf(chat)).filter((step) => step <= CHAT_STEPS)
    const edits = recorded.filter((step) => steps[step - 1]?.[1].calls?.some(({ name }) => name === "edit"))
    const answers = recorded.filter((step) => !steps[step - 1]?.[1].calls)
    const wanted = sized(1, 0) ? [...new Set([...edits, ...answers, ...recorded.slice(0, 12)])] : recorded
    expect(edits.length).toBeGreaterThan(5)
    // the call has left the request with its arguments
    const [edited = 0] = edits
    expect(lastOf(chat).raw).not.toContain(callID(steps[edited - 1]?.[0] as ModelRequest, 0))
    const calls = wanted.map((step, at) => ({
      name: "hud_recall",
      arguments: { steps: String(step) },
      id: `recall_${at}`,
    }))
    await ask(chat, "Give me the steps back", [use(...calls), say("Here they are.")], CHAT_LARGE)
    const returned = resultsOf(lastOf(chat))
    wanted.forEach((step, at) => {
      const [request, reply] = steps[step - 1] ?? []
      const answer = returned.get(`recall_${at}`) ?? ""
      if (!request || !reply) throw new Error(`there is no step ${step}`)
      for (const [index, call] of (reply.calls ?? []).entries()) {
        for (const value of Object.values(call.arguments)) expect(answer).toContain(String(value))
        expect(answer).toContain(first.get(callID(request, index)) as string)
      }
      if (reply.text) expect(answer).toContain(reply.text)
    })
  },
  PATIENCE_MS,
)

/** The id of a call in the answer to a request. */
function callID({ index }: ModelRequest, at: number): string {
  return `call_${String(index).padStart(4, "0")}_${at}`
}
