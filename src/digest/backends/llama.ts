// Digests from a local model in the sidecar that `hudfold setup` installed. Its files are read when the backend is prepared,
// which most runs of the plugin never get to; the sidecar starts with the first write.

import { existsSync } from "node:fs"
import { SidecarError, type SidecarErrorCode, wrongProtocol } from "../../engine/errors.ts"
import { changedModelReason, chooseModel, placesIn, readInstalled, sharedReason } from "../../engine/installed.ts"
import { launchSpec } from "../../engine/launch.ts"
import { createLease } from "../../engine/lease.ts"
import { createSidecar, type Sidecar, type SidecarConfig } from "../../engine/sidecar.ts"
import { PROTOCOL } from "../../engine/wire/messages.ts"
import { type Backend, BackendError, type BackendErrorCode, type BackendState, type LlamaOptions } from "./backend.ts"

/**
 * Context of one request: 2,048 tokens of document, which is what a CPU can process between two tool calls, plus
 * instruction, answer and a reserve. The next size, 8,192, would take another 470 MB with Qwen3-0.6B.
 */
const CONTEXT_TOKENS = 4096
/** Reserved in the context: tokens for instruction and answer, and a share for estimates that are too low. */
const RESERVED = { tokens: 700, share: 0.1 }

/** `dataFolder`: where setup puts the engine and the models; `times`: for tests. */
export type LlamaConfig = { dataFolder: string; options: LlamaOptions } & Pick<
  SidecarConfig,
  "report" | "onChange" | "times"
>

/** Never throws. It is off if it is not set up, or if no runtime was found. */
export function createLlama(config: LlamaConfig): Backend {
  let sidecar: Sidecar | undefined
  let model: string | undefined
  /** as long as there is no sidecar */
  let state: BackendState = { kind: "idle" }
  let opening: Promise<void> | undefined
  let paused = false

  const prepare = () =>
    (opening ??= openSidecar(config).then((opened) => {
      if ("sidecar" in opened) ({ sidecar, model } = opened)
      else state = opened
      sidecar?.pause(paused)
    }))
  const gpu = () => sidecar?.capabilities?.gpu

  return {
    get model() {
      return model
    },
    get state() {
      return sidecar?.state ?? state
    },
    get device() {
      return gpu() === "off" ? "CPU" : gpu()
    },
    get speed() {
      const { prefillTokensPerSecond: prefill, decodeTokensPerSecond: decode } = sidecar?.capabilities ?? {}
      return prefill === undefined || decode === undefined ? undefined : { prefill, decode }
    },
    get sharesProcessor() {
      return (gpu() ?? "off") === "off"
    },
    get maxDocumentTokens() {
      const contextTokens = sidecar?.capabilities?.contextTokens ?? CONTEXT_TOKENS
      return Math.max(0, Math.floor(contextTokens * (1 - RESERVED.share)) - RESERVED.tokens)
    },
    prepare,
    async write(prompt, signal) {
      await prepare()
      if (!sidecar) throw new BackendError("OFF", "reason" in state ? state.reason : "it was closed")
      try {
        return await sidecar.write(prompt, signal)
      } catch (cause) {
        if (!(cause instanceof SidecarError)) throw cause
        const code = cause.wire === "BAD_REQUEST" ? "BAD_ANSWER" : BACKEND_CODES[cause.code]
        throw new BackendError(code, cause.message, { cause })
      }
    },
    pause(now) {
      paused = now
      sidecar?.pause(now)
    },
    async close() {
      // never opened from here on
      opening ??= Promise.resolve()
      await opening
      await sidecar?.close()
    },
  }
}

/** What the sidecar is told to load. */
export function loadOf(modelPath: string, { gpu, threads, memoryMB }: Omit<LlamaOptions, "idleMinutes">) {
  return { modelPath, gpu, contextTokens: CONTEXT_TOKENS, threads, memoryBytes: memoryMB * 1_000_000 }
}

/** The sidecar and the name of its model, or why there is none. Never rejects. */
async function openSidecar({ options, dataFolder, ...watch }: LlamaConfig) {
  const off = (reason: string) => ({ kind: "off" as const, reason })
  const places = placesIn(dataFolder)
  const { engine, model: inUse } = await readInstalled(places)
  if (!engine) {
    if (existsSync(places.engineRecord))
      return off(`${places.engineRecord} cannot be read; run \`hudfold setup\` again`)
    return { ...off("the local model is not set up; run `hudfold setup`"), absent: true }
  }
  if (engine.protocol !== PROTOCOL) return off(wrongProtocol(engine.protocol).message)
  const shared = sharedReason(places)
  if (shared !== undefined) return off(shared)
  const model = await chooseModel(options.model, inUse, places)
  if ("reason" in model) return off(model.reason)
  const spec = launchSpec(options.runtime, places.main)
  if ("reason" in spec) return off(spec.reason)
  const sidecar = createSidecar({
    spec,
    load: loadOf(model.path, options),
    check: (signal) => changedModelReason(model, signal),
    lease: createLease(places.lease),
    idleMs: options.idleMinutes * 60_000,
    ...watch,
  })
  return { sidecar, model: model.name }
}

const BACKEND_CODES: Record<SidecarErrorCode, BackendErrorCode> = {
  START_FAILED: "UNAVAILABLE",
  ENDED: "UNAVAILABLE",
  CLOSED: "UNAVAILABLE",
  BUSY: "BUSY",
  // perhaps because of the document
  CRASHED: "TIMEOUT",
  REFUSED: "TIMEOUT",
  TIMEOUT: "TIMEOUT",
  BAD_REPLY: "TIMEOUT",
  OFF: "OFF",
}
