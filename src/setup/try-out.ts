// One digest of a sample through the real sidecar and a model, started as the plugin starts it: says on what it ran and
// how fast, and judges whether that will do.

import { CONTEXT_TOKENS } from "../digest/backends/llama.ts"
import { extract } from "../digest/extract/extract.ts"
import { ground } from "../digest/ground/ground.ts"
import { promptFor } from "../digest/prompt.ts"
import { SidecarError } from "../engine/errors.ts"
import { findCommand } from "../engine/find.ts"
import { type ModelRecord, type Places, sharedIn } from "../engine/installed.ts"
import { launchSpec } from "../engine/launch.ts"
import { beginLife, LIFE_TIMES } from "../engine/life.ts"
import { predictMs, tooSlow } from "../engine/speed.ts"
import type { Capabilities, GpuChoice } from "../engine/wire/messages.ts"
import type { DigestSource } from "../output/digest.ts"
import { SetupError } from "./errors.ts"
import type { Environment } from "./hub.ts"

export type Trial = {
  capabilities: Capabilities
  /** of the one digest */
  promptTokens: number
  outputTokens: number
  elapsedMs: number
  /** what it makes of the sample; undefined when the sample does not bear it out */
  gist: string | undefined
  /** `fits`: it keeps up; `slow`: digests come late, and of long outputs only of parts */
  verdict: "fits" | "slow"
  /** why, in a sentence */
  words: string
}

const BUDGET_TOKENS = 400
/** A long tool output and its digest, and what waiting for it is still of use. */
const LONG = { inTokens: 2000, outTokens: 80, withinMs: 10_000 }

export type TryOutOptions = { gpu: GpuChoice; version: string; env?: Environment; signal: AbortSignal }

/** Rejects with TRIAL_FAILED, also for a model too slow to be used, or with the signal's reason. Leaves no process. */
export async function tryOut(
  places: Places,
  model: ModelRecord,
  { gpu, version, env = process.env, signal }: TryOutOptions,
): Promise<Trial> {
  const failed = (what: string, cause?: unknown) =>
    new SetupError("TRIAL_FAILED", `the trial of ${model.name} failed: ${what}`, { cause })
  const shared = sharedIn(places)
  if (shared !== undefined) throw failed(shared)
  const find = (name: string) => findCommand(name, env)
  const spec = launchSpec({
    // what the plugin will run it with, where it can be found
    runtime: find("opencode") ? "opencode" : "auto",
    execPath: process.execPath,
    hostIsBun: process.versions.bun !== undefined,
    main: places.main,
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
      const { digest, gistRefused } = ground(structured, SAMPLE, extract(SAMPLE))
      const { promptTokens, outputTokens } = usage
      const gist = gistRefused === undefined ? digest.gist : undefined
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

/** Whether measured speeds keep up with an agent. */
export function judge(speeds: Parameters<typeof predictMs>[0]): Pick<Trial, "verdict" | "words"> {
  const longMs = predictMs(speeds, LONG.inTokens, LONG.outTokens)
  const time = `${Math.round(longMs / 1000)} s for a tool output of ${LONG.inTokens} tokens`
  if (longMs <= LONG.withinMs) return { verdict: "fits", words: `it fits this machine: about ${time}` }
  const words = `it is slow on this machine: about ${time}, so that of long outputs it will read only parts`
  return { verdict: "slow", words: `${words}; \`hudfold model list\` says what others need` }
}

/** A page, since pages are what a model is asked about: of a test run code says as much. */
const SAMPLE: DigestSource = {
  tool: "webfetch",
  kind: "web",
  input: { url: "https://shop.example/docs/vouchers" },
  failed: false,
  output: `# Vouchers

A voucher takes a fixed amount or a percentage off an order. Vouchers are applied before tax and after discounts, and an
order can have three vouchers at most.

## Create a voucher

Send a POST request to /v2/vouchers with a code, an amount and a date on which the voucher expires. The code is 4 to 16
letters and digits. A voucher without a date expires after 90 days. The answer has status 201 and the voucher's id.

    curl -X POST https://api.shop.example/v2/vouchers -d '{ "code": "SPRING25", "percent": 25 }'

## Redeem a voucher

Send its code with the order, in the field voucherCodes. A code that does not exist is answered with status 404, one that
has expired with status 410. Both leave the order as it was.

## Limits

A shop can have 5,000 vouchers. More than 20 requests a second are answered with status 429; wait for the seconds named in
the header Retry-After before you send the next one.
`,
}
