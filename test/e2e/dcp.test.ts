// DCP, the plugin most often used together with this one, installed as users install it and listed in both orders. DCP is
// AGPL: OpenCode installs it into a temporary cache, none of its code is in this repository, and only its requests are tested.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { hudsOf, type ModelRequest, messagesOf, resultsOf } from "../opencode/request.ts"
import type { Client } from "../opencode/serve.ts"
import { differences, outlineOf } from "../opencode/stored.ts"
import { countFolded, EAGER, foldsIn, look, recall, recallCall, recallID, recordedIn } from "../support/folds.ts"
import { testLarge, withoutRare } from "../support/large.ts"
import { complaints, expectSound, type Neighbourhood, openNeighbourhood } from "../support/neighbourhood.ts"
import { bash, PATIENCE_MS, read, say, use } from "../support/world.ts"

const DCP = "@tarquinen/opencode-dcp@3.1.14"
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "hudfold-test", "opencode")
const REMOVED = "[Output removed"
/** Bun and npm can take a minute on a slow network. */
const INSTALL_MS = 4 * PATIENCE_MS

// a busy machine must not cause a warning
const HUD = [EAGER[0], { ...EAGER[1], deadlineMs: 5_000 }] as const
const ORDERS = withoutRare(
  [
    ["before it", [HUD, DCP]],
    ["after it", [DCP, HUD]],
  ] as const,
  ["before it"],
)

type Played = { session: string; directory: string; requests: ModelRequest[]; outline: string[] }

let here: Neighbourhood
let alone: Played
const played = new Map<string, Played>()

beforeAll(async () => {
  here = await openNeighbourhood({ XDG_CACHE_HOME: CACHE })
  const directory = here.project("alone", [DCP])
  const tools = await here.client.call<string[]>("GET", "/experimental/tool/ids", { directory })
  if (!tools.includes("compress")) {
    // OpenCode takes an existing folder for an installed package, whatever it contains
    rmSync(join(CACHE, "opencode", "packages", "@tarquinen"), { recursive: true, force: true })
    throw new Error(`OpenCode could not install ${DCP}: expected its tool "compress"; is npm's registry within reach?`)
  }
  alone = await playThrough(directory)
  for (const [name, plugins] of ORDERS)
    played.set(name, await playThrough(here.project(name.replaceAll(" ", "-"), plugins)))
}, INSTALL_MS)
afterAll(() => here?.close(), PATIENCE_MS)

/** The agent looks at files, at some of them twice, asks for what was folded, compresses the start, and goes on. */
async function playThrough(directory: string, client: Client = here.client): Promise<Played> {
  const { provider } = here
  const session = await client.create({ directory, title: "Beside DCP" })
  const start = [look(1), look(1), look(2), look(2), bash("sh check"), look(3), read("missing.txt"), look(4), look(5)]
  const steps = start.map((call) => use(call))
  const range = { startId: "m0001", endId: "m0003", summary: "Log 1 was looked at twice." }
  const compress = { name: "compress", arguments: { topic: "Logs", content: [range] } }
  let asked = false
  provider.play((request) => {
    if (request.caller !== "main") return undefined
    const next = steps.shift()
    if (next) return next
    if (asked) return say("Done.")
    asked = true
    steps.push(use(compress), use(look(6)), use(look(7)), say("Compressed."), use(read("alpha.txt")), say("Done."))
    return use(recall(recallID([...foldsIn(request).values()][0] ?? "")))
  }, session)
  await client.prompt(session, "Look at the logs")
  await client.prompt(session, "And at alpha")
  const stored = await client.messages(session)
  return {
    session,
    directory,
    requests: provider.from("main", session),
    // the one call that may differ: the tool exists only with the plugin
    // DCP's notice counts what it finds in the array, which is less where an output is folded already
    outline: outlineOf(stored, directory)
      .filter((line) => !/"tool":"(hud_recall|invalid)"/.test(line))
      .map((line) => line.replace(/(▣ DCP \| -)[\d.]+K(?= removed)/, "$1…K")),
  }
}

const marksIn = (request: ModelRequest) => request.raw.match(/<dcp-message-id>[mb]\d+<\/dcp-message-id>/g) ?? []

