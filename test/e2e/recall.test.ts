// Nothing folded is lost: in every kind of session the scripted model recalls outputs by the ids in its request and gets them
// verbatim.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type ModelRequest, messagesOf, promptOf, resultsOf, systemOf } from "../opencode/request.ts"
import { differences, outlineOf, type StoredMessage } from "../opencode/stored.ts"
import type { Reply } from "../opencode/wire.ts"
import {
  countFolded,
  EAGER,
  FILES,
  foldsIn,
  look,
  lookAndRecall,
  recall,
  recallCall,
  recalledIn,
  recallID,
} from "../support/folds.ts"
import { testLarge, withoutRare } from "../support/large.ts"
import { sample } from "../support/size.ts"
import {
  ANTHROPIC,
  converse,
  edit,
  OPENAI,
  PATIENCE_MS,
  read,
  type ServedWorld,
  SMALL,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

/** The plugin is on in one of two projects, so that one process serves both. */
const HUD = [EAGER[0], { ...EAGER[1], deadlineMs: 5_000 }]
const SEES = { attachment: true, modalities: { input: ["text", "image"], output: ["text"] } }
const CONFIG = { plugin: [HUD], provider: { scripted: { models: { "scripted-1": SEES } } } }
const WITH_PLUGIN = { ...FILES, "opencode.json": JSON.stringify(CONFIG) }
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ plugin: null, files: WITH_PLUGIN })
}, PATIENCE_MS)
afterAll(() => here.close())

function expectGivenBack(requests: readonly ModelRequest[], count: number): void {
  const recalled = recalledIn(requests)
  expect(recalled).toHaveLength(count)
  for (const { answer, original } of recalled) {
    expect(original).toContain("naïve — 試験 🙂")
    expect(answer).toBe(original)
  }
}

describe.each(withoutRare([[OPENAI], [ANTHROPIC]], [ANTHROPIC]))("%s", (model) => {
  test(
    "gets a command's output and a file's content back verbatim, and keeps them",
    async () => {
      const { client, provider } = here
      const session = await client.create()
      provider.play(lookAndRecall("main"), session)
      await client.prompt(session, "Look at the logs", { model })
      const requests = provider.from("main", session)
      expectGivenBack(requests, 2)
      // a recalled output stays in full while it is in use
      const folded = [...foldsIn(requests.at(-1)).keys()]
      expect(folded.filter((call) => call.startsWith("recall_"))).toEqual([])
    },
    PATIENCE_MS,
  )
})

test(
  "the image that a tool returned leaves with its step, and comes back with it",
  async () => {
    const { client, provider, host } = here
    writeFileSync(join(host.project, "shot.png"), Buffer.from(PIXEL, "base64"))
    const session = await client.create()
    const steps = [read("shot.png"), ...Array.from({ length: 16 }, (_, at) => look(at + 1))]
    const back = { name: "hud_recall", arguments: { steps: "1" }, id: recallCall("step_1") }
    let asked = false
    provider.play((request) => {
      if (request.caller !== "main" || asked) return undefined
      asked = request.raw.includes("read shot.png (1 image)")
      const next = asked ? back : steps.shift()
      return next && use(next)
    }, session)
    await client.prompt(session, "Look at the picture", { model: OPENAI })
    const requests = provider.from("main", session)
    const images = requests.map(({ raw }) => raw.split(PIXEL).length - 1)
    expect([images[1], ...images.slice(-2)]).toEqual([1, 0, 1])
    expect(resultsOf(requests.at(-1) as ModelRequest).get(back.id)).toContain("returned a file: image/png\n")
  },
  PATIENCE_MS,
)

test(
  "the long arguments of a call that failed leave with its step, and come back whole",
  async () => {
    const { client, provider } = here
    const session = await client.create()
    const said = 'is "not" there\n'.repeat(400)
    const steps = [edit("README.md", said, "is"), ...Array.from({ length: 16 }, (_, at) => look(at + 1))]
    let asked = false
    provider.play((request) => {
      if (request.caller !== "main" || asked) return undefined
      asked = /Steps? 1(?:-\d+)? of this session/.test(request.raw)
      const back = { name: "hud_recall", arguments: { steps: "1" }, id: recallCall("step_1") }
      const next = asked ? back : steps.shift()
      return next && use(next)
    }, session)
    await client.prompt(session, "Mend the README")
    const last = provider.from("main", session).at(-1) as ModelRequest
    expect(asked).toBe(true)
    const made = JSON.stringify(messagesOf(last).filter(({ role }) => role === "assistant"))
    expect(made.split("there").length).toBeLessThan(20)
    expect(resultsOf(last).get(recallCall("step_1"))).toContain(said)
  },
  PATIENCE_MS,
)

testLarge(
  "the stored session differs from one without the plugin only by the recalls",
  async () => {
    const { client, host, provider } = here
    const session = await client.create()
    provider.play(lookAndRecall("main"), session)
    await client.prompt(session, "Look at the logs")
    const hooked = await client.messages(session)
    const kept = hooked.filter((message) => !isRecall(message))
    expect(hooked.length - kept.length).toBe(2)
    // an output is folded at nearly every call, so the provider's cache hits would show a wrong fold
    const log = host.log().split("\n")
    expect(log.filter((line) => line.includes("folding stops"))).toEqual([])

    const looks = kept.filter(({ parts }) => parts.some(({ type }) => type === "tool")).length
    const directory = host.addProject("bare", FILES)
    const steps = [...Array.from({ length: looks }, (_, at) => use(look(at + 1))), say("Done.")]
    const bare = await converse(here, "Look at the logs", steps, { directory })
    const before = outlineOf(await client.messages(bare.session), directory)
    expect(before.length).toBeGreaterThan(10)
    expect(differences(before, outlineOf(kept, host.project))).toEqual([])
  },
  PATIENCE_MS,
)

