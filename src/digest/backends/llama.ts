// The backend that writes digests with a local model, through the sidecar that `hudfold setup` installed. Nothing is
// read before it is opened, and nothing is started before the first write.

import { existsSync } from "node:fs"
import manifest from "../../../package.json" with { type: "json" }
import { SidecarError, type SidecarErrorCode } from "../../engine/errors.ts"
import { findCommand } from "../../engine/find.ts"
import { chooseModel, placesIn, readInstalled, sharedIn } from "../../engine/installed.ts"
import { launchSpec } from "../../engine/launch.ts"
import { createLease } from "../../engine/lease.ts"
import { wrongProtocol } from "../../engine/life.ts"
import { changedSince } from "../../engine/model-file.ts"
import { shareSidecar } from "../../engine/share.ts"
import type { Report, SidecarTimes } from "../../engine/sidecar.ts"
import type { Capabilities } from "../../engine/wire/messages.ts"
import { PROTOCOL } from "../../engine/wire/version.ts"
import type { Options } from "../../options.ts"
import { type Backend, BackendError, type BackendErrorCode } from "./backend.ts"

/**
 * Context of one request. 2,048 tokens of document are what a CPU gets done between two tool calls; instruction, answer
 * and a reserve come on top. The next 4,096 would cost another 470 MB with Qwen3-0.6B.
 */
export const CONTEXT_TOKENS = 4096
/** Of the context, what is left for the instruction and the answer, and as a share for what is counted wrong. */
const RESERVED = { tokens: 700, share: 0.1 }

export type LlamaConfig = {
  dataFolder: string
  options: Pick<Options["digest"], "gpu" | "idleMinutes" | "memoryMB" | "model" | "runtime" | "threads">
  report: Report
  /** told when the sidecar's state has changed */
  onChange?: () => void
  /** a command that waits for its answers needs it; a plugin must not hold its host */
  holdsHost?: boolean
  /** for tests */
  times?: Partial<SidecarTimes>
}

/** The backend, or why there can be none: it is not set up, or there is nothing to run it with. Never rejects. */
export async function openLlama(config: LlamaConfig): Promise<Backend | { off: string; absent?: boolean }> {
  const { options, dataFolder } = config
  const places = placesIn(dataFolder)
  const installed = await readInstalled(places)
  if (!installed.engine) return missingEngine(places.engineRecord)
  if (installed.engine.protocol !== PROTOCOL) return { off: wrongProtocol(installed.engine.protocol).message }
  const shared = sharedIn(places)
  if (shared !== undefined) return { off: shared }
  const model = await chooseModel(options.model, installed.model, places)
  if ("reason" in model) return { off: model.reason }
  const { sha256 } = model
  const spec = launchSpec({
    runtime: options.runtime,
    execPath: process.execPath,
    hostIsBun: process.versions.bun !== undefined,
    main: places.main,
    env: process.env,
    platform: process.platform,
    find: (name) => findCommand(name, process.env),
  })
  if ("reason" in spec) return { off: spec.reason }
  const sidecar = shareSidecar({
    spec,
    load: {
      modelPath: model.path,
      gpu: options.gpu,
      contextTokens: CONTEXT_TOKENS,
      threads: options.threads,
      memoryBytes: options.memoryMB * 1_000_000,
    },
    ...(sha256 === undefined ? {} : { check: (signal: AbortSignal) => changedSince({ ...model, sha256 }, signal) }),
    version: manifest.version,
    lease: createLease(dataFolder),
    idleMs: options.idleMinutes * 60_000,
    report: config.report,
    ...(config.onChange ? { onChange: config.onChange } : {}),
    ...(config.holdsHost === undefined ? {} : { holdsHost: config.holdsHost }),
    ...(config.times ? { times: config.times } : {}),
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
      return speedOf(sidecar.capabilities)
    },
    get sharesProcessor() {
      return (sidecar.capabilities?.gpu ?? "off") === "off"
    },
    get mostTokens() {
      const contextTokens = sidecar.capabilities?.contextTokens ?? CONTEXT_TOKENS
      return Math.max(0, Math.floor(contextTokens * (1 - RESERVED.share)) - RESERVED.tokens)
    },
    async write(prompt, signal) {
      try {
        const { structured, schemaOk, usage, elapsedMs } = await sidecar.write(prompt, signal)
        const { promptTokens, outputTokens } = usage
        return { structured, schemaOk, usage: { promptTokens, outputTokens }, elapsedMs }
      } catch (error) {
        if (error instanceof SidecarError) throw new BackendError(CODES[error.code], error.message, { cause: error })
        throw error
      }
    },
    pause: sidecar.pause,
    unload: sidecar.unload,
    close: sidecar.close,
  }
}

/** An engine that nobody installed is no fault; a record that says nothing is. */
function missingEngine(record: string): { off: string; absent?: boolean } {
  if (!existsSync(record))
    return { off: "the local model is not set up; run `npx opencode-hudfold setup`", absent: true }
  return { off: `${record} cannot be read; run \`npx opencode-hudfold setup\` again` }
}

function speedOf(capabilities: Capabilities | undefined): Backend["speed"] {
  if (!capabilities) return undefined
  return { prefill: capabilities.prefillTokensPerSecond, decode: capabilities.decodeTokensPerSecond }
}

const CODES: Record<SidecarErrorCode, BackendErrorCode> = {
  START_FAILED: "UNAVAILABLE",
  ENDED: "UNAVAILABLE",
  CLOSED: "UNAVAILABLE",
  SILENT: "UNAVAILABLE",
  REFUSED: "UNAVAILABLE",
  RESTING: "UNAVAILABLE",
  TIMEOUT: "TIMEOUT",
  BAD_REPLY: "BAD_ANSWER",
  WRONG_PROTOCOL: "OFF",
  OFF: "OFF",
}
