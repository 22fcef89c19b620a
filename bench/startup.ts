// What the plugin adds to `opencode run`, measured in pairs: the same one-answer session without and with it, in turn,
// after one pair to warm up. Prints the medians and the median of the pairs' differences, in milliseconds.
// `bun bench/startup.ts [PAIRS]`, 15 pairs unless told otherwise; build first, the built plugin is what is measured.

import { fileURLToPath } from "node:url"
import { createHost, findOpencode } from "../src/demo/host.ts"
import { startProvider } from "../src/demo/provider.ts"

const pairs = Number(process.argv[2] ?? 15)
const plugin = fileURLToPath(new URL("../dist/plugin.js", import.meta.url))
const provider = await startProvider(() => ({ text: "done" }))
const common = { opencode: findOpencode(), url: provider.url }
const hosts = [createHost(common), createHost({ ...common, plugin })]

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const times: number[][] = [[], []]
try {
  for (let pair = -1; pair < pairs; pair++) {
    for (const [i, host] of hosts.entries()) {
      const started = performance.now()
      const { exitCode, stderr } = await host.run("say done")
      if (exitCode !== 0) throw new Error(`opencode run ended with ${exitCode}: ${stderr}`)
      if (pair >= 0) times[i]?.push(performance.now() - started)
    }
  }
} finally {
  await Promise.all(hosts.map((host) => host.close()))
  await provider.close()
}
const [without = [], with_ = []] = times
const added = with_.map((ms, i) => ms - (without[i] ?? 0))
const show = (ms: number) => `${ms.toFixed(0)} ms`
process.stdout.write(
  `opencode run, ${pairs} pairs: without ${show(median(without))}, with ${show(median(with_))}, added ${show(median(added))}\n`,
)