function isRecall({ parts }: StoredMessage): boolean {
  return parts.some(({ tool }) => tool === "hud_recall")
}

test(
  "a session resumed in a new process keeps its folds byte for byte and recalls them",
  async () => {
    const { host, provider } = here
    // reading a folded file again would change its digest line
    const steps = [...[1, 2, 3, 4, 5, 6, 7, 1, 2].map((number) => use(look(number))), say("Done.")]
    const { session, requests: before } = await converse(here, "Look at the logs", steps)
    const folded = foldsIn(before.at(-1))
    expect(folded.size).toBeGreaterThan(0)

    const [wanted = ""] = [...folded.values()].map(recallID)
    const more = Array.from({ length: 12 }, (_, at) => use(look(at + 9)))
    provider.play([use(recall(wanted)), ...more, say("Done.")], session)
    const second = await host.run("Look at the others", { session })
    expect(second.exitCode).toBe(0)
    const after = provider.from("main", session).slice(before.length)
    expect(after).toHaveLength(more.length + 2)
    for (const request of after) {
      const folds = foldsIn(request)
      // a fold stays until its whole step is folded
      for (const [call, text] of folded) if (resultsOf(request).has(call)) expect(folds.get(call)).toBe(text)
      expect(new Set([...folds.values()].map(recallID)).size).toBe(folds.size)
    }
    expect(countFolded(after.at(-1))).toBeGreaterThan(countFolded(before.at(-1)))
    const all = [...before, ...after]
    const [back] = recalledIn(all)
    expect(back?.id).toBe(wanted)
    expect(back?.answer).toBe(back?.original as string)
    expect(new Set(all.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1)
    expect(new Set(all.map(({ body }) => systemOf(body))).size).toBe(1)
  },
  2 * PATIENCE_MS,
)

/** The agent's replies, then a recall of the first output that was folded in its session, and an end. */
function thenRecall(replies: readonly Reply[]): (request: ModelRequest) => Reply | undefined {
  const left = [...replies]
  let folded = ""
  let isDone = false
  return (request) => {
    if (request.caller !== "main") return undefined
    folded ||= recallID([...foldsIn(request).values()][0] ?? "")
    const next = left.shift()
    if (next) return next
    if (isDone) return say("Done.")
    isDone = true
    return use(recall(folded))
  }
}

for (const [subagent] of sample([["general"], ["explore"]], ["general"])) {
  const name = `a subagent (${subagent}) and its parent each fold and recall in their own session`
  const body = async () => {
    const { client, provider } = here
    const session = await client.create()
    const brief = { description: "look at logs", prompt: "Look at the logs and report", subagent_type: subagent }
    provider.play(lookAndRecall("child"))
    const calls = [...Array.from({ length: 14 }, (_, at) => look(at + 11)), { name: "task", arguments: brief }]
    provider.play(thenRecall(calls.map((call) => use(call))), session)
    await client.prompt(session, "Look at the logs, with a helper")
    const [child] = await client.children(session)
    const inside = provider.from("child", child)
    expectGivenBack(inside, 2)
    const outside = provider.from("main", session)
    expectGivenBack(outside, 1)
    expect(recalledIn(outside)[0]?.answer).toMatch(/step-(?:1[1-9]|2\d)-1 /)
    for (const { answer } of recalledIn(inside)) expect(answer).toMatch(/step-\d-1 /)
  }
  testLarge(name, body, PATIENCE_MS)
}

test(
  "after a compaction earlier folds can still be recalled, and folding goes on",
  async () => {
    const { client, provider } = here
    const begin = [1, 2, 3, 4, 5, 6].map((number) => use(look(number)))
    const full = { ...use(look(7)), usage: { input: 59_000 } }
    const goOn = [8, 9, 10, 11, 12].map((number) => use(look(number)))
    const script = thenRecall([...begin, full, ...goOn])
    const session = await client.create()
    provider.play(script, session)
    await client.prompt(session, "Find the slow step in the logs", { model: SMALL })
    const requests = provider.from("main", session)

    const compactions = provider.from("compaction", session)
    expect(compactions).toHaveLength(1)
    const prompt = promptOf(compactions[0] as ModelRequest)
    const told = prompt.slice(prompt.indexOf("</conversation>"))
    for (const known of ["Find the slow step in the logs", "logs/7.log"]) expect(told).toContain(known)
    expect(prompt).not.toMatch(/folded r[0-9a-z]{7} |kept by hudfold/)

    const isAfter = ({ index }: ModelRequest) => index > (compactions[0]?.index ?? 0)
    const before = foldsIn(requests.findLast((request) => !isAfter(request)))
    const after = foldsIn(requests.at(-1))
    const fresh = [...after].filter(([call]) => !before.has(call)).map(([, fold]) => recallID(fold))
    expect(before.size).toBeGreaterThan(0)
    expect(fresh.length).toBeGreaterThan(0)
    expect([...before.values()].map(recallID).filter((id) => fresh.includes(id))).toEqual([])
    expectGivenBack(requests, 1)
    expect(requests).toHaveLength(begin.length + 1 + goOn.length + 2)
    expect(
      client.events.filter(({ type, properties }) => type === "session.error" && properties.sessionID === session),
    ).toEqual([])
  },
  PATIENCE_MS,
)
