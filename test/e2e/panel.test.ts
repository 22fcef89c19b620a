// The panel, the prompt's line and the commands on the screen of the real OpenCode, in a terminal by tmux.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readStatus, statusFolder, writeStatus } from "../../src/status/files.ts"
import { environmentFor } from "../opencode/config.ts"
import { findOpencode } from "../opencode/host.ts"
import { hudsOf, resultsOf } from "../opencode/request.ts"
import { EAGER, FILES, look } from "../support/folds.ts"
import { plantSidecar } from "../support/sidecar.ts"
import { sample } from "../support/size.ts"
import { needsTmux, openTerminal, type Terminal } from "../support/tmux.ts"
import {
  bash,
  edit,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  say,
  use,
  type World,
  type WorldOptions,
} from "../support/world.ts"

/** The sources unless told otherwise, so that the built half can be put through the same tests. */
const PANEL = process.env.HUD_TUI ?? fileURLToPath(new URL("../../src/tui/plugin.tsx", import.meta.url))

setDefaultTimeout(2 * PATIENCE_MS)

const { run, named } = needsTmux()
const shown = run ? describe : describe.skip

/** A world with OpenCode's screen, before the first prompt. */
type Screen = World & { terminal: Terminal; ask(prompt: string, answer: string): Promise<void>; close(): Promise<void> }

async function openScreen(
  columns: number,
  options: WorldOptions & { program?: string; model?: string; env?: object } = {},
) {
  const world = await openWorld(options)
  const { host, provider } = world
  if (options.program)
    plantSidecar(host.root, {
      program: fileURLToPath(new URL(`../engine/fixtures/${options.program}.ts`, import.meta.url)),
      model: join(host.root, options.model ?? "tiny.gguf"),
    })
  writeFileSync(join(host.root, "config/opencode/tui.json"), JSON.stringify({ plugin: [PANEL] }))
  const terminal = openTerminal({
    command: [findOpencode()],
    env: { ...environmentFor(host.root), ...options.env },
    directory: host.project,
    columns,
    rows: 45,
  })
  const screen: Screen = {
    ...world,
    terminal,
    ask: async (prompt, answer) => {
      await terminal.type(prompt)
      terminal.press("Enter")
      await provider.received(({ caller, raw }) => caller === "main" && raw.includes(prompt), PATIENCE_MS)
      await terminal.until(answer)
    },
    close: async () => {
      terminal.close()
      await world.close()
    },
  }
  try {
    await terminal.until("Ask anything")
  } catch (cause) {
    await screen.close()
    throw cause
  }
  return screen
}

/** Runs a slash command: the list of commands offers it by its title first. */
async function command({ terminal }: Screen, slash: string, title: string): Promise<void> {
  await terminal.type(`/${slash}`)
  await terminal.until(new RegExp(`/${slash} +${title}`))
  terminal.press("Enter")
}

/** Closes the dialog that shows `sign`. Keys typed right after an escape would be read as part of an escape sequence. */
async function leave({ terminal }: Screen, sign: string): Promise<void> {
  terminal.press("Escape")
  await terminal.without(sign)
}

const LONG = Array.from({ length: 80 }, (_, n) => `route ${n}: handled by src/handlers/route-${n}.ts`).join("\n")

/** The sidebar's part of the screen, to the right of everything else. */
function sidebarOf(screen: string): string {
  return screen
    .split("\n")
    .map((line) => line.slice(118).trim())
    .join("\n")
}

