// What the plugin must not change: the stored session, the title, OpenCode's helper calls, the terminal.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { hudsOf, systemOf } from "../opencode/request.ts"
import { differences, outlineOf } from "../opencode/stored.ts"
import type { Reply } from "../opencode/wire.ts"
import {
  bash,
  converse,
  edit,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  todo,
  use,
  type World,
} from "../support/world.ts"

let plain: World
let here: ServedWorld

beforeAll(async () => {
  plain = await openWorld({ plugin: null })
  here = await serveWorld()
}, PATIENCE_MS)
afterAll(async () => {
  await plain.close()
  await here.close()
})

function work(): Reply[] {
  return [
    { thinking: "The README first.", text: "I look around.", calls: [read("README.md")] },
    use(read("alpha.txt"), todo(["mend the login", "in_progress"])),
    use(bash("sh check")),
    use(edit("alpha.txt", "second", "other")),
    use(read("missing.txt")),
    use(read("README.md")),
    say("Done."),
  ]
}

async function runThrough(world: World) {
  world.provider.play(work())
  return world.host.run("Make the login test pass")
}

test(
  "a run prints and stores the same with the plugin as without it",
  async () => {
    const bare = await runThrough(plain)
    const hooked = await runThrough(here)
    expect(here.provider.from("main", hooked.session).some((request) => hudsOf(request).length > 0)).toBe(true)

    expect(hooked.exitCode).toBe(0)
    expect(hooked.stderr).toBe(bare.stderr)
    const lines = hooked.stdout.trim().split("\n")
    expect(hooked.events).toHaveLength(lines.length)
    expect(hooked.events.map((event) => event.type)).toEqual(bare.events.map((event) => event.type))
    expect(hooked.stdout).not.toContain("<hud>")

    const before = outlineOf(await plain.host.stored(bare.session), plain.host.root)
    const after = outlineOf(await here.client.messages(hooked.session), here.host.root)
    expect(before.length).toBeGreaterThan(20)
    expect(differences(before, after)).toEqual([])
  },
  2 * PATIENCE_MS,
)

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

test(
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
    const wrong = await serveWorld({ plugin: [PLUGIN, { hudd: true, hud: { slot: "top" } }] })
    try {
      const toast = wrong.client.event((event) => event.type === "tui.toast.show")
      await converse(wrong, "Hello", [say("Hello.")])
      const { title, message, variant } = (await toast).properties
      expect({ title, variant }).toEqual({ title: "opencode-hudfold", variant: "warning" })
      expect(message).toContain("unknown option hudd; it is ignored. Known: enabled,")
      expect(message).toContain('got "top"; using "auto"')
    } finally {
      await wrong.close()
    }
  },
  PATIENCE_MS,
)
