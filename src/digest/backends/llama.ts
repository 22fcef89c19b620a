// Digests from a local model in the sidecar that `hudfold setup` installed. Files are read when the backend is opened;
// the sidecar starts with the first write.

import { existsSync } from "node:fs"
import { join } from "node:path"
import manifest from "../../../package.json" with { type: "json" }
import { SidecarError, type SidecarErrorCode, wrongProtocol } from "../../engine/errors.ts"
import { changedModelReason, chooseModel, placesIn, readInstalled, sharedReason } from "../../engine/installed.ts"
import { launchSpec } from "../../engine/launch.ts"
import { createLease } from "../../engine/lease.ts"
import type { RUN_TIMES } from "../../engine/run.ts"
import { createSidecar, type Logger } from "../../engine/sidecar.ts"
import { PROTOCOL } from "../../engine/wire/messages.ts"
import { type Backend, BackendError, type BackendErrorCode, type LlamaOptions, type NoBackend } from "./backend.ts"

/**
 * Context of one request: 2,048 tokens of document, which is what a CPU can process between two tool calls, plus
 * instruction, answer and a reserve. The next size, 8,192, would take another 470 MB with Qwen3-0.6B.
 */
export const CONTEXT_TOKENS = 4096
/** Reserved in the context: tokens for instruction and answer, and a share for estimates that are too low. */
const RESERVED = { tokens: 700, share: 0.1 }

export type LlamaConfig = {
  dataFolder: string
  options: LlamaOptions
  report: Logger
  onChange?: () => void
  /** for tests */
  times?: Partial<typeof RUN_TIMES>
}

/** The backend, or why there is none: it is not set up, or no runtime was found. Never rejects. */
export async function openLlama(config: LlamaConfig): Promise<Backend | NoBackend> {
  const { options, dataFolder, ...watch } = config
  const places = placesIn(dataFolder)
  const installed = await readInstalled(places)
  if (!installed.engine) return missingEngine(places.engineRecord)
  if (installed.engine.protocol !== PROTOCOL) return { off: wrongProtocol(installed.engine.protocol).message }
  const shared = sharedReason(places)
  if (shared !== undefined) return { off: shared }
  const model = await chooseModel(options.model, installed.model, places)
  if ("reason" in model) return { off: model.reason }
  const spec = launchSpec(options.runtime, places.main)
  if ("reason" in spec) return { off: spec.reason }
  const { sha256 } = model
  const sidecar = createSidecar({
    spec,
    load: {
      modelPath: model.path,
      gpu: options.gpu,
      contextTokens: CONTEXT_TOKENS,
      threads: options.threads,
      memoryBytes: options.memoryMB * 1_000_000,
    },
    ...(sha256 === undefined
      ? {}
      : { check: (signal: AbortSignal) => changedModelReason({ ...model, sha256 }, signal) }),
    version: manifest.version,
    lease: createLease(join(dataFolder, "sidecar.lease")),
    idleMs: options.idleMinutes * 60_000,
    ...watch,
  })
  return {
    id: `llama/${model.name}`,
    get state() {
      return sidecar.state
    },
    get device() {
      const gpu = sidecar.capabilities?.gpu
      return gpu === "off" ? "CPU" : gpu
    },
    get speed() {
      const { prefillTokensPerSecond: prefill, decodeTokensPerSecond: decode } = sidecar.capabilities ?? {}
      return prefill === undefined || decode === undefined ? undefined : { prefill, decode }
    },
    get sharesProcessor() {
      return (sidecar.capabilities?.gpu ?? "off") === "off"
    },
    get maxDocumentTokens() {
      const contextTokens = sidecar.capabilities?.contextTokens ?? CONTEXT_TOKENS
      return Math.max(0, Math.floor(contextTokens * (1 - RESERVED.share)) - RESERVED.tokens)
    },
    async write(prompt, signal) {
      try {
        return await sidecar.write(prompt, signal)
      } catch (error) {
        if (error instanceof SidecarError)
          throw new BackendError(BACKEND_CODES[error.code], error.message, { cause: error })
        throw error
      }
    },
    pause: sidecar.pause,
    close: sidecar.close,
  }
}

/** An engine that was never installed is not a fault; an unreadable record is. */
function missingEngine(record: string): NoBackend {
  if (!existsSync(record)) return { off: "the local model is not set up; run `hudfold setup`", absent: true }
  return { off: `${record} cannot be read; run \`hudfold setup\` again` }
}

const BACKEND_CODES: Record<SidecarErrorCode, BackendErrorCode> = {
  START_FAILED: "UNAVAILABLE",
  ENDED: "UNAVAILABLE",
  CLOSED: "UNAVAILABLE",
  SILENT: "UNAVAILABLE",
  BUSY: "BUSY",
  // perhaps because of the document
  REFUSED: "TIMEOUT",
  TIMEOUT: "TIMEOUT",
  BAD_REPLY: "TIMEOUT",
  WRONG_PROTOCOL: "OFF",
  OFF: "OFF",
}
