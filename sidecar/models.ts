// Opens a model on a device: checks the file and the memory it needs, because the engine's own error is only "Failed to
// load model", loads it, measures its speed, and explains failures.

import { readFile } from "node:fs/promises"
import type { GgufFileInfo, LlamaModel } from "node-llama-cpp"
import { notGguf } from "../src/engine/gguf.ts"
import type { Load } from "../src/engine/wire/messages.ts"
import { errorMessage } from "../src/system/values.ts"
import { type Device, type NodeLlamaCpp, threadsFor } from "./device.ts"
import { EngineError } from "./errors.ts"
import type { Gate } from "./pace.ts"
import { Writer } from "./writer.ts"

/** Memory of the process without the model: runtime, engine, tokenizer. Measured: 110 to 160 MB. */
const PROCESS_BYTES = 150_000_000

/** Share of the free memory that a model may use if no limit is set. */
const MAX_SHARE_OF_FREE = 0.75

/** Rejects with an `EngineError`: MODEL_MISSING if there is no such file, MODEL_INVALID if it does not begin as a GGUF file. */
export async function inspectModel(path: string): Promise<void> {
  const got = await notGguf(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw invalidModel(path, `it cannot be read (${error.message})`, error)
    const message = `no model at ${path}; choose one: hudfold model use NAME`
    throw new EngineError("MODEL_MISSING", message, { cause: error })
  })
  if (got !== undefined) throw invalidModel(path, `it is ${got}`)
}

function invalidModel(path: string, why: string, cause?: unknown): EngineError {
  return new EngineError("MODEL_INVALID", `${path} is not a usable model: ${why}; fetch it again or choose another`, {
    cause,
  })
}

/**
 * `limitBytes`: the configured limit, 0: none. Throws an `EngineError`: MODEL_TOO_LARGE for that limit, OUT_OF_MEMORY where
 * other programs have the memory, which they may give back.
 */
function checkMemory(path: string, bytes: number, limitBytes: number, freeBytes: number): void {
  const needed = bytes + PROCESS_BYTES
  const available = limitBytes || Math.floor(freeBytes * MAX_SHARE_OF_FREE)
  if (needed <= available) return
  const whose = limitBytes ? "the option digest.memoryMB allows" : `of ${megabytes(freeBytes)} MB free it may take`
  throw new EngineError(
    limitBytes ? "MODEL_TOO_LARGE" : "OUT_OF_MEMORY",
    `${path} needs ${megabytes(needed)} MB, ${whose} ${megabytes(available)} MB; ${limitBytes ? "" : "close programs or "}choose a smaller model`,
  )
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000)

/**
 * Bytes of memory available without swapping, within a container's limit. `fallback` is the engine's figure, used if there
 * is no /proc: on Linux it excludes reclaimable memory.
 */
async function freeMemory(fallback: number): Promise<number> {
  const meminfo = await readText("/proc/meminfo")
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1]
  const system = available === undefined ? fallback : Number(available) * 1024
  const [max, used, statistics] = await Promise.all(
    ["max", "current", "stat"].map((name) => readText(`/sys/fs/cgroup/memory.${name}`)),
  )
  const limit = Number.parseInt(max ?? "", 10)
  if (!Number.isFinite(limit)) return system
  const cached = Number(/^inactive_file (\d+)/m.exec(statistics ?? "")?.[1] ?? 0)
  return Math.max(0, Math.min(system, limit - (Number.parseInt(used ?? "", 10) || 0) + cached))
}

const readText = (path: string) => readFile(path, "utf8").catch(() => "")

export type OpenModel = Awaited<ReturnType<typeof openModel>>

type OpenOptions = {
  engine: NodeLlamaCpp
  device: Device
  gate: Gate
  /** error lines that llama.cpp logs while the model loads; its exceptions omit them */
  errors: readonly string[]
}

/** Larger batches are no faster, and need memory in proportion to the vocabulary: 570 MB at 512 for Gemma. */
const BATCH_TOKENS = 128
const MIN_CONTEXT_TOKENS = 512

/**
 * Rejects with an `EngineError` MODEL_INVALID, MODEL_TOO_LARGE, OUT_OF_MEMORY or BAD_REQUEST, another error of the engine,
 * or the signal's reason; nothing is left open then.
 */
