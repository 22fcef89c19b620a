// A plugin whose every hook fails, behind the real guard: OpenCode must not notice.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { fileURLToPath } from "node:url"
import { hudsOf, systemOf } from "../opencode/request.ts"
import { differences, outlineOf } from "../opencode/stored.ts"
import type { Reply } from "../opencode/wire.ts"
import { FAULTS } from "../support/faulty-plugin.ts"
import { withoutRare } from "../support/large.ts"
import { sample } from "../support/size.ts"
import {
  bash,
  COPILOT,
  converse,
  eventually,
  FILES,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  read,
  type ServedWorld,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

const FAULTY = fileURLToPath(new URL("../support/faulty-plugin.ts", import.meta.url))
const HOOKS = [
  "experimental.chat.messages.transform",
  "experimental.chat.system.transform",
  "experimental.session.compacting",
  "event",
]

let here: ServedWorld
let plain: Worked

beforeAll(async () => {
  here = await serveWorld({ plugin: null })
  plain = await workThrough("plain", {})
}, 2 * PATIENCE_MS)
afterAll(() => here.close())

function work(): Reply[] {
  return [use(read("alpha.txt")), use(bash("sh check")), say("It fails.")]
}

type Worked = { outline: string[]; failed: unknown[] }

/** A turn, a compaction and another turn in a project of its own, as OpenCode stored them. */
async function workThrough(name: string, config: object): Promise<Worked> {
  const directory = here.host.addProject(name, { ...FILES, "opencode.json": JSON.stringify(config) })
  const options = { directory, model: COPILOT }
  const { session, requests } = await converse(here, "Make the login test pass", work(), options)
  await here.client.summarize(session, OPENAI)
  const next = await converse(here, "Go on", [use(read("beta.txt")), say("Done.")], { ...options, session })
  expect(requests).toHaveLength(3)
  expect(next.requests).toHaveLength(2)
  for (const request of [...requests, ...next.requests]) {
    expect(hudsOf(request)).toEqual([])
    expect(systemOf(request.body)).not.toContain("<hud>")
  }
  const stored = await here.client.messages(session)
  return {
    outline: outlineOf(stored, directory),
    failed: stored.flatMap(({ info }) => (info.error ? [info.error] : [])),
  }
}

const daily = sample(
  FAULTS.map((fault) => [fault] as const),
  ["throws", "hangs"],
)
// what throws is the smaller fault
describe.each(withoutRare(daily, ["throws"]))("when every hook %s", (fault) => {
  test(
    "turns and compaction are the same as without a plugin, and the log names each hook once",
    async () => {
      const from = here.host.log().length
      const faulty = await workThrough(`faulty-${FAULTS.indexOf(fault)}`, { plugin: [[FAULTY, { fault }]] })
      expect(faulty.failed).toEqual([])
      expect(differences(plain.outline, faulty.outline)).toEqual([])
      for (const hook of HOOKS) {
        const said = new RegExp(`level=WARN .*\\b${hook} (failed|was not done)`, "g")
        const lines = await eventually(
          `a line about ${hook}`,
          () => here.host.log().slice(from).match(said) ?? undefined,
        )
        expect(lines).toHaveLength(1)
      }
    },
    2 * PATIENCE_MS,
  )
})

test(
  "a run ends by itself, with code 0 and a silent stderr, although every hook and dispose hang",
  async () => {
    const world = await openWorld({ plugin: [FAULTY, { fault: "hangs" }] })
    try {
      world.provider.play(work())
      const { exitCode, stderr, events } = await world.host.run("Make the login test pass")
      expect(exitCode).toBe(0)
      expect(stderr).toBe("")
      expect(events.filter((event) => event.type === "tool_use")).toHaveLength(2)
    } finally {
      await world.close()
    }
  },
  PATIENCE_MS,
)
