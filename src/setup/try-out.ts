// One digest of a sample through the real sidecar and a model, started as the plugin starts it: says on what it ran and
// how fast, and judges whether that will do.

import type { DigestSource } from "../core/digest.ts"
import { extract } from "../core/extract/extract.ts"
import { ground } from "../core/ground.ts"
import { promptFor } from "../core/prompt.ts"
import type { Capabilities, GpuChoice } from "../protocol/messages.ts"
import { SidecarError } from "../sidecar/errors.ts"
import { findCommand } from "../sidecar/find.ts"
import type { ModelRecord, Places } from "../sidecar/installed.ts"
import { launchSpec } from "../sidecar/launch.ts"
import { beginLife, LIFE_TIMES } from "../sidecar/life.ts"
import { predictMs, tooSlow } from "../sidecar/speed.ts"
import { SetupError } from "./errors.ts"
import type { Environment } from "./hub.ts"

export type Trial = {
  capabilities: Capabilities
  /** of the one digest */
  promptTokens: number
  outputTokens: number
  elapsedMs: number
  /** its one sentence; undefined when nothing of it stood in the sample */
  gist: string | undefined
  /** `fits`: it keeps up; `slow`: digests come late, and of long outputs only of parts */
  verdict: "fits" | "slow"
  /** why, in a sentence */
  words: string
}

const CONTEXT_TOKENS = 4096
const BUDGET_TOKENS = 400
/** A long tool output and its digest, and what waiting for it is still of use. */
const LONG = { inTokens: 2000, outTokens: 80, withinMs: 10_000 }

export type TryOutOptions = { gpu: GpuChoice; version: string; env?: Environment; signal: AbortSignal }

/** Rejects with TRIAL_FAILED, also for a model too slow to be used, or with the signal's reason. Leaves no process. */
export async function tryOut(
  { main }: Places,
  model: ModelRecord,
  { gpu, version, env = process.env, signal }: TryOutOptions,
): Promise<Trial> {
  const failed = (what: string, cause?: unknown) =>
    new SetupError("TRIAL_FAILED", `the trial of ${model.name} failed: ${what}`, { cause })
  const find = (name: string) => findCommand(name, env)
  const spec = launchSpec({
    // what the plugin will run it with, where it can be found
    runtime: find("opencode") ? "opencode" : "auto",
    execPath: process.execPath,
    hostIsBun: process.versions.bun !== undefined,
    main,
    env,
    platform: process.platform,
    find,
  })
  if ("reason" in spec) throw failed(spec.reason)
  const prompt = promptFor(SAMPLE, { budgetTokens: BUDGET_TOKENS })
  const load = {
    modelPath: model.path,
    gpu,
    contextTokens: CONTEXT_TOKENS,
    threads: 0,
    memoryBytes: 0,
    instruction: prompt.instruction,
  }
  try {
    const life = await beginLife({ spec, load, version, holdsHost: true, times: LIFE_TIMES, onLog: () => {} }, signal)
    try {
      const slow = tooSlow(life.capabilities)
      if (slow) throw failed(slow)
      const { structured, usage, elapsedMs } = await life.write(prompt, signal)
      const { digest, refused } = ground(structured, SAMPLE, extract(SAMPLE))
      const { promptTokens, outputTokens } = usage
      const gist = refused ? undefined : digest.gist
      return {
        capabilities: life.capabilities,
        promptTokens,
        outputTokens,
        elapsedMs,
        gist,
        ...judge(life.capabilities),
      }
    } finally {
      await life.end()
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof SidecarError) throw failed(cause.message, cause)
    throw cause
  }
}

function judge(capabilities: Capabilities): Pick<Trial, "verdict" | "words"> {
  const longMs = predictMs(capabilities, LONG.inTokens, LONG.outTokens)
  const time = `${Math.round(longMs / 1000)} s for a tool output of ${LONG.inTokens} tokens`
  if (longMs <= LONG.withinMs) return { verdict: "fits", words: `it fits this machine: about ${time}` }
  const words = `it is slow on this machine: about ${time}, so that of long outputs it will read only parts`
  return { verdict: "slow", words: `${words}; \`opencode-hud model list\` says what others need` }
}

const SAMPLE: DigestSource = {
  tool: "bash",
  kind: "command",
  input: { command: "npm test", description: "Runs the tests" },
  failed: false,
  exit: 1,
  output: `> shop@2.4.0 test
> vitest run

 RUN  v3.2.4 /home/user/shop

 ✓ src/catalogue/search.test.ts (18 tests) 214ms
 ✓ src/catalogue/filter.test.ts (9 tests) 88ms
 ✓ src/basket/basket.test.ts (24 tests) 131ms
 ❯ src/checkout/total.test.ts (12 tests | 2 failed) 97ms
   × total > adds the shipping of two parcels 14ms
     → expected 1290 to be 1780 // Object.is equality
   × total > takes the voucher off before tax 9ms
     → expected 4165 to be 4046 // Object.is equality
 ✓ src/checkout/address.test.ts (7 tests) 41ms

 FAIL  src/checkout/total.test.ts > total > adds the shipping of two parcels
AssertionError: expected 1290 to be 1780 // Object.is equality
 ❯ src/checkout/total.test.ts:57:31
     55|     const order = orderOf([book, lamp], { parcels: 2 })
     56|
     57|     expect(totalOf(order).cents).toBe(1780)
       |                               ^

 FAIL  src/checkout/total.test.ts > total > takes the voucher off before tax
AssertionError: expected 4165 to be 4046 // Object.is equality
 ❯ src/checkout/total.test.ts:83:31

 Test Files  1 failed | 4 passed (5)
      Tests  2 failed | 68 passed (70)
   Duration  2.31s
`,
}
