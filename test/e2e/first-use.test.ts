// The first use on the screen of the real OpenCode, from the installation to the first fold, unfolding and pinning. What hudfold
// shows at four widths is kept in first-use.txt; `HUDFOLD_WRITE=1 bun test` writes it again. Numbers, ids and bars, which
// depend on the machine, are replaced.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { environmentFor } from "../opencode/config.ts"
import { findOpencode } from "../opencode/host.ts"
import { FILES, look } from "../support/folds.ts"
import { needsTmux, openTerminal, type Terminal } from "../support/tmux.ts"
import { bash, openWorld, PATIENCE_MS, read, say, use, type World } from "../support/world.ts"

setDefaultTimeout(4 * PATIENCE_MS)

const WIDTHS = [160, 120, 90, 70]
const ROWS = 45
/** OpenCode's sidebar begins here at 160 columns. */
const SIDEBAR = 118
const GOLDEN = fileURLToPath(new URL("./first-use.txt", import.meta.url))
const root = fileURLToPath(new URL("../..", import.meta.url))
const { run: isShown, named } = needsTmux()
const shown = isShown ? test : test.skip

let world: World
let terminal: Terminal
const screens: string[] = []

beforeAll(async () => {
  if (!isShown) return
  world = await openWorld({
    plugin: null,
    files: { ...FILES, check: 'echo "FAIL cart.test.ts: 3 is not 4"\nexit 1\n' },
  })
  const { root: hostRoot, project } = world.host
  const env = { ...environmentFor(hostRoot), PWD: project }
  await promisify(execFile)(findOpencode(), ["plugin", root], { cwd: project, env })
  terminal = openTerminal({ command: [findOpencode()], env, directory: project, columns: 160, rows: ROWS })
  await terminal.until("Ask anything")
})
afterAll(async () => {
  terminal?.close()
  await world?.close()
})

async function ask(prompt: string, answer: string): Promise<void> {
  await terminal.type(prompt)
  terminal.press("Enter")
  await terminal.until(answer)
  await terminal.without("esc interrupt")
}

async function command(slash: string): Promise<void> {
  await terminal.type(`/${slash}`)
  await terminal.until(new RegExp(`/${slash} +HUD`))
  terminal.press("Enter")
}

/** What depends on the machine, and the spaces that make room for it. */
function steady(text: string): string {
  return text
    .replace(/\br[0-9a-z]{7}\b/g, "<id>")
    .replace(/\d+(?:[.,]\d+)*[kM]?/g, "0")
    .replace(/ {3,}/g, "  ")
    .trimEnd()
}

/** How often in a row the screen must be the same: OpenCode draws in several steps. */
const SAME = 4

/** What a part of the screen shows once it is there and no longer changes. */
async function settled(part: (screen: string, columns: number) => string, columns = 160): Promise<string> {
  let before = ""
  let same = 0
  await terminal.until((screen) => {
    const now = part(screen, columns)
    same = now === before ? same + 1 : 0
    before = now
    return now !== "" && same >= SAME
  })
  return before
}

async function keep(name: string, part: (screen: string, columns: number) => string): Promise<void> {
  for (const columns of WIDTHS) {
    terminal.resize(columns, ROWS)
    screens.push(`--- ${name}, ${columns} columns`, await settled(part, columns), "")
  }
  terminal.resize(160, ROWS)
  await settled(part)
}

/** The panel where the sidebar is shown, else the summary beside the prompt. */
function panelOf(screen: string, columns: number): string {
  const lines = screen.split("\n")
  if (columns < 160) {
    const line = lines.findLast((one) => one.includes("hudfold "))
    return line === undefined ? "" : steady(line.slice(line.indexOf("hudfold ")))
  }
  const bar = lines.map((line) => line.slice(SIDEBAR).trim())
  const from = bar.findIndex((line) => /^[▼▶] HUD/.test(line))
  const to = bar.findIndex((line, at) => at > from && line === "")
  return bar.slice(from, to).map(steady).join("\n")
}

/** The rows of a large dialog from its title on, as far as `last`. */
function dialogOf(title: string, last: RegExp) {
  return (screen: string, columns: number): string => {
    const width = Math.min(88, columns - 2)
    const left = Math.floor((columns - width) / 2)
    const rows = screen.split("\n").map((line) => line.slice(left, left + width).trim())
    const from = rows.findIndex((row) => row.startsWith(title))
    const to = rows.findLastIndex((row) => last.test(row))
    return rows
      .slice(from, to + 1)
      .map(steady)
      .join("\n")
  }
}

shown(named("from the installation to the first fold, unfolding and pinning"), async () => {
  world.provider.play([use(read("README.md")), use(bash("sh check")), say("It fails.")])
  await ask("Run the check", "It fails.")
  await terminal.until("watching; nothing folded yet")
  await keep("before the first fold", panelOf)

  world.provider.play([...Array.from({ length: 24 }, (_, at) => use(look(at + 1))), say("All was looked at.")])
  await ask("Look at the logs", "All was looked at.")
  await terminal.until(/\d+ steps? folded|\d+ steps?, \d+ outputs? folded|saved \d+%/)
  await keep("after it", panelOf)

  await command("hud-compact")
  await terminal.until("Folded with the next request: ")
  world.provider.play([say("It is so.")])
  await ask("Go on", "It is so.")

  await command("hud-folds")
  await terminal.until("enter shows what can be done")
  await keep("/hud-folds", dialogOf("Folded", /\dk? less$|tokens$/))
  await terminal.type("steps 1")
  await terminal.until(/steps 1-\d+ · \d+ steps/)
  await settled((screen) => screen)
  terminal.press("Enter")
  await terminal.until("Episode: steps 1-", "Unfold", "Pin")
  screens.push("--- an episode", await settled(dialogOf("Episode", /\bless$/)), "")
  await terminal.type("Unfold")
  await terminal.without("Pin ")
  terminal.press("Enter")
  await terminal.until("Sent whole from the next request on, for 12 calls")
  const before = world.provider.from("main").at(-1)?.raw ?? ""
  world.provider.play([say("Seen again.")])
  await ask("And again", "Seen again.")
  const after = world.provider.from("main").at(-1)?.raw ?? ""
  expect(before).toMatch(/Steps 1-\d+ of this session, kept by hudfold as a record/)
  expect(after).not.toMatch(/Steps? 1(?:-\d+)? of this session, kept by hudfold as a record/)

  await command("hud-folds")
  await terminal.until("enter shows what can be done")
  await terminal.type("README")
  await terminal.until("step 1 read README.md", "you keep it whole")
  terminal.press("Enter")
  await terminal.until("Release", "Fold now")
  screens.push("--- a step that is kept whole", await settled(dialogOf("step", /^Release/)), "")
  terminal.press("Enter")
  await terminal.until("Folded with the next request")

  // the same texts in light, in other colours
  const dark = terminal.colours()
  terminal.press("C-p")
  await terminal.until("Commands", "Search")
  await terminal.type("light mode")
  terminal.press("Enter")
  await terminal.without("Commands")
  await keep("in light", panelOf)
  const colours = (text: string) => new Set(text.match(/38;2;\d+;\d+;\d+/g))
  expect([...colours(terminal.colours())].sort()).not.toEqual([...colours(dark)].sort())

  const text = `${screens.join("\n").trimEnd()}\n`
  if (process.env.HUDFOLD_WRITE === "1") writeFileSync(GOLDEN, text)
  expect(text).toBe(readFileSync(GOLDEN, "utf8"))
})
