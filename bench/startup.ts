// What the plugin adds to `opencode run`, measured in pairs: the same one-answer session without and with it, in turn
// and in changing order, after one pair to warm up. Prints the medians, and the median of the pairs' differences, of the
// time on the wall and of processor time, which other programs disturb less.
// `bun bench/startup.ts [PAIRS]`, 20 pairs unless told otherwise. Build first: the built plugin is what is measured.

import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { environmentFor } from "../src/demo/config.ts"
import { createHost, findOpencode, type Host } from "../src/demo/host.ts"
import { startProvider } from "../src/demo/provider.ts"

type Sample = { wallMs: number; cpuMs: number }

const pairs = Number(process.argv[2] ?? 20)
const opencode = findOpencode()
const provider = await startProvider(() => ({ text: "done" }))
const plugin = fileURLToPath(new URL("../dist/plugin.js", import.meta.url))
const without = createHost({ opencode, url: provider.url })
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

const samples: [Sample, Sample][] = []
try {
  for (let pair = -1; pair < pairs; pair++) {
    const first = pair % 2 === 0 ? await sample(without) : undefined
    const loaded = await sample(with_)
    const bare = first ?? (await sample(without))
    if (pair >= 0) samples.push([bare, loaded])
  }
} finally {
  await Promise.all([without.close(), with_.close()])
  await provider.close()
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
for (const [name, key] of [
  ["wall", "wallMs"],
  ["processor", "cpuMs"],
] as const) {
  const [bare, loaded, added] = [
    samples.map(([sample]) => sample[key]),
    samples.map(([, sample]) => sample[key]),
    samples.map(([one, other]) => other[key] - one[key]),
  ].map((values) => `${median(values).toFixed(0)} ms`)
  process.stdout.write(`opencode run, ${pairs} pairs, ${name} time: without ${bare}, with ${loaded}, added ${added}\n`)
}