shown(named("the panel"), () => {
  let here: Screen
  let isThere = false
  // the hub, which has every file, and the package registry, which never answers or has nothing
  const registry = createServer(({ method }, response) => {
    if (method === "HEAD") response.end()
    else if (!isThere) response.writeHead(404).end()
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve))
    const { port } = registry.address() as AddressInfo
    here = await openScreen(120, {
      plugin: EAGER,
      files: { ...FILES, check: 'echo "FAIL cart.test.ts: 3 is not 4"\nexit 1\n' },
      env: { npm_config_registry: `http://127.0.0.1:${port}/`, HF_ENDPOINT: `http://127.0.0.1:${port}` },
    })
  })
  afterAll(async () => {
    await here?.close()
    registry.closeAllConnections()
    registry.close()
  })

  describe("the short form, in a session begun at 120 columns", () => {
    test("before the first prompt the commands ask for a session", async () => {
      await command(here, "hud", "HUD of the next request")
      await here.terminal.until("Open a session first.")
    })

    test("shows the prompt's line, and the conversation goes on as usual", async () => {
      here.provider.play([use(bash("sh check")), say("It fails."), say("It still does.")])
      await here.ask("Run the check", "It fails.")
      await here.terminal.until(/ {4}hudfold 1 command failed$/m)
      await here.ask("Once more", "It still does.")
    })

    test("at 80 columns shows only what needs attention", async () => {
      here.terminal.resize(80, 45)
      await here.terminal.until(/ {4}hudfold 1 command failed$/m)
    })

    test("shows the panel as soon as there is room for the sidebar", async () => {
      here.terminal.resize(160, 45)
      // the check has only just failed
      await here.terminal.until("▼ HUD nothing to say yet", "1 open failure")
      await here.terminal.without("1 command failed")
    })
  })

  describe("in a new session, at 160 columns", () => {
    beforeAll(async () => {
      await command(here, "new", "New session")
      await here.terminal.until("Ask anything")
      here.provider.play([
        use(read("README.md")),
        use(bash("sh check")),
        ...[1, 2, 3, 4, 5, 6].map((number) => use(look(number))),
        use(edit("README.md", "# A project", "# The project")),
        say("All was looked at."),
      ])
      await here.ask("Look at the logs", "All was looked at.")
    })
    const lastRequest = () => here.provider.from("main").at(-1)!

    test("shows where the context is compacted, what is cached, saved and folded, failures and stale files", async () => {
      const screen = sidebarOf(
        await here.terminal.until(/\d+ (?:steps|outputs?) folded/, "1 open failure", "1 file edited since read"),
      )
      expect(screen).toMatch(/▼ HUD \d+ tokens/)
      expect(screen).toMatch(/^compacts at 192k$/m)
      expect(screen).toMatch(/^\d+% of the last call cached$/m)
      expect(screen).toMatch(/^saved \d+%, \$[\d.]+, [\d.]+k tokens$/m)
      expect(screen).toMatch(/^\d+ (?:steps?|outputs?)[\w, ]* folded, [\d.]+k less/m)
      expect(screen).toMatch(/^• 1 open failure\nsh check: FAIL cart\.test\.ts: 3 is$/m)
      expect(screen).toMatch(/^1 file edited since read\nREADME\.md/m)
      expect(screen).not.toContain("digests without a model")
    })

    test("no line is wider than the sidebar, and the panel is between OpenCode's own sections", async () => {
      const lines = here.terminal.text().split("\n")
      expect(lines.filter((line) => Bun.stringWidth(line) > 160)).toEqual([])
      expect(sidebarOf(lines.join("\n"))).toMatch(/Context[\s\S]+HUD[\s\S]+LSP/)
    })

    test("folds up at a click, and opens again", async () => {
      const rows = here.terminal.text().split("\n")
      const row = rows.findIndex((line) => line.includes("▼ HUD"))
      here.terminal.click(rows[row]!.indexOf("▼"), row)
      expect(await here.terminal.until("▶ HUD")).not.toContain("folded,")
      here.terminal.click(rows[row]!.indexOf("▼"), row)
      await here.terminal.until("▼ HUD", "folded,")
    })

    test("/hud shows the HUD that the next request carries", async () => {
      await command(here, "hud", "HUD of the next request")
      const screen = await here.terminal.until("<hud>", "</hud>")
      await leave(here, "</hud>")
      here.provider.play([say("It is so.")])
      await here.ask("Go on as before", "It is so.")
      const [hud = ""] = hudsOf(lastRequest()).slice(-1)
      const lines = hud.split("\n").filter((line) => /^(hudfold status|failing)/.test(line))
      expect(lines.length).toBeGreaterThan(1)
      for (const line of lines) expect(screen).toContain(line)
    })

    test("/hud-folds lists the folds with their reasons, finds one, and shows its whole original", async () => {
      const first = new Map(
        here.provider
          .from("main")
          .toReversed()
          .flatMap((request) => [...resultsOf(request)]),
      )
      const original = [...first.values()].find((text) => text.includes("step-1-1 took"))!
      await command(here, "hud-folds", "HUD: list what is folded")
      await here.terminal.until(/steps? 1/i, "cat logs/1.log", "read logs/2.log", /\dk less/)
      await here.terminal.type("logs/1")
      await here.terminal.without("read logs/2.log")
      here.terminal.press("Enter")
      await here.terminal.until("Open", "Unfold", "Pin", "enter chooses")
      here.terminal.press("Enter")
      const top = await here.terminal.until("cat logs/1.log", "output folded since call", "step-1-1 took")
      const lines = original.trimEnd().split("\n")
      for (const line of lines.slice(0, 10)) expect(top).toContain(line.replace("\t", "    ").trim())
      here.terminal.press("End")
      await here.terminal.until(lines.at(-1)!)
      here.terminal.press("Home")
      await here.terminal.until("step-1-1 took")
      await leave(here, "output folded since call")
    })

    test("a paused HUD is in no request until it is resumed, and the panel says so", async () => {
      await command(here, "hud-pause", "HUD: pause it")
      await here.terminal.until("carries none", "▼ HUD paused")
      here.provider.play([say("Without it.")])
      await here.ask("Go on without", "Without it.")
      expect(hudsOf(lastRequest())).toEqual([])
      await command(here, "hud", "HUD of the next request")
      await here.terminal.until("the HUD is paused in this session")
      await leave(here, "the HUD is paused in this session")

      await command(here, "hud-resume", "HUD: resume it")
      await here.terminal.until("the next request of this session", /▼ HUD \d+ tokens/)
      await command(here, "hud", "HUD of the next request")
      await here.terminal.until("hudfold status, call")
      await leave(here, "hudfold status, call")
      here.provider.play([say("With it.")])
      await here.ask("Go on with it", "With it.")
      expect(hudsOf(lastRequest())).toHaveLength(1)
    })

    test("with folding paused nothing more is folded, and existing folds stay", async () => {
      const folded = (text: string) =>
        [...text.matchAll(/folded (r[0-9a-z]{7}) · |kept by hudfold as a record/g)].map(([all]) => all)
      await command(here, "hud-fold-pause", "HUD: pause folding")
      await here.terminal.until("what is folded stays folded", "folding paused: ")
      const before = folded(lastRequest().raw)
      here.provider.play([...[7, 8, 9].map((number) => use(look(number))), say("Three more.")])
      await here.ask("Look at three more", "Three more.")
      expect(folded(lastRequest().raw)).toEqual(before)
      await command(here, "hud-fold-resume", "HUD: resume folding")
      await here.terminal.until("Folding is resumed")
      await here.terminal.without("folding paused: ")
    })

    test("/hud-status shows the whole status", async () => {
      await command(here, "hud-status", "HUD: status")
      await here.terminal.until(
        /opencode-hudfold \d+\.\d+/,
        "compacts at 192k",
        "sh check: FAIL cart.test.ts: 3 is not 4",
      )
      await leave(here, "sh check: FAIL cart.test.ts: 3 is not 4")
    })

    test("on a narrow terminal the status breaks between words", async () => {
      await command(here, "hud-status", "HUD: status")
      await here.terminal.until("compacts at 192k")
      here.terminal.resize(44, 45)
      await here.terminal.until(/sh check: FAIL cart\.test\.ts: 3$/m, /^ +is not 4$/m)
      here.terminal.resize(160, 45)
      await here.terminal.until("sh check: FAIL cart.test.ts: 3 is not 4")
      await leave(here, "sh check: FAIL cart.test.ts: 3 is not 4")
    })

    test("a fold whose original is gone says so", async () => {
      const folder = statusFolder(join(here.host.root, "data/opencode-hudfold"))
      const status = (await readStatus(folder, lastRequest().session))!
      const newest = status.folding.newest.map((fold) => ({ ...fold, messageID: "msg_000000000000AAAAAAAAAAAAAA" }))
      writeStatus(folder, { ...status, folding: { ...status.folding, newest } })
      await command(here, "hud-folds", "HUD: list what is folded")
      await here.terminal.until("enter shows what can be done")
      await here.terminal.type(newest[0]!.id)
      await here.terminal.without("· 1 step")
      here.terminal.press("Enter")
      await here.terminal.until("enter chooses")
      here.terminal.press("Enter")
      await here.terminal.until("The original no longer exists")
      await leave(here, "The original no longer exists")
      writeStatus(folder, status)
    })

    test("the palette has the commands too, and runs them", async () => {
      here.terminal.press("C-p")
      await here.terminal.until("Commands", "Search")
      await here.terminal.type("HUD:")
      await here.terminal.until(
        "HUD: pause it for this session",
        "HUD: pause folding for this session",
        "HUD: set up the local",
      )
      expect(here.terminal.text()).not.toContain("HUD: resume it")
      await leave(here, "HUD: pause it")
      here.terminal.press("C-p")
      await here.terminal.until("Commands", "Search")
      await here.terminal.type("list what")
      here.terminal.press("Enter")
      await here.terminal.until("enter shows what can be done")
      await leave(here, "enter shows what can be done")
    })

    test("at 120 columns the prompt's line shows a summary, and at 160 the panel is back", async () => {
      expect(here.terminal.text()).not.toContain("1 command failed")
      here.terminal.resize(120, 45)
      await here.terminal.until(/hudfold saved \d+% · \d+ steps?, \d+ outputs? folded · 1 command failed$/m)
      expect(here.terminal.text()).not.toContain("▼ HUD")
      here.terminal.resize(160, 45)
      await here.terminal.until("▼ HUD", "1 open failure")
      await here.terminal.without("1 command failed")
    })
  })

  describe("/hud-setup", () => {
    const open = async () => {
      await command(here, "hud-setup", "HUD: set up the local model")
      await here.terminal.until(
        "what setup would do",
        /engine: node-llama-cpp/,
        /about \d+ MB to/,
        /model: smollm2-135m, \d+ MB, licence Apache-2.0/,
        /memory: about \d+ MB while it works/,
        "enter start",
      )
    }

    test("shows what would be done, and does nothing on escape", async () => {
      await open()
      await leave(here, "enter start")
      expect(existsSync(join(here.host.root, "data/opencode-hudfold/sidecar"))).toBe(false)
    })

    test("stopped during a download, it ends cleanly and leaves nothing half done", async () => {
      isThere = true
      await open()
      here.terminal.press("Enter")
      await here.terminal.until("setting up", /engine: installing with \w+/)
      here.terminal.press("Escape")
      await here.terminal.until("Setup was stopped")
      expect(existsSync(join(here.host.root, "data/opencode-hudfold/sidecar"))).toBe(false)
    })

    test("shows why it failed", async () => {
      isThere = false
      await open()
      here.terminal.press("Enter")
      await here.terminal.until("not set up", /hudfold: .*(registry|404|not found)/i)
      await leave(here, "not set up")
    })
  })
})

shown(named("the panel shows the local model's state"), () => {
  const states: [string, string, RegExp][] = [
    ["ready", "plain", /fixture-1 on CPU(, \d waiting|, writing)?\n.*reads 10000, writes 1000 tokens\/s/],
    ["degraded, and why", "exits", /• fixture-1 degraded(, \d waiting)?\nthe sidecar went away \(exit code 3/],
    ["off, and why", "wrong-version", /• fixture-1 off(, \d waiting)?\nthe installed sidecar speaks/],
  ]
  test.concurrent.each(sample(states, ["degraded, and why"]))(
    "%s",
    async (_, program, said) => {
      const files = { ...FILES, "routes.txt": LONG, "jobs.txt": LONG.replaceAll("route", "job") }
      const here = await openScreen(160, {
        plugin: [PLUGIN, { digest: { backend: "llama" } }],
        files,
        program,
        model: "fixture-1.gguf",
      })
      try {
        here.provider.play([use(read("routes.txt")), use(read("jobs.txt")), { hang: true, text: "Still at it" }])
        await here.ask("Look at the routes", "Still at it")
        await here.terminal.until((screen) => said.test(sidebarOf(screen)))
      } finally {
        await here.close()
      }
    },
    2 * PATIENCE_MS,
  )
})
