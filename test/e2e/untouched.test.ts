// What the plugin must not change: the title, OpenCode's helper calls, the terminal. `harness/` compares what is told and stored.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, systemOf } from "../opencode/request.ts"
import { testLarge } from "../support/large.ts"
import {
  converse,
  eventually,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld()
}, PATIENCE_MS)
afterAll(() => here.close())

test(
  "a session gets its title, and the calls for title and summary carry neither the HUD nor its paragraph",
  async () => {
    const { client, provider } = here
    const at = client.events.length
    const { session, requests } = await converse(here, "Look at the README", [
      use(read("README.md"), read("missing.txt")),
      say("A project."),
    ])
    await client.event(
      ({ type, properties }) =>
        type === "session.updated" &&
        properties.sessionID === session &&
        (properties.info as { title: string }).title === "A scripted session",
      { from: at },
    )
    // A HUD was sent before; the title of a later session and the summary of this one must not contain one.
    expect(hudsOf(requests[1] as (typeof requests)[number])).toHaveLength(1)
    await client.summarize(session, OPENAI)
    const [title] = provider.from("title", session)
    const [summary] = provider.from("compaction", session)
    for (const helper of [title, summary]) {
      expect(helper).toBeDefined()
      expect(helper?.raw).not.toContain("<hud>")
    }
    const systems = requests.map((request) => systemOf(request.body))
    expect(systems[0]).toContain("<hud>")
    expect(new Set(systems).size).toBe(1)
  },
  PATIENCE_MS,
)

testLarge(
  "a wrong option is one clear line in OpenCode's log, and the run works with its default",
  async () => {
    const wrong = await openWorld({ plugin: [PLUGIN, { hud: { budgetTokens: "plenty" } }] })
    try {
      wrong.provider.play([use(read("README.md"), read("missing.txt")), say("Done.")])
      const { exitCode, stderr } = await wrong.host.run("Look at the README")
      expect(exitCode).toBe(0)
      expect(stderr).toBe("")
      expect(wrong.provider.from("main").map((request) => hudsOf(request).length)).toEqual([0, 1])
      const lines = wrong.host
        .log()
        .split("\n")
        .filter((line) => line.includes("hud.budgetTokens"))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain("plenty")
    } finally {
      await wrong.close()
    }
  },
  PATIENCE_MS,
)

test(
  "a wrong option is also a toast, once a session is at work and somebody can see it",
  async () => {
    const wrong = await serveWorld({ plugin: [PLUGIN, { hudd: true, hud: { slot: "top", budgetTokens: "plenty" } }] })
    try {
      const toast = wrong.client.event((event) => event.type === "tui.toast.show")
      const { requests } = await converse(wrong, "Hello", [use(read("README.md"), read("missing.txt")), say("Done.")])
      expect(requests.map((request) => hudsOf(request).length)).toEqual([0, 1])
      const { title, message, variant } = (await toast).properties
      expect({ title, variant }).toEqual({ title: "opencode-hudfold", variant: "warning" })
      expect(message).toContain("unknown option hudd; it is ignored. Known: enabled,")
      expect(message).toContain('got "top"; using "auto"')
      const said = () =>
        wrong.host
          .log()
          .split("\n")
          .filter((line) => /hud\.budgetTokens.*plenty/.test(line))
      // OpenCode writes its log a moment later
      await eventually("the line in the log", () => (said().length > 0 ? true : undefined))
      expect(said()).toHaveLength(1)
    } finally {
      await wrong.close()
    }
  },
  PATIENCE_MS,
)
