// What writes the digests and whether it is ready: the engine, the model and its checksum, or a local server; the GPU the
// engine can use, and its measured speed.

import { existsSync } from "node:fs"
import { join } from "node:path"
import { BackendError } from "../digest/backends/backend.ts"
import { createOpenai } from "../digest/backends/openai.ts"
import {
  chooseModel,
  type EngineRecord,
  hashFile,
  type ModelInUse,
  type Places,
  type readInstalled,
  sharedReason,
} from "../engine/installed.ts"
import { FASTER, runningWords } from "../engine/run.ts"
import { PROTOCOL } from "../engine/wire/messages.ts"
import type { Options } from "../options.ts"
import { SetupError } from "../setup/errors.ts"
import { probeMachine } from "../setup/machine.ts"
import { checkModelFile, listedModel } from "../setup/models.ts"
import { chooseVariants, ENGINE, variantPackage } from "../setup/packages.ts"
import { specFor, type TryOutOptions, tryOut } from "../setup/try-out.ts"
import type { Environment } from "../system/data-folder.ts"
import { errorMessage } from "../system/values.ts"
import { byteSize, inShell } from "../text/format.ts"
import { line } from "../text/sanitize.ts"
import { type CheckResult, fail, failFrom, ok, warn } from "./result.ts"

type Installed = Awaited<ReturnType<typeof readInstalled>>

/** `onHash` reports progress, since checking a large model takes a while. */
export type ModelCheckOptions = { signal: AbortSignal; onHash?: (doneBytes: number, totalBytes: number) => void }

const SETUP = "hudfold setup"
/** Setup trusts its own record of the installation and would find nothing to do. */
const REINSTALL = `${SETUP} --uninstall --keep-models, then ${SETUP}`

/** Whether the sidecar is to write digests. */
export function wantsSidecar({ backend, model: named }: Options["digest"], { engine, model }: Installed): boolean {
  return backend === "llama" || (backend === "auto" && (engine ?? model ?? named) !== undefined)
}

export async function checkWithoutSidecar(options: Options["digest"], signal: AbortSignal): Promise<CheckResult> {
  if (options.backend === "openai") return checkServer(options.openai, signal)
  const how = options.backend === "extract" ? 'digest.backend is "extract"' : "none is set up, and none is needed"
  return ok("digests", `made without a model; ${how}`)
}

async function checkServer(options: Options["digest"]["openai"], signal: AbortSignal): Promise<CheckResult> {
  try {
    const { findModel } = createOpenai(options)
    // a list may leave out a model that the server has, so the user compares
    const model = await findModel(signal)
    return ok("digests", `${new URL(options.url).origin} responds; it is asked for the model ${line(model)}`)
  } catch (error) {
    signal.throwIfAborted()
    const correct = "correct digest.openai.url"
    // a wrong address is no server that could be started
    const isWrong = error instanceof BackendError && error.code === "OFF"
    return failFrom(errorMessage(error), "digests", isWrong ? correct : `start the server, or ${correct}`)
  }
}

export function checkEngine(options: Options["digest"], places: Places, { engine }: Installed, env: Environment) {
  const install = `${SETUP}, which installs it`
  const broken = (found: string) => fail("engine", found, install)
  if (!engine) {
    if (existsSync(places.sidecar)) return broken(`the installation in ${places.sidecar} was not finished`)
    // a warning after `hudfold setup --uninstall --keep-models`
    const told = options.backend === "llama" ? fail : warn
    return told("engine", "it is not installed, so digests are made without a model", install)
  }
  if (engine.protocol !== PROTOCOL)
    return broken(`it speaks protocol ${engine.protocol}, this plugin ${PROTOCOL}, so it is not used`)
  if (!existsSync(places.main)) return broken(`${places.main} is missing`)
  const shared = sharedReason(places)
  if (shared !== undefined) return fail("engine", shared, `correct that, or move it away and run ${SETUP}`)
  for (const name of [ENGINE, ...engine.variants]) {
    const part = join(places.sidecar, "node_modules", ...name.split("/"))
    if (!existsSync(part)) return fail("engine", `${part} is missing`, REINSTALL)
  }
  const spec = specFor(options.runtime, places.main, env)
  if ("reason" in spec) return failFrom(spec.reason, "engine")
  return ok("engine", `${ENGINE} ${engine.engine} in ${places.sidecar}`)
}

