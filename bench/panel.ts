// The cost of the panel while nothing changes: two OpenCodes run at the same time, each with the plugin and an idle session,
// one of them with the panel. Prints medians, and medians of the differences, of processor time, read calls and bytes
// written. `bun bench/panel.ts [ROUNDS] [SECONDS]`, by default 5 rounds of 20 s. Linux with tmux; runs on the sources.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { environmentFor } from "../test/opencode/config.ts"
import { findOpencode } from "../test/opencode/host.ts"
import { openTerminal, type Terminal } from "../test/support/tmux.ts"
import { bash, openWorld, read, say, use, type World } from "../test/support/world.ts"
import { median, numbersGiven } from "./sessions.ts"

type Sample = { cpuMs: number; reads: number; written: number }
type Screen = { world: World; terminal: Terminal }

const PANEL = fileURLToPath(new URL("../src/tui/plugin.tsx", import.meta.url))
/** The unit of times in /proc; the same on all common Linux systems. */
const TICK_MS = 10
/** Until the toasts and OpenCode's own work after a turn are over. */
const SETTLE_MS = 20_000

const [rounds, seconds] = numbersGiven("bun bench/panel.ts [ROUNDS] [SECONDS]", [5, 20])

async function open(plugin: readonly string[], sign: string): Promise<Screen> {
  const world = await openWorld()
  const { host, provider } = world
  writeFileSync(join(host.root, "config/opencode/tui.json"), JSON.stringify({ plugin }))
  const terminal = openTerminal({
    ...{ command: [findOpencode()], directory: host.project, columns: 160, rows: 45 },
    env: environmentFor(host.root),
  })
  await terminal.until("Ask anything")
  provider.play([use(read("README.md")), use(bash("sh check")), say("All was looked at.")])
  await terminal.type("Look at it")
  terminal.press("Enter")
  await terminal.until("All was looked at.", sign)
  return { world, terminal }
}

function countersOf(pid: number): Sample {
  // the process name in parentheses may contain spaces
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  const io = new Map([...readFileSync(`/proc/${pid}/io`, "utf8").matchAll(/(\w+): (\d+)/g)].map(([, k, v]) => [k, v]))
  return {
    cpuMs: (Number(stat[11]) + Number(stat[12])) * TICK_MS,
    reads: Number(io.get("syscr")),
    written: Number(io.get("wchar")),
  }
}

function between(before: Sample, after: Sample): Sample {
  const { cpuMs, reads, written } = before
  return { cpuMs: after.cpuMs - cpuMs, reads: after.reads - reads, written: after.written - written }
}

const screens: Screen[] = []
const bare: Sample[] = []
const loaded: Sample[] = []
try {
  screens.push(await open([], "LSP"), await open([PANEL], "1 open failure"))
  await Bun.sleep(SETTLE_MS)
  for (let n = 0; n < rounds; n++) {
    const before = screens.map(({ terminal }) => countersOf(terminal.pid))
    await Bun.sleep(seconds * 1000)
    const [without, with_] = screens.map(({ terminal }, at) => between(before[at]!, countersOf(terminal.pid)))
    bare.push(without!)
    loaded.push(with_!)
  }
} finally {
  for (const { world, terminal } of screens) {
    terminal.close()
    await world.close()
  }
}

for (const [name, key, unit] of [
  ["processor time", "cpuMs", "ms"],
  ["reads", "reads", "calls"],
  ["written", "written", "bytes"],
] as const) {
  const of = (samples: readonly Sample[]) => samples.map((sample) => sample[key])
  const added = median(of(loaded).map((value, at) => value - (of(bare)[at] ?? 0)))
  const [a, b, c] = [median(of(bare)), median(of(loaded)), added].map((value) => `${value} ${unit}`)
  process.stdout.write(`idle for ${seconds} s, ${rounds} rounds, ${name}: without ${a}, with ${b}, added ${c}\n`)
}
