// What a model runs on here: the GPU there is against what the engine was installed for, and how fast it was measured.

import type { Places } from "../engine/installed.ts"
import type { Options } from "../options.ts"
import { SetupError } from "../setup/errors.ts"
import { probeMachine } from "../setup/machine.ts"
import { packageName } from "../setup/pinned.ts"
import { judge, tryOut } from "../setup/try-out.ts"
import { chooseVariants } from "../setup/variants.ts"
import type { Status } from "../status/status.ts"
import type { Environment } from "../system/data-folder.ts"
import { type Check, fail, ok, warn } from "./check.ts"
import type { Installed } from "./digests.ts"

/** `device` is where the last session's model ran. */
export async function checkGpu(
  { gpu }: Options["digest"],
  { engine }: Installed,
  device: string | undefined,
  env: Environment,
): Promise<Check> {
  const ran = device === undefined ? "" : `; the last session's model ran on ${device}`
  try {
    const { variants, why } = chooseVariants(await probeMachine(env), gpu)
    if (!engine) return ok("gpu", why)
    const lacking = variants.map(packageName).filter((name) => !engine.variants.includes(name))
    const has = `the engine was installed for ${engine.variants.join(" and ")}${ran}`
    if (lacking.length === 0) return ok("gpu", `${why}; ${has}`)
    const found = `${why}, which takes ${lacking.join(" and ")}; ${has}`
    return warn("gpu", found, 'hudfold setup, which adds it; or set digest.gpu to "off"')
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    if (!engine) return ok("gpu", error.message)
    return warn("gpu", `${error.message}${ran}`, 'correct digest.gpu, or set digest.backend to "extract"')
  }
}

const FASTER = "choose a smaller model: hudfold model list says what each needs"

/** By the measurement of the last session that has one. */
export function checkSpeed(status: Status | undefined): Check {
  const speed = status?.writer.speed
  if (!speed) return ok("speed", "not measured yet; `hudfold doctor --test` does it")
  const { verdict, words } = judge({ prefillTokensPerSecond: speed.prefill, decodeTokensPerSecond: speed.decode })
  const figures = `${Math.round(speed.prefill)} tokens/s in and ${Math.round(speed.decode)} out in the last session that used it`
  return verdict === "fits" ? ok("speed", `${figures}: ${words}`) : warn("speed", `${figures}: ${words}`, FASTER)
}

/** By one digest of a sample, now. Rejects with the signal's reason alone. */
export async function measureSpeed(
  places: Places,
  { model }: Installed,
  {
    gpu,
    version,
    env,
    signal,
  }: { gpu: Options["digest"]["gpu"]; version: string; env: Environment; signal: AbortSignal },
): Promise<Check | undefined> {
  if (!model) return undefined
  try {
    const { capabilities, verdict, words } = await tryOut(places, model, { gpu, version, env, signal })
    const on = capabilities.gpu === "off" ? "the processor" : `${capabilities.gpu} (${capabilities.devices.join(", ")})`
    const { prefillTokensPerSecond: reads, decodeTokensPerSecond: writes } = capabilities
    const found = `${Math.round(reads)} tokens/s in and ${Math.round(writes)} out on ${on}: ${words}`
    return verdict === "fits" ? ok("speed", found) : warn("speed", found, FASTER)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof SetupError)) throw error
    return fail("speed", error.message, "hudfold setup, which puts the engine right; else choose another model")
  }
}
