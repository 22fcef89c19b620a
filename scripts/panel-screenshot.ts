// Takes the pictures of the panel and of the summary beside the prompt, docs/images/panel.png and panel-120.png: runs the
// real OpenCode in tmux, with a scripted session that has folds, a failure and a stale file, and draws the terminal's cells
// in a browser.

import { mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Terminal } from "@xterm/headless"
import { environmentFor } from "../test/opencode/config.ts"
import { createHost, findOpencode } from "../test/opencode/host.ts"
import { startProvider } from "../test/opencode/provider.ts"
import { FILES } from "../test/opencode/script.ts"
import type { Reply } from "../test/opencode/wire.ts"
import { launchBrowser } from "../test/support/browser.ts"
import { openTerminal } from "../test/support/tmux.ts"
import { bash, edit, PLUGIN, read, say, todo, use } from "../test/support/world.ts"

const MAX_BYTES = 250_000
const PANEL = fileURLToPath(new URL("../src/tui/plugin.tsx", import.meta.url))
/** Size of a terminal cell, in pixels. */
const CELL = { width: 8, height: 17 }
const images = fileURLToPath(new URL("../docs/images/", import.meta.url))
/** With its real limits: where OpenCode compacts decides what counts as saved. */
const MODEL = {
  provider: "scripted",
  id: "claude-sonnet-4-5",
  npm: "@ai-sdk/anthropic",
  limit: { context: 200_000, output: 64_000 },
} as const

const LOGS = ["orders", "payments", "stock", "mail", "search", "login", "basket", "images", "prices"]
/** The demo's shop with a large catalogue and a day's logs. */
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
/** Wide enough for OpenCode to show its sidebar. */
const COLUMNS = 130
const ROWS = 38
const SETTLED_MS = 3_000
const PROMPT = "Orders are slow since the discounts went in. Find out why."

const provider = await startProvider()
const host = createHost({
  ...{ opencode: findOpencode(), url: provider.url, models: [MODEL], files: PROJECT },
  // without a model, whose speed would show on the pictures
  plugin: [PLUGIN, { digest: { backend: "extract" } }] as const,
})
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
  // the last call's usage is reported after its text
  await delay(SETTLED_MS)
  mkdirSync(images, { recursive: true })
  await picture("panel.png", COLUMNS, ROWS)
  terminal.resize(120, 12)
  await terminal.until(/folded ·/)
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
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, expected at most ${MAX_BYTES}`)
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

/** A page with one `pre` as large as the screen. `text` has the screen's lines with colours as escape sequences. */
async function pageOf(text: string, columns: number, rows: number): Promise<string> {
  const screen = new Terminal({ cols: columns, rows, allowProposedApi: true })
  const lines = text.split("\n").slice(0, rows).join("\r\n")
  await new Promise<void>((resolve) => screen.write(lines, resolve))
  const cells = Array.from({ length: rows * columns }, (_, at) => {
    const cell = screen.buffer.active.getLine(Math.floor(at / columns))?.getCell(at % columns)
    if (!cell || cell.getWidth() === 0) return ""
    const char = cell.getChars() || " "
    const colour = cell.isFgRGB() ? hex(cell.getFgColor()) : "#eeeeee"
    const ground = cell.isBgRGB() ? hex(cell.getBgColor()) : "transparent"
    const block = blockOf(char, colour, ground)
    const style = [
      `left:${(at % columns) * CELL.width}px;top:${Math.floor(at / columns) * CELL.height}px`,
      `width:${cell.getWidth() * CELL.width}px;color:${colour};background:${block ?? ground}`,
      ...(cell.isBold() ? ["font-weight:bold"] : []),
    ]
    return `<i style="${style.join(";")}">${block ? "" : escaped(char)}</i>`
  })
  screen.dispose()
  return `<style>
    pre { position: relative; margin: 0; background: #0a0a0a; font: 13px/${CELL.height}px "DejaVu Sans Mono", monospace;
      width: ${columns * CELL.width}px; height: ${rows * CELL.height}px; overflow: hidden; }
    i { position: absolute; font-style: normal; height: ${CELL.height}px; white-space: pre; }
  </style><pre>${cells.join("")}</pre>`
}

/** Block characters as backgrounds, because a terminal fills the cell with them whatever the font. */
function blockOf(text: string, colour: string, ground: string): string | undefined {
  const part = (to: string, eighths: number) =>
    `linear-gradient(to ${to}, ${colour} ${eighths * 12.5}%, ${ground} ${eighths * 12.5}%)`
  const up = "▁▂▃▄▅▆▇█".indexOf(text)
  if (up >= 0) return part("top", up + 1)
  const across = "▏▎▍▌▋▊▉".indexOf(text)
  if (across >= 0) return part("right", across + 1)
  return text === "▀" ? part("bottom", 4) : undefined
}

function hex(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)
}