describe.each(ORDERS.map(([order]) => order))("listed %s", (order) => {
  const of = () => played.get(order) as Played
  const last = () => of().requests.at(-1) as ModelRequest

  test("every request has its calls and results in pairs, and one HUD, which is the last message", () => {
    const { requests } = of()
    expect(requests).toHaveLength(alone.requests.length)
    for (const request of requests) expectSound(request)
    const first = requests.findIndex((request) => hudsOf(request).length > 0)
    expect(first).toBeLessThan(6)
    for (const request of requests.slice(first)) {
      expect(hudsOf(request)).toHaveLength(1)
      const { role, content } = messagesOf(request).at(-1) ?? {}
      expect({ role, starts: String(content).startsWith("<hud>") }).toEqual({ role: "user", starts: true })
    }
  })

  test("outputs are folded, and recall returns them verbatim", () => {
    const { requests } = of()
    expect(countFolded(requests[9])).toBeGreaterThan(2)
    const [[call, fold] = ["", ""]] = foldsIn(requests[9])
    const original = resultsOf(requests.find((request) => resultsOf(request).has(call)) as ModelRequest).get(call)
    const answer = resultsOf(requests[10] as ModelRequest).get(recallCall(recallID(fold)))
    expect(bare(answer)).toBe(bare(original))
    expect(bare(answer)).toContain("naïve — 試験 🙂")
  })

  test("what DCP compressed or removed stays that way", () => {
    for (const { requests } of [alone, of()])
      expect(requests.at(-1)?.raw).toContain("[Compressed conversation section]")
    expect(alone.requests.at(-1)?.raw).not.toContain("cat logs/1.log")
    const results = [...resultsOf(last())].filter(([call]) => !call.startsWith("recall_")).map(([, text]) => text)
    expect(results.filter((text) => text.includes("logs/1.log") || text.includes("step-1-1 took"))).toEqual([])
    const removed = (texts: string[]) => texts.filter((text) => text.startsWith(REMOVED)).length
    const removedAlone = removed([...resultsOf(alone.requests.at(-1) as ModelRequest).values()])
    expect(removedAlone).toBeGreaterThan(0)
    // hudfold may have put such a step into a record; listed first, its record names the call that DCP compressed later
    expect(removed(results)).toBeLessThanOrEqual(removedAlone)
    if (order === "after it") expect(last().raw).not.toContain("cat logs/1.log")
  })

  test("DCP's message names are in the same places as without the plugin", () => {
    const results = (request: ModelRequest) => [...resultsOf(request)].filter(([call]) => !call.startsWith("recall_"))
    for (const request of of().requests)
      for (const [call, text] of results(request))
        if (!/^(File not found|The arguments)/.test(text))
          expect(`${call} ${text}`).toMatch(/<dcp-message-id>m\d+<\/dcp-message-id>$/)
    // a folded step takes its mark along
    expect(marksIn(last()).length + recordedIn(last())).toBeGreaterThanOrEqual(
      marksIn(alone.requests.at(-1) as ModelRequest).length,
    )
  })

  test("the HUD quotes neither DCP's marks nor its summaries as the user's words", () => {
    for (const hud of of().requests.flatMap(hudsOf)) {
      expect(hud).not.toMatch(/dcp|Compressed conversation|Output removed|input removed/)
      const task = /^task .*$/m.exec(hud)?.[0]
      if (task) expect(task).toMatch(/^task "(Look at the logs|And at alpha)"/)
    }
  })

  test("the session is stored as it is with DCP alone", () => {
    expect(alone.outline.length).toBeGreaterThan(30)
    expect(differences(alone.outline, of().outline)).toEqual([])
  })
})

test("listed after DCP, the HUD counts the outputs that are folded, and not those that DCP removed", () => {
  let counted = 0
  for (const request of played.get("after it")?.requests ?? []) {
    // a small context leaves no room for the line in some HUDs
    const said = /^folded (\d+) output/m.exec(hudsOf(request)[0] ?? "")?.[1]
    if (said === undefined) continue
    expect(Number(said)).toBe(foldsIn(request).size)
    counted++
  }
  expect(counted).toBeGreaterThan(0)
})

testLarge(
  "a session resumed in a new process keeps its folds beside DCP, byte for byte",
  async () => {
    const { session, requests } = played.get("after it") as Played
    const before = foldsIn(requests.at(-1))
    const client = await here.host.serve()
    const directory = played.get("after it")?.directory as string
    here.provider.play([say("Done.")], session)
    await client.call("POST", `/session/${session}/message`, {
      body: { parts: [{ type: "text", text: "Go on" }] },
      directory,
    })
    const last = here.provider.from("main", session).at(-1) as ModelRequest
    const resumed = foldsIn(last)
    expect(countFolded(requests.at(-1))).toBeGreaterThan(0)
    expect(recordedIn(last)).toBeGreaterThanOrEqual(recordedIn(requests.at(-1)))
    // a fold stays until its whole step is folded
    for (const [call, fold] of before)
      if (resultsOf(last).has(call)) expect({ call, fold: resumed.get(call) }).toEqual({ call, fold })
  },
  PATIENCE_MS,
)

test("OpenCode's log has no warning and no error", () => {
  expect(complaints(here.host.log())).toEqual([])
})

function bare(text: string | undefined): string {
  return (text ?? "").replace(/\n?<dcp-message-id>m\d+<\/dcp-message-id>$/, "")
}
