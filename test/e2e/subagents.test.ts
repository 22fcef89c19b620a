// What subagents saved, in a process that did not see them.

import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { eventually, OPENAI, openWorld, PATIENCE_MS, read, say, use } from "../support/world.ts"

test(
  "counts in their parent's session also after a compaction that took away the calls that started them",
  async () => {
    const world = await openWorld()
    try {
      const { provider, host } = world
      const first = await host.serve()
      const session = await first.create()
      const brief = { description: "look", prompt: "look", subagent_type: "general" }
      provider.play([use(read("alpha.txt")), use({ name: "task", arguments: brief }), say("Done.")], session)
      await first.prompt(session, "Look at alpha, with a helper")
      expect(await first.children(session)).toHaveLength(1)
      await first.summarize(session, OPENAI)
      provider.play([say("Again.")], session)
      await first.prompt(session, "and again")
      await first.close()
      const folder = statusFolder(join(host.root, "data/opencode-hudfold"))
      rmSync(join(folder, `${session}.status.json`))
      const second = await host.serve()
      provider.play([say("And again.")], session)
      await second.prompt(session, "and once more")
      const counted = async () => (await readStatus(folder, session))?.saved.subagentCalls
      expect(await eventually("the subagent's calls", counted)).toBeGreaterThan(0)
    } finally {
      await world.close()
    }
  },
  2 * PATIENCE_MS,
)