/** Rejects only with the signal's reason. */
export async function checkModel(
  options: Options["digest"],
  { model }: Installed,
  places: Places,
  watch: ModelCheckOptions,
): Promise<CheckResult> {
  const isNamed = options.model !== undefined && options.model !== model?.path
  if (!model && !isNamed) {
    if (options.backend === "llama") return fail("model", 'none is chosen, and digest.backend is "llama"', SETUP)
    return warn("model", "none is chosen, so digests are made without", `${SETUP}, or hudfold model use NAME`)
  }
  const fix = isNamed || !model ? "correct digest.model, or remove it" : howToRestore(model)
  const chosen = await chooseModel(options.model, model, places)
  if ("reason" in chosen) return fail("model", chosen.reason, fix)
  const { name, path, sizeBytes, sha256 } = chosen
  try {
    const bytes = await checkModelFile(path)
    if (sizeBytes === undefined)
      return ok("model", `${path} (digest.model), ${byteSize(bytes)}; there is no checksum to compare it with`)
    if (bytes !== sizeBytes)
      return fail("model", `${path} has ${bytes} bytes, but had ${sizeBytes} when it was chosen`, fix)
    const onProgress = (done: number) => watch.onHash?.(done, sizeBytes)
    if ((await hashFile(path, { signal: watch.signal, onProgress })) === sha256)
      return ok("model", `${name}, ${byteSize(bytes)}, checksum verified, ${path}`)
    return fail("model", `${path} is damaged: its checksum has changed`, fix)
  } catch (error) {
    watch.signal.throwIfAborted()
    const others = isNamed ? "" : "; or choose another with: hudfold model use NAME"
    return fail("model", errorMessage(error), `${fix}${others}`)
  }
}

/** Downloads the model again; a file of the user's own has to come from the user. */
function howToRestore({ name, path }: ModelInUse): string {
  if (listedModel(name) || name.startsWith("hf:")) return `${SETUP} --model ${name}`
  return `restore the file, or use it as it is: hudfold model use ${inShell(path)}`
}

export async function checkGpu({ gpu }: Options["digest"], engine: EngineRecord, env: Environment) {
  try {
    const { variants, why } = chooseVariants(await probeMachine(env), gpu)
    const lacking = variants.map(variantPackage).filter((name) => !engine.variants.includes(name))
    const has = `the engine was installed for ${engine.variants.join(" and ")}`
    if (lacking.length === 0) return ok("gpu", `${why}; ${has}`)
    const found = `${why}, which needs ${lacking.join(" and ")}; ${has}`
    const setup = gpu === "auto" ? SETUP : `${SETUP} --gpu ${gpu}`
    return warn("gpu", found, `${setup}, which adds it; or set digest.gpu to "off"`)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return warn("gpu", error.message, 'correct digest.gpu, or set digest.backend to "extract"')
  }
}

/** Writes one digest of a sample. Rejects only with the signal's reason. */
export async function measureSpeed(places: Places, inUse: ModelInUse | undefined, trial: TryOutOptions) {
  try {
    const model = await chooseModel(trial.options.model, inUse, places)
    if ("reason" in model) return fail("speed", model.reason, SETUP)
    const { capabilities, fits, words } = await tryOut(places, model, trial)
    const found = `${runningWords(capabilities)}: ${words}`
    if (fits) return ok("speed", found)
    return warn("speed", found, `${FASTER}; or set digest.backend to "extract"`)
  } catch (error) {
    trial.signal.throwIfAborted()
    if (!(error instanceof SetupError)) throw error
    return fail("speed", error.message, `choose another model, or install the engine again: ${REINSTALL}`)
  }
}
