// What the plugin adds to `opencode run`: the same one-answer session with a plugin that does nothing and with this one, in
// blocks of four runs (nothing, this, this, nothing) to cancel drift and order effects, after one block to warm up. Prints
// the medians of wall time and processor time, and the median and quartiles of the blocks' differences, which are the
// noise. `bun bench/startup.ts [BLOCKS]`, by default 10. It measures the built plugin, so build first.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { environmentFor } from "../test/opencode/config.ts"
import { createHost, findOpencode, type Host } from "../test/opencode/host.ts"
import { startProvider } from "../test/opencode/provider.ts"
import { median, numbersGiven } from "./sessions.ts"

type Sample = { wallMs: number; cpuMs: number }

const [blocks] = numbersGiven("bun bench/startup.ts [BLOCKS]", [10])
const opencode = findOpencode()
const provider = await startProvider(() => ({ text: "done" }))
const folder = mkdtempSync(join(tmpdir(), "hud-startup-"))
const nothing = join(folder, "nothing.js")
writeFileSync(nothing, 'export default { id: "nothing", server: async () => ({}) }\n')
const plugin = fileURLToPath(new URL("../dist/plugin.js", import.meta.url))
const without = createHost({ opencode, url: provider.url, plugin: nothing })
const with_ = createHost({ opencode, url: provider.url, plugin })

async function sample({ root, project }: Host): Promise<Sample> {
  const started = performance.now()
  const child = Bun.spawn([opencode, "run", "--format", "json", "say done"], {
    cwd: project,
    env: { ...environmentFor(root), PWD: project },
    stdin: "ignore",
    stdout: Bun.file(join(root, "stdout")),
    stderr: Bun.file(join(root, "stderr")),
  })
  const exitCode = await child.exited
  const wallMs = performance.now() - started
  if (exitCode !== 0)
    throw new Error(`opencode run ended with ${exitCode}: ${await Bun.file(join(root, "stderr")).text()}`)
  return { wallMs, cpuMs: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000 }
}

type Block = { bare: Sample[]; loaded: Sample[] }
const measured: Block[] = []
try {
  for (let n = -1; n < blocks; n++) {
    const first = await sample(without)
    const loaded = [await sample(with_), await sample(with_)]
    if (n >= 0) measured.push({ bare: [first, await sample(without)], loaded })
  }
} finally {
  await Promise.all([without.close(), with_.close()])
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
}

const mean = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / values.length
for (const [name, key] of [
  ["wall", "wallMs"],
  ["processor", "cpuMs"],
] as const) {
  const times = (samples: readonly Sample[]) => samples.map((sample) => sample[key])
  const without = median(measured.flatMap(({ bare }) => times(bare)))
  const with_ = median(measured.flatMap(({ loaded }) => times(loaded)))
  const added = measured.map(({ bare, loaded }) => mean(times(loaded)) - mean(times(bare))).sort((a, b) => a - b)
  const at = (share: number) => added[Math.floor(share * (added.length - 1))] ?? 0
  const [a, b, c, low, high] = [without, with_, median(added), at(0.25), at(0.75)].map((ms) => `${ms.toFixed(0)} ms`)
  process.stdout.write(
    `opencode run, ${blocks} blocks, ${name} time: with nothing ${a}, with hudfold ${b}, added ${c} (quartiles ${low}, ${high})\n`,
  )
}
