// With OpenCode's compaction switched off, nothing else keeps a long session within the model's window.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { longWork, WORK_FILES } from "../opencode/long-work.ts"
import type { Reply } from "../opencode/wire.ts"
import { EPISODE_CONFIG } from "../support/episodes.ts"
import { testLarge } from "../support/large.ts"
import { PLUGIN, read, type ServedWorld, say, serveWorld, use } from "../support/world.ts"

const LIMIT = { context: 32_000, output: 8_000 }
const MODEL = "scripted/small"
const PATIENCE_MS = 120_000
const READS_PDFS = { attachment: true, modalities: { input: ["text", "pdf"], output: ["text"] } }

let here: ServedWorld

beforeAll(async () => {
  here = await serveWorld({
    plugin: null,
    files: {
      ...WORK_FILES,
      "opencode.json": JSON.stringify({
        plugin: [[PLUGIN, { deadlineMs: 5_000 }]],
        provider: { scripted: { models: { small: READS_PDFS } } },
      }),
    },
    models: [{ provider: "scripted", id: "small", npm: "@ai-sdk/openai-compatible", limit: LIMIT }],
    config: { ...EPISODE_CONFIG, compaction: { auto: false } },
  })
}, PATIENCE_MS)
afterAll(() => here.close())

/** The sizes of the requests of a session, answers included, in tokens. `look`: what the agent does first in later turns. */
async function sizesOf({ directory, steps = 36, look }: { directory?: string; steps?: number; look?: Reply } = {}) {
  const session = await here.client.create(directory ? { directory } : {})
  for (const [turn, { prompt, replies }] of longWork(steps).entries()) {
    const waiting = [...(look && turn > 0 ? [look] : []), ...replies]
    here.provider.play(({ caller }) => (caller === "main" ? (waiting.shift() ?? say("Done.")) : undefined), session)
    await here.client.prompt(session, prompt, { model: MODEL })
  }
  expect(here.provider.from("compaction", session)).toEqual([])
  const requests = here.provider.from("main", session)
  return requests.map(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite + usage.output)
}

testLarge(
  "without the plugin a session's requests outgrow the model's window",
  async () => {
    const sizes = await sizesOf({ directory: here.host.addProject("bare", WORK_FILES) })
    expect(Math.max(...sizes)).toBeGreaterThan(LIMIT.context)
  },
  PATIENCE_MS,
)

test(
  "requests fit the model's window, also with a PDF read after the first fold, whose tokens only the provider's reports tell",
  async () => {
    writeFileSync(join(here.host.project, "manual.pdf"), `%PDF-1.4\n${"\x07".repeat(27_000)}`)
    const sizes = await sizesOf({ steps: 60, look: use(read("manual.pdf")) })
    expect(Math.max(...sizes)).toBeLessThan(LIMIT.context - LIMIT.output)
  },
  PATIENCE_MS,
)