export async function openModel(load: Load, options: OpenOptions, signal: AbortSignal) {
  const { device, engine, gate } = options
  const contextTokens = await checkModel(load, options)
  const model = await loadWeights(load, contextTokens, options, signal)
  try {
    if (device.gpu !== "off" && model.gpuLayers === 0) throw new Error("its memory is too small for any model layer")
    const threads = threadsFor(load.threads, device.llama.cpuMathCores)
    const context = await model
      .createContext({ contextSize: contextTokens, batchSize: BATCH_TOKENS, threads, createSignal: signal })
      .catch((error: unknown) => {
        throw signal.aborted ? error : outOfMemory(load.modelPath, error, options.errors)
      })
    const writer = new Writer(engine, model, context, gate)
    await writer.prepare(load.instruction, signal)
    // a GPU's first run includes compiling shaders
    if (device.gpu !== "off") await writer.measure(signal)
    const speed = await writer.measure(signal)
    const close = () => model.dispose()
    return { gpu: device.gpu, speed, close, device, model, writer, threads, contextTokens: context.contextSize }
  } catch (error) {
    await model.dispose()
    throw error
  }
}

/** The context to use: as requested, but at most what the model was trained for. */
async function checkModel(load: Load, { engine, device }: OpenOptions): Promise<number> {
  const info: GgufFileInfo = await engine
    .readGgufFileInfo(load.modelPath, { sourceType: "filesystem", logWarnings: false })
    .catch((error: unknown) => {
      throw invalidModel(load.modelPath, `its header cannot be read (${errorMessage(error)})`, error)
    })
  const insights = await engine.GgufInsights.from(info, device.llama)
  if (!insights.isSupportedByLlamaCpp || insights.hasEncoder)
    throw invalidModel(
      load.modelPath,
      `the engine cannot generate text with the architecture ${info.metadata.general?.architecture}`,
    )
  const trained = insights.trainContextSize ?? MIN_CONTEXT_TOKENS
  const contextTokens = Math.min(Math.max(load.contextTokens, MIN_CONTEXT_TOKENS), trained)
  const sizes = { gpuLayers: 0, modelGpuLayers: 0, contextSize: contextTokens, batchSize: BATCH_TOKENS, sequences: 1 }
  // accurate to a few per cent: for SmolLM2-135M 217 MB, measured 201 to 216
  const weights = await insights.estimateModelResourceRequirementsV2(sizes)
  const state = await insights.estimateContextResourceRequirementsV2(sizes)
  const bytes = Math.max(0, weights.cpuRam + state.cpuRam - (await ownMemory(device)))
  checkMemory(load.modelPath, bytes, load.memoryBytes, await freeMemory((await device.llama.getRamState()).free))
  return contextTokens
}

/** Bytes of the GPU's own memory, excluding what it shares with the CPU. */
async function ownMemory(device: Device): Promise<number> {
  if (device.gpu === "off") return 0
  const { free, unifiedSize } = await device.llama.getVramState()
  return Math.max(0, free - unifiedSize)
}

async function loadWeights(
  { modelPath }: Load,
  contextSize: number,
  { device, errors }: OpenOptions,
  signal: AbortSignal,
): Promise<LlamaModel> {
  try {
    return await device.llama.loadModel({
      modelPath,
      // as many layers as fit into its memory
      gpuLayers: device.gpu === "off" ? 0 : { fitContext: { contextSize } },
      // detects NaN weights, with which a model writes rubbish; at most 50 ms for 100 MB
      checkTensors: true,
      loadSignal: signal,
    })
  } catch (error) {
    if (signal.aborted) throw error
    if (isMemoryError(error, errors)) throw outOfMemory(modelPath, error, errors)
    throw invalidModel(modelPath, quoting(errorMessage(error), errors), error)
  }
}

function outOfMemory(path: string, cause: unknown, errors: readonly string[]): EngineError {
  return new EngineError(
    "OUT_OF_MEMORY",
    `not enough memory for ${path}: ${quoting(errorMessage(cause), errors)}; close programs or choose a smaller model`,
    { cause },
  )
}

const isMemoryError = (error: unknown, errors: readonly string[]) =>
  (error instanceof Error && error.name === "InsufficientMemoryError") ||
  errors.some((line) => /failed to allocate|out of memory|not enough memory/i.test(line))

/** The engine's exceptions say only that it failed; its log says why. */
function quoting(message: string, errors: readonly string[]): string {
  const quoted = [...new Set(errors)].slice(0, 2).map((line) => line.slice(0, 200))
  return quoted.length ? `${message}: ${quoted.join("; ")}` : message
}
