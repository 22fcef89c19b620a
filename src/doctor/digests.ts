// Who writes digests, and whether what that takes is there: the engine, the model with its checksum, or a local server.

import { stat } from "node:fs/promises"
import { join } from "node:path"
import { readAddress } from "../digest/backends/address.ts"
import { exchange } from "../digest/backends/exchange.ts"
import { chooseModel, type EngineRecord, type ModelRecord, type Places, sharedIn } from "../engine/installed.ts"
import { hashFile } from "../engine/model-file.ts"
import { PROTOCOL } from "../engine/wire/version.ts"
import type { Options } from "../options.ts"
import { megabytes } from "../setup/folder.ts"
import { checkModelFile } from "../setup/gguf.ts"
import { listedModel } from "../setup/models.ts"
import { ENGINE } from "../setup/pinned.ts"
import { type Check, fail, inShell, ok } from "./check.ts"

export type Installed = { engine: EngineRecord | undefined; model: ModelRecord | undefined }

/** Checking a large model takes a while. */
export type Watch = { signal: AbortSignal; onHash?: (doneBytes: number, totalBytes: number) => void }

const SETUP = "hudfold setup"

/** Whether the sidecar would be asked for digests at all. */
export function wantsSidecar({ backend }: Options["digest"], { engine, model }: Installed): boolean {
  return backend === "llama" || (backend === "auto" && (engine !== undefined || model !== undefined))
}

export async function checkWithoutSidecar(options: Options["digest"], signal: AbortSignal): Promise<Check> {
  if (options.backend === "openai") return checkServer(options.openai, signal)
  const how = options.backend === "extract" ? 'digest.backend is "extract"' : `\`${SETUP}\` installs one`
  return ok("digests", `made without a model; ${how}`)
}

const SERVER_PATIENCE_MS = 5000

async function checkServer(options: Options["digest"]["openai"], signal: AbortSignal): Promise<Check> {
  const start = "start the server, or correct digest.openai.url"
  try {
    const { local, models } = readAddress(options.url, options.allowRemote)
    const headers: Record<string, string> = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}
    const patience = AbortSignal.any([signal, AbortSignal.timeout(SERVER_PATIENCE_MS)])
    const { status } = await exchange({ url: models, local, method: "GET", headers }, patience)
    // one without a list may still have the model that was named
    if (status < 300 || (status === 404 && options.model)) return ok("digests", `${models.origin} answers`)
    const key = status === 401 || status === 403 ? "set digest.openai.apiKey" : "correct digest.openai.url"
    return fail("digests", `${models.origin} answers with status ${status}`, key)
  } catch (error) {
    signal.throwIfAborted()
    return fail("digests", wordsOf(error), start)
  }
}

export async function checkEngine(places: Places, { engine }: Installed): Promise<Check> {
  const broken = (found: string) => fail("engine", found, `${SETUP}, which installs it anew`)
  const isThere = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined
  if (!engine) {
    return broken(
      (await isThere(places.sidecar))
        ? `the installation in ${places.sidecar} was not finished`
        : "it is not installed",
    )
  }
  if (engine.protocol !== PROTOCOL) {
    return broken(
      `it speaks version ${engine.protocol} of the protocol, this plugin version ${PROTOCOL}, and goes unused`,
    )
  }
  if (!(await isThere(places.main))) return broken(`${places.main} is missing`)
  const shared = sharedIn(places)
  if (shared !== undefined) return fail("engine", shared, `correct that, or move it away and run ${SETUP}`)
  for (const name of [ENGINE, ...engine.variants]) {
    const part = join(places.sidecar, "node_modules", ...name.split("/"))
    // setup goes by its stamp, and would find nothing to do
    const anew = `${SETUP} --uninstall --keep-models, then ${SETUP}`
    if (!(await isThere(part))) return fail("engine", `${part} is missing`, anew)
  }
  return ok("engine", `${ENGINE} ${engine.engine} in ${places.sidecar}`)
}

/** Rejects with the signal's reason alone. */
export async function checkModel(
  options: Options["digest"],
  { model }: Installed,
  places: Places,
  watch: Watch,
): Promise<Check> {
  const choose = "choose another with: hudfold model use NAME"
  if (options.model !== undefined && options.model !== model?.path) {
    const remedy = "correct digest.model, or take it out"
    const chosen = await chooseModel(options.model, model, places)
    if ("reason" in chosen) return fail("model", chosen.reason, remedy)
    try {
      const bytes = await checkModelFile(chosen.path)
      const found = `${chosen.path} (digest.model), ${megabytes(bytes)}; there is no checksum to hold it against`
      return ok("model", found)
    } catch (error) {
      return fail("model", wordsOf(error), remedy)
    }
  }
  if (!model) {
    const found = "none is chosen"
    if (options.backend === "llama") return fail("model", `${found}, and digest.backend is "llama"`, SETUP)
    return ok("model", `${found}, so digests are made without; \`hudfold model use\` chooses one`)
  }
  try {
    const bytes = await checkModelFile(model.path)
    if (bytes !== model.sizeBytes) {
      const found = `${model.path} has ${bytes} bytes, and had ${model.sizeBytes} when it was chosen`
      return fail("model", found, getBack(model))
    }
    const sha256 = await hashFile(model.path, {
      signal: watch.signal,
      onProgress: (done) => watch.onHash?.(done, model.sizeBytes),
    })
    if (sha256 !== model.sha256) {
      return fail("model", `${model.path} is damaged: its checksum is not the one it had`, getBack(model))
    }
    return ok("model", `${model.name}, ${megabytes(bytes)}, checksum verified, ${model.path}`)
  } catch (error) {
    watch.signal.throwIfAborted()
    return fail("model", wordsOf(error), `${fetchAgain(model) ?? "put the file back"}; or ${choose}`)
  }
}

/** What setup can fetch; a file of the user's own is theirs to bring back. */
function fetchAgain({ name }: ModelRecord): string | undefined {
  return listedModel(name) || name.startsWith("hf:") ? `${SETUP} --model ${name}` : undefined
}

function getBack(model: ModelRecord): string {
  const takeAsItIs = `hudfold model use ${inShell(model.path)}`
  return fetchAgain(model) ?? `put the file back, or take it as it is: ${takeAsItIs}`
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
