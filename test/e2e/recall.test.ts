// Nothing folded is lost: in every kind of session the scripted model recalls outputs by the ids in its request and gets them
// verbatim.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type ModelRequest, messagesOf, promptOf, resultsOf, systemOf } from "../opencode/request.ts"
import { differences, outlineOf, type StoredMessage } from "../opencode/stored.ts"
import {
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
import { sample } from "../support/size.ts"
import {
  ANTHROPIC,
  converse,
  edit,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  type ServedWorld,
  SMALL,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ plugin: EAGER, files: FILES })
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

describe.each([OPENAI, ANTHROPIC])("%s", (model) => {
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
  "the long arguments of a call that failed go out cut, and come back whole",
  async () => {
    const { client, provider } = here
    const session = await client.create()
    const failing = edit("README.md", 'is "not" there\n'.repeat(400), "is")
    const steps = [failing, ...[1, 2, 3, 4, 5, 6, 7, 8].map(look)]
    let asked = ""
    provider.play((request) => {
      if (request.caller !== "main" || asked) return undefined
      asked = /\[folded (r\d+): \d+ more characters/.exec(request.raw)?.[1] ?? ""
      const next = asked ? recall(asked) : steps.shift()
      return next && use(next)
    }, session)
    await client.prompt(session, "Mend the README")
    const requests = provider.from("main", session)
    const last = requests.at(-1) as ModelRequest
    expect(asked).not.toBe("")
    // the error stays as it was
    const [message] = resultsOf(requests[1] as ModelRequest).values()
    expect([...resultsOf(last).values()][0]).toBe(message)
    const made = JSON.stringify(messagesOf(last).filter(({ role }) => role === "assistant"))
    expect(made.split("there").length).toBeLessThan(20)
    expect(JSON.parse(resultsOf(last).get(recallCall(asked)) ?? "")).toEqual(failing.arguments)
  },
  PATIENCE_MS,
)

test(
  "the stored session differs from one without the plugin only by the recalls",
  async () => {
    const plain = await openWorld({ plugin: null, files: FILES })
    try {
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
      plain.provider.play([...Array.from({ length: looks }, (_, at) => use(look(at + 1))), say("Done.")])
      const bare = await plain.host.run("Look at the logs")
      const before = outlineOf(await plain.host.stored(bare.session), plain.host.root)
      expect(before.length).toBeGreaterThan(10)
      // `run` quotes a prompt of several words
      const said = before.map((line) => line.replace('\\"Look at the logs\\"', "Look at the logs"))
      expect(differences(said, outlineOf(kept, host.root))).toEqual([])
    } finally {
      await plain.close()
    }
  },
  2 * PATIENCE_MS,
)

function isRecall({ parts }: StoredMessage): boolean {
  return parts.some(({ tool }) => tool === "hud_recall")
}

test(
  "a session resumed in a new process keeps its folds byte for byte, recalls them, and continues their numbers",
  async () => {
    const { host, provider } = here
    // reading a folded file again would change its digest line
    const steps = [...[1, 2, 3, 4, 5, 6, 1, 2].map((number) => use(look(number))), say("Done.")]
    const { session, requests: before } = await converse(here, "Look at the logs", steps)
    const folded = foldsIn(before.at(-1))
    expect(folded.size).toBeGreaterThan(0)

    const [wanted = ""] = [...folded.values()].map(recallID)
    provider.play([use(recall(wanted)), use(look(7)), use(look(8)), use(look(9)), say("Done.")], session)
    const second = await host.run("Look at the others", { session })
    expect(second.exitCode).toBe(0)
    const after = provider.from("main", session).slice(before.length)
    expect(after).toHaveLength(5)
    for (const request of after) {
      const folds = foldsIn(request)
      expect([...folded.keys()].map((call) => folds.get(call))).toEqual([...folded.values()])
      expect(new Set([...folds.values()].map(recallID)).size).toBe(folds.size)
    }
    expect(foldsIn(after.at(-1)).size).toBeGreaterThan(folded.size)
    const all = [...before, ...after]
    const [back] = recalledIn(all)
    expect(back?.id).toBe(wanted)
    expect(back?.answer).toBe(back?.original as string)
    expect(new Set(all.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1)
    expect(new Set(all.map(({ body }) => systemOf(body))).size).toBe(1)
  },
  2 * PATIENCE_MS,
)

test.each(sample([["general"], ["explore"]], ["general"]))(
  "a subagent (%s) and its parent each fold and recall in their own session",
  async (subagent) => {
    const { client, provider } = here
    const session = await client.create()
    const brief = { description: "look at logs", prompt: "Look at the logs and report", subagent_type: subagent }
    provider.play(lookAndRecall("child"))
    const looks = [20, 21, 22, 23, 24].map((number) => use(look(number)))
    provider.play([...looks, use({ name: "task", arguments: brief }), use(recall("r1")), say("Done.")], session)
    await client.prompt(session, "Look at the logs, with a helper")
    const [child] = await client.children(session)
    const inside = provider.from("child", child)
    expectGivenBack(inside, 2)
    const outside = provider.from("main", session)
    expectGivenBack(outside, 1)
    const [mine, theirs] = [recalledIn(outside), recalledIn(inside)].map((all) => all.find(({ id }) => id === "r1"))
    expect(mine?.answer).toContain("step-20-1 ")
    expect(theirs?.answer).toContain("step-1-1 ")
  },
  PATIENCE_MS,
)

test(
  "after a compaction earlier folds can still be recalled, and folding goes on",
  async () => {
    const { client, provider } = here
    const begin = [1, 2, 3, 4, 5, 6].map((number) => use(look(number)))
    const full = { ...use(look(7)), usage: { input: 59_000 } }
    const goOn = [8, 9, 10, 11, 12].map((number) => use(look(number)))
    const replies = [...begin, full, ...goOn, use(recall("r1")), say("Done.")]
    const { session, requests } = await converse(here, "Find the slow step in the logs", replies, { model: SMALL })

    const compactions = provider.from("compaction", session)
    expect(compactions).toHaveLength(1)
    const prompt = promptOf(compactions[0] as ModelRequest)
    const told = prompt.slice(prompt.indexOf("</conversation>"))
    for (const known of ["Find the slow step in the logs", "logs/7.log"]) expect(told).toContain(known)
    expect(prompt).not.toMatch(/folded r\d/)

    const isAfter = ({ index }: ModelRequest) => index > (compactions[0]?.index ?? 0)
    const before = foldsIn(requests.findLast((request) => !isAfter(request)))
    const after = foldsIn(requests.at(-1))
    const fresh = [...after].filter(([call]) => !before.has(call)).map(([, fold]) => recallID(fold))
    expect(before.size).toBeGreaterThan(0)
    expect(fresh.length).toBeGreaterThan(0)
    expect([...before.values()].map(recallID).filter((id) => fresh.includes(id))).toEqual([])
    expectGivenBack(requests, 1)
    expect(requests).toHaveLength(replies.length)
    expect(
      client.events.filter(({ type, properties }) => type === "session.error" && properties.sessionID === session),
    ).toEqual([])
  },
  PATIENCE_MS,
)
