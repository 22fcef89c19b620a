// A program drives `opencode serve`: it gets the same events with the plugin as without it. Expected differences are named in
// BY_RIGHT and have tests of their own.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { hudsOf } from "../../opencode/request.ts"
import { foldsIn, recallCall, recalledIn } from "../../support/folds.ts"
import { withoutRare } from "../../support/large.ts"
import { sized } from "../../support/size.ts"
import { PATIENCE_MS } from "../../support/world.ts"
import { differencesOf, type Rules, type ServerEvent } from "./account.ts"
import { SCENARIOS } from "./scenarios.ts"
import { openStage, type Recording, record, type Stage, type Variant } from "./stage.ts"

const BARE: Variant = "without the plugin"
/** The first has all that the other has, and more. */
const HOOKED: Variant[] = (["with folds and a sidecar", "with the plugin"] as const).slice(0, sized(1, 2))

/** The model called the plugin's tool, and OpenCode names it where it tells a model which tools there are. */
const BY_RIGHT: Rules = {
  words: { "hud_recall, ": "" },
  without: (event) => recallPart(event) !== undefined,
}

type ToolPart = { tool: string; callID: string; state: { status: string; output?: string } }

function recallPart({ properties }: ServerEvent): ToolPart | undefined {
  const part = properties.part as ToolPart | undefined
  return part?.callID?.startsWith(recallCall("")) ? part : undefined
}

let stages: Stage[]
let opening: Promise<Stage>[] = []

beforeAll(async () => {
  opening = [BARE, ...HOOKED].map(openStage)
  stages = await Promise.all(opening)
}, 2 * PATIENCE_MS)
// if one could not be opened, the others are closed all the same
afterAll(async () => {
  for (const opened of await Promise.allSettled(opening)) if (opened.status === "fulfilled") await opened.value.close()
}, PATIENCE_MS)

const FOLDING = "much read, and a folded output asked back"
const played = new Map<string, Recording[]>()

/** Further variations of others. */
const RARE = [
  "reasoning before tools and before the answer",
  "an answer that is no answer",
  "a rate limit, 429, that passes",
  "a subagent",
  "two sessions at once on one stream",
  "NUL bytes and control characters in prompt, output and file",
]

describe.each(withoutRare(Object.entries(SCENARIOS), RARE))("%s", (name, scenario) => {
  let recordings: Recording[]
  beforeAll(async () => {
    recordings = await Promise.all(stages.map((stage) => record(stage, scenario, BY_RIGHT)))
    played.set(name, recordings)
  }, PATIENCE_MS)

  test.each(HOOKED)("gets the same events %s", (variant) => {
    const [bare, ...hooked] = recordings
    const other = hooked.find(({ stage }) => stage.variant === variant)
    expect(bare?.account.length).toBeGreaterThan(20)
    expect(differencesOf(bare?.account ?? [], other?.account ?? [])).toEqual([])
  })
})

describe("expected differences:", () => {
  const of = (variant: Variant) => played.get(FOLDING)?.find(({ stage }) => stage.variant === variant) as Recording

  test("without the plugin there is no hud_recall, with it the answer is the folded output, verbatim", () => {
    const said = (variant: Variant) => {
      const parts = of(variant).told.flatMap((event) => recallPart(event) ?? [])
      return parts.findLast(({ state }) => state.status === "completed")
    }
    expect(said(BARE)?.tool).toBe("invalid")
    for (const variant of HOOKED) expect(said(variant)?.tool).toBe("hud_recall")
    const { stage, sessions } = of("with folds and a sidecar")
    const [recalled] = recalledIn(stage.requests(sessions[0] as string))
    expect(recalled?.answer).toContain("naïve — 試験 🙂")
    expect(recalled?.answer).toBe(recalled?.original as string)
  })

  test("the model gets a HUD and folds, and the client sees neither", () => {
    for (const variant of HOOKED) {
      const { stage, sessions, told } = of(variant)
      const requests = stage.requests(sessions[0] as string)
      // with a cache to lose, a session as short as this has neither
      if (variant === "with folds and a sidecar") {
        expect(requests.filter((request) => hudsOf(request).length === 1).length).toBeGreaterThan(3)
        expect(requests.some((request) => foldsIn(request).size > 0)).toBe(true)
      }
      expect(JSON.stringify(told)).not.toMatch(/<hud>|folded r\d/)
    }
  })

  test("the list of tools has hud_recall", async () => {
    const [bare = [], ...others] = await Promise.all(
      stages.map(({ world }) => world.client.call<string[]>("GET", "/experimental/tool/ids")),
    )
    for (const other of others) expect(other.toSorted()).toEqual([...bare, "hud_recall"].toSorted())
  })

  test("the agent `explore`, which may do only what it is allowed, is allowed hud_recall", async () => {
    type Agent = { name: string; permission: { permission: string; action: string; pattern: string }[] }
    const [bare, ...others] = await Promise.all(stages.map((stage) => ask(stage, "/agent") as Promise<Agent[]>))
    for (const other of others) {
      const added = other.flatMap(({ name, permission }) =>
        permission.filter((rule) => rule.permission === "hud_recall").map((rule) => ({ agent: name, ...rule })),
      )
      expect(added).toEqual([{ agent: "explore", permission: "hud_recall", action: "allow", pattern: "*" }])
      const rest = other.map(({ permission, ...agent }) => ({
        ...withoutNull(agent),
        permission: permission.filter((rule) => rule.permission !== "hud_recall"),
      }))
      expect<object[]>(rest).toEqual((bare ?? []).map(withoutNull))
    }
  })

  test("commands, models, skills and servers are listed as without the plugin", async () => {
    const [bare, ...others] = stages as [Stage, ...Stage[]]
    for (const path of ["/command", "/config/providers", "/provider", "/skill", "/mcp", "/lsp", "/formatter"]) {
      const expected = await ask(bare, path)
      for (const other of others) expect({ path, is: await ask(other, path) }).toEqual({ path, is: expected })
    }
  })

  /** What an endpoint answers, without what differs between two servers by its nature. */
  async function ask({ world, words }: Stage, path: string): Promise<unknown> {
    const text = JSON.stringify(await world.client.call("GET", path))
    return JSON.parse(Object.entries(words).reduce((so, [one, word]) => so.replaceAll(one, word), text))
  }

  /** OpenCode lists a field that is not set as null once the configuration names the agent. */
  function withoutNull(agent: object): object {
    return Object.fromEntries(Object.entries(agent).filter(([, value]) => value !== null))
  }
})

test("nothing is printed, and the log has no warning by the plugin", () => {
  for (const stage of stages) {
    expect(stage.world.client.printed().trim().split("\n")).toEqual([
      expect.stringContaining("OPENCODE_SERVER_PASSWORD is not set"),
      expect.stringContaining("listening on"),
    ])
    expect(
      stage.world.host
        .log()
        .split("\n")
        .filter((line) => /level=(WARN|ERROR).*opencode-hudfold/.test(line)),
    ).toEqual([])
  }
})
