// What the plugin must not change: the title, OpenCode's helper calls, the terminal. `harness/` compares what is told and stored.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, messagesOf, systemOf } from "../opencode/request.ts"
import { testLarge } from "../support/large.ts"
import {
  bash,
  converse,
  eventually,
  FILES,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  TWICE,
  todo,
  use,
} from "../support/world.ts"

/** Each test uses a project with the plugin's options of its own, so that one process serves all. */
let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({ plugin: null })
}, PATIENCE_MS)
afterAll(() => here.close())

function project(name: string, options?: object): string {
  const config = options === undefined ? {} : { plugin: [[PLUGIN, { deadlineMs: 5_000, ...options }]] }
  return here.host.addProject(name, { ...FILES, "opencode.json": JSON.stringify(config) })
}

test(
  "a session gets its title, and the calls for title and summary carry no HUD",
  async () => {
    const { client, provider } = here
    const at = client.events.length
    const steps = [use(read("README.md")), TWICE, say("A project.")]
    const { session, requests } = await converse(here, "Look at the README", steps, {
      directory: project("titled", {}),
    })
    await client.event(
      ({ type, properties }) =>
        type === "session.updated" &&
        properties.sessionID === session &&
        (properties.info as { title: string }).title === "A scripted session",
      { from: at },
    )
    // A HUD was sent before; the title of a later session and the summary of this one must not contain one.
    expect(requests.map((request) => hudsOf(request).length)).toEqual([0, 0, 1])
    await client.summarize(session, OPENAI)
    const [title] = provider.from("title", session)
    const [summary] = provider.from("compaction", session)
    for (const helper of [title, summary]) {
      expect(helper).toBeDefined()
      expect(helper?.raw).not.toContain("<hud>")
    }
    const systems = requests.map((request) => systemOf(request.body))
    expect(new Set(systems).size).toBe(1)
  },
  PATIENCE_MS,
)

test(
  "a short session without news goes out as it does without the plugin, but for the tool in its list",
  async () => {
    const sent = async (directory: string) => {
      const work = [use(read("alpha.txt")), use(bash("sh check")), use(todo(["mend it", "pending"])), say("It fails.")]
      const { requests } = await converse(here, "Make the login test pass", work, { directory })
      return requests.map(({ body }) => {
        const calls = new Map<string, number>()
        const text = JSON.stringify([systemOf(body), messagesOf({ body })]).replaceAll(directory, "PROJECT")
        const said = text.replace(/call_\d{4}/g, (id) => `call ${calls.set(id, calls.get(id) ?? calls.size).get(id)}`)
        const tools = JSON.stringify(body.tools)
        return { said, hasTool: tools.includes('"hud_recall"') }
      })
    }
    const bare = await sent(project("bare"))
    const ours = await sent(project("ours", {}))
    expect(ours).toHaveLength(4)
    expect(ours.map(({ said }) => said)).toEqual(bare.map(({ said }) => said))
    expect(bare.some(({ hasTool }) => hasTool)).toBe(false)
    expect(ours.every(({ hasTool }) => hasTool)).toBe(true)
  },
  PATIENCE_MS,
)

testLarge(
  "a wrong option is one clear line in OpenCode's log, and the run works with its default",
  async () => {
    const wrong = await openWorld({ plugin: [PLUGIN, { hud: { budgetTokens: "plenty" } }] })
    try {
      wrong.provider.play([TWICE, say("Done.")])
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
    const directory = project("wrong", { hudd: true, hud: { slot: "top", budgetTokens: "plenty" } })
    const toast = here.client.event((event) => event.type === "tui.toast.show")
    const { requests } = await converse(here, "Hello", [TWICE, say("Done.")], { directory })
    expect(requests.map((request) => hudsOf(request).length)).toEqual([0, 1])
    const { title, message, variant } = (await toast).properties
    expect({ title, variant }).toEqual({ title: "opencode-hudfold", variant: "warning" })
    expect(message).toContain("opencode.json: unknown option hudd; it is ignored. Known: enabled,")
    expect(message).toContain('got "top"; using "auto"')
    const said = () =>
      here.host
        .log()
        .split("\n")
        .filter((line) => /hud\.budgetTokens.*plenty/.test(line))
    // OpenCode writes its log a moment later
    await eventually("the line in the log", () => (said().length > 0 ? true : undefined))
    expect(said()).toHaveLength(1)
  },
  PATIENCE_MS,
)
