// Makes the README's pictures of the panel, docs/images/panel.png and panel-120.png: the real OpenCode in a terminal by
// tmux, with a scripted session in which something is folded, fails and is stale, and its cells drawn by a browser.

import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { environmentFor } from "../test/opencode/config.ts"
import { createHost, findOpencode } from "../test/opencode/host.ts"
import { startProvider } from "../test/opencode/provider.ts"
import { FILES } from "../test/opencode/script.ts"
import type { Reply } from "../test/opencode/wire.ts"
import { launchBrowser } from "../test/support/browser.ts"
import { plantSidecar } from "../test/support/sidecar.ts"
import { openTerminal } from "../test/support/tmux.ts"
import { bash, edit, PLUGIN, read, say, todo, use } from "../test/support/world.ts"
import { pageOf } from "./terminal-page.ts"
import { TEST_MODEL } from "./test-model.ts"

const MOST_BYTES = 250_000
const PANEL = fileURLToPath(new URL("../src/tui/plugin.tsx", import.meta.url))
const images = fileURLToPath(new URL("../docs/images/", import.meta.url))
const MODEL = {
  provider: "scripted",
  id: "claude-sonnet-4-5",
  npm: "@ai-sdk/anthropic",
  limit: { context: 44_000, output: 8_000 },
} as const

const LOGS = ["orders", "payments", "stock", "mail", "search", "login", "basket", "images", "prices"]
/** A shop that has grown: its catalogue and the logs of a day. */
const PROJECT = {
  ...FILES,
  ...Object.fromEntries(LOGS.map((name) => [`logs/${name}.log`, log(name)])),
  "src/catalogue.js": catalogue(),
}

const TESTS = use(bash("node --test"))
const WORK: Reply[] = [
  use(
    todo(["find the slow orders", "completed"], ["correct the discount", "in_progress"], ["run all tests", "pending"]),
  ),
  ...LOGS.flatMap((name) => [
    use(bash(`grep -c WARN logs/${name}.log`)),
    use(read(`logs/${name}.log`)),
    use(bash(`grep slow logs/${name}.log`)),
  ]),
  use(read("src/catalogue.js")),
  use(read("src/price.js")),
  TESTS,
  use(bash("cat logs/orders.log")),
  use(read("src/catalogue.js")),
  use(edit("src/price.js", "cents - cents * percent", "cents - (cents * percent) / 100")),
  ...["WARN", "slow", "9[0-9][0-9] ms", "8[0-9][0-9] ms"].flatMap((what) =>
    LOGS.slice(0, 5).map((name) => use(bash(`grep "${what}" logs/${name}.log | tail -20`))),
  ),
  TESTS,
  say("The percentage was not divided by 100; one test still fails, for the rounding."),
]
/** Just wide enough for OpenCode to show its sidebar with room beside it. */
const COLUMNS = 130
const ROWS = 38
const PROMPT = "Orders are slow since the discounts went in. Find out why."

const hasModel = existsSync(TEST_MODEL)
const provider = await startProvider()
const host = createHost({
  ...{ opencode: findOpencode(), url: provider.url, models: [MODEL], files: PROJECT },
  plugin: [PLUGIN, { digest: { backend: hasModel ? "llama" : "extract" } }] as const,
})
if (hasModel) {
  // under the name that setup gives it
  const model = join(host.root, "smollm2-135m.gguf")
  symlinkSync(TEST_MODEL, model)
  plantSidecar(host.root, { model })
}
writeFileSync(join(host.root, "config/opencode/tui.json"), JSON.stringify({ plugin: [PANEL] }))
const terminal = openTerminal({
  ...{ command: [findOpencode()], directory: host.project, columns: COLUMNS, rows: ROWS },
  env: { ...environmentFor(host.root), NO_COLOR: "" },
})
const browser = await launchBrowser()
try {
  await terminal.until("Ask anything")
  provider.play(WORK.map((reply) => ({ ...reply, delayMs: 200 })))
  await terminal.type(PROMPT)
  terminal.press("Enter")
  await terminal.until("for the rounding", "1 open failure")
  await terminal.without("esc interrupt")
  mkdirSync(images, { recursive: true })
  await picture("panel.png", COLUMNS, ROWS)
  terminal.resize(120, 12)
  await terminal.until(/\d folds? ·/)
  await picture("panel-120.png", 120, 12)
} finally {
  terminal.close()
  await browser.close()
  await host.close()
  await provider.close()
}

async function picture(name: string, columns: number, rows: number): Promise<void> {
  const page = await browser.newPage({ deviceScaleFactor: 2 })
  await page.setContent(await pageOf(terminal.colours(), columns, rows))
  const path = join(images, name)
  await page.locator("pre").screenshot({ path })
  await page.close()
  const { size } = statSync(path)
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, expected at most ${MOST_BYTES}`)
  process.stdout.write(`${path}, ${Math.round(size / 1000)} kB\n`)
}

function log(name: string): string {
  return Array.from({ length: 160 }, (_, at) => {
    const took = (at * 7919 + name.length * 104729) % 997
    return `2026-11-02T10:${String(at % 60).padStart(2, "0")}:07Z ${name} request ${4000 + at} took ${took} ms${took > 950 ? " WARN slow" : ""}`
  }).join("\n")
}

function catalogue(): string {
  const items = Array.from(
    { length: 150 },
    (_, at) => `  { id: ${at}, name: "article ${at}", cents: ${(at * 37) % 9000} },`,
  )
  return `export const catalogue = [\n${items.join("\n")}\n]\n`
}
