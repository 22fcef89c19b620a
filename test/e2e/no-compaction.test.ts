// With OpenCode's compaction switched off, nothing else keeps a long session within the model's window.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { longWork, WORK_FILES } from "../opencode/long-work.ts"
import { EPISODE_CONFIG } from "../support/episodes.ts"
import { PLUGIN, type ServedWorld, say, serveWorld } from "../support/world.ts"

const LIMIT = { context: 32_000, output: 8_000 }
const MODEL = "scripted/small"
const PATIENCE_MS = 120_000

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({
    plugin: null,
    files: { ...WORK_FILES, "opencode.json": JSON.stringify({ plugin: [[PLUGIN, { deadlineMs: 5_000 }]] }) },
    models: [{ provider: "scripted", id: "small", npm: "@ai-sdk/openai-compatible", limit: LIMIT }],
    config: { ...EPISODE_CONFIG, compaction: { auto: false } },
  })
}, PATIENCE_MS)
afterAll(() => here.close())

/** The sizes of the requests of a session, answers included, in tokens. */
async function sizesOf(directory?: string): Promise<number[]> {
  const session = await here.client.create(directory ? { directory } : {})
  for (const { prompt, replies } of longWork(36)) {
    const waiting = [...replies]
    here.provider.play(({ caller }) => (caller === "main" ? (waiting.shift() ?? say("Done.")) : undefined), session)
    await here.client.prompt(session, prompt, { model: MODEL })
  }
  expect(here.provider.from("compaction", session)).toEqual([])
  const requests = here.provider.from("main", session)
  return requests.map(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite + usage.output)
}

test(
  "requests fit the model's window, which they outgrow without the plugin",
  async () => {
    const without = await sizesOf(here.host.addProject("bare", WORK_FILES))
    expect(Math.max(...without)).toBeGreaterThan(LIMIT.context)
    expect(Math.max(...(await sizesOf()))).toBeLessThan(LIMIT.context - LIMIT.output)
  },
  PATIENCE_MS,
)
