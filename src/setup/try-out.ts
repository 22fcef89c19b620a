// A trial of the installation: one digest of a sample through the real sidecar, started as the plugin starts it. Reports
// the device and the speed, and whether that is fast enough.

import type { LlamaOptions } from "../digest/backends/backend.ts"
import { loadOf } from "../digest/backends/llama.ts"
import { extract } from "../digest/extract/extract.ts"
import { ground } from "../digest/ground/ground.ts"
import { promptFor } from "../digest/prompt.ts"
import { SidecarError } from "../engine/errors.ts"
import { type ModelInUse, type Places, sharedReason } from "../engine/installed.ts"
import { launchSpec, type RuntimeChoice } from "../engine/launch.ts"
import { predictMs, RUN_TIMES, startRun, tooSlowReason } from "../engine/run.ts"
import type { Capabilities } from "../engine/wire/messages.ts"
import type { DigestSource } from "../output/digest.ts"
import type { Environment } from "../system/data-folder.ts"
import { findCommand } from "../system/process.ts"
import { SetupError } from "./errors.ts"

export type Trial = Awaited<ReturnType<typeof tryOut>>

const BUDGET_TOKENS = 400
/** A long tool output and its digest, and how long a digest may take to be useful. */
const LONG = { inTokens: 2000, outTokens: 80, maxMs: 10_000 }

/** `options`: those of the digests */
export type TryOutOptions = { options: Omit<LlamaOptions, "idleMinutes">; env?: Environment; signal: AbortSignal }
type Named = Pick<ModelInUse, "name" | "path">

/** How the plugin would start the sidecar: unless the options say otherwise, with OpenCode's own program, if it is found. */
export function specFor(runtime: RuntimeChoice, main: string, env: Environment) {
  const isHosts = runtime === "auto" || runtime === "opencode"
  return launchSpec(isHosts ? (findCommand("opencode", env) ? "opencode" : "auto") : runtime, main, env)
}

/** Rejects with TRIAL_FAILED, also if the model is too slow, or with the signal's reason. Leaves no process behind. */
export async function tryOut(places: Places, model: Named, { options, env = process.env, signal }: TryOutOptions) {
  const failed = (what: string, cause?: unknown) =>
    new SetupError("TRIAL_FAILED", `the trial of ${model.name} failed: ${what}`, { cause })
  const shared = sharedReason(places)
  if (shared !== undefined) throw failed(shared)
  const spec = specFor(options.runtime, places.main, env)
  if ("reason" in spec) throw failed(spec.reason)
  const prompt = promptFor(SAMPLE, { budgetTokens: BUDGET_TOKENS })
  const load = { ...loadOf(model.path, options), instruction: prompt.instruction }
  try {
    const run = await startRun({ spec, load, holdsHost: true, times: RUN_TIMES }, signal)
    try {
      const slow = tooSlowReason(run.capabilities)
      if (slow) throw failed(slow)
      const { structured, usage, elapsedMs } = await run.write(prompt, signal)
      /** undefined if the sample does not support what the model wrote */
      const digest = ground(structured?.summary, SAMPLE, extract(SAMPLE).digest)
      const { capabilities } = run
      return { capabilities, ...usage, elapsedMs, digest, ...rateSpeed(capabilities) }
    } finally {
      await run.end()
    }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof SidecarError) throw failed(cause.message, cause)
    throw cause
  }
}

/** Whether the measured speeds keep up with an agent, and a sentence about it. Otherwise digests are late. */
function rateSpeed(measured: Capabilities): { fits: boolean; words: string } {
  const longMs = predictMs(measured, LONG.inTokens, LONG.outTokens)
  const time = `about ${Math.round(longMs / 1000)} s for a tool output of ${LONG.inTokens} tokens`
  if (longMs <= LONG.maxMs) return { fits: true, words: `it fits this machine: ${time}` }
  const words = `it is slow on this machine: ${time}, so it will read only parts of long outputs`
  return { fits: false, words: `${words}; \`hudfold model list\` shows what others need` }
}

/** A web page, because that is what models are used for; test runs are digested by code. */
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
`,
}
