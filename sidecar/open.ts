// Opens a model on a device, from the checks before loading to the measured speed, and puts into words what the engine
// says when that fails.

import type { GgufFileInfo, LlamaModel } from "node-llama-cpp"
import type { Load } from "../src/engine/wire/messages.ts"
import type { Opened } from "./choose.ts"
import { type Device, type NodeLlamaCpp, threadsFor } from "./device.ts"
import { EngineError, messageOf } from "./errors.ts"
import type { Gate } from "./gate.ts"
import { checkMemory, freeMemory, invalid } from "./models.ts"
import { Writer } from "./writer.ts"

export type OpenModel = Opened & {
  device: Device
  model: LlamaModel
  writer: Writer
  threads: number
  contextTokens: number
}

export type Surroundings = {
  engine: NodeLlamaCpp
  device: Device
  gate: Gate
  progress(fraction: number): void
  /** grows while the model loads: what llama.cpp complains of, which its errors leave out */
  complaints: readonly string[]
}

/** More costs memory by the size of the vocabulary, 570 MB at 512 for Gemma's, and is no faster. */
const BATCH_TOKENS = 128
const LEAST_CONTEXT = 512

/**
 * Rejects with an `EngineError` MODEL_INVALID, MODEL_TOO_LARGE, OUT_OF_MEMORY or BAD_REQUEST, another error of the
 * engine's, or the signal's reason; nothing is left open then.
 */
export async function openModel(load: Load, around: Surroundings, signal: AbortSignal): Promise<OpenModel> {
  const { device, engine, gate } = around
  const contextTokens = await checkModel(load, around)
  const model = await loadWeights(load, contextTokens, around, signal)
  try {
    if (device.gpu !== "off" && model.gpuLayers === 0) throw new Error("its memory is too small for any of the model")
    const threads = threadsFor(load.threads, device.llama.cpuMathCores)
    const context = await model
      .createContext({ contextSize: contextTokens, batchSize: BATCH_TOKENS, threads, createSignal: signal })
      .catch((error: unknown) => {
        throw signal.aborted ? error : outOfMemory(load.modelPath, error, around.complaints)
      })
    const writer = new Writer(engine, model, context, gate)
    await writer.prepare(load.instruction, signal)
    // a GPU's first round goes into compiling
    if (device.gpu !== "off") await writer.measure(signal)
    const speed = await writer.measure(signal)
    const close = () => model.dispose()
    return { gpu: device.gpu, speed, close, device, model, writer, threads, contextTokens: context.contextSize }
  } catch (error) {
    await model.dispose()
    throw error
  }
}

/** The context to use, in tokens: what was asked for, within what the model was trained for. */
async function checkModel(load: Load, { engine, device }: Surroundings): Promise<number> {
  const info: GgufFileInfo = await engine
    .readGgufFileInfo(load.modelPath, { sourceType: "filesystem", logWarnings: false })
    .catch((error: unknown) => {
      throw invalid(load.modelPath, `its header cannot be read (${messageOf(error)})`, error)
    })
  const insights = await engine.GgufInsights.from(info, device.llama)
  if (!insights.isSupportedByLlamaCpp || insights.hasEncoder)
    throw invalid(
      load.modelPath,
      `the engine cannot write with the architecture ${info.metadata.general?.architecture}`,
    )
  const trained = insights.trainContextSize ?? LEAST_CONTEXT
  const contextTokens = Math.min(Math.max(load.contextTokens, LEAST_CONTEXT), trained)
  const sizes = { gpuLayers: 0, modelGpuLayers: 0, contextSize: contextTokens, batchSize: BATCH_TOKENS, sequences: 1 }
  // within a few per cent of what the process grew by, for SmolLM2-135M 217 MB against 201 to 216
  const weights = await insights.estimateModelResourceRequirementsV2(sizes)
  const state = await insights.estimateContextResourceRequirementsV2(sizes)
  checkMemory(load.modelPath, {
    bytes: Math.max(0, weights.cpuRam + state.cpuRam - (await ownMemory(device))),
    limitBytes: load.memoryBytes,
    freeBytes: await freeMemory((await device.llama.getRamState()).free),
  })
  return contextTokens
}

/** Memory of the GPU's own, in bytes; what it shares with the processor is counted there. */
async function ownMemory(device: Device): Promise<number> {
  if (device.gpu === "off") return 0
  const { free, unifiedSize } = await device.llama.getVramState()
  return Math.max(0, free - unifiedSize)
}

async function loadWeights(
  { modelPath }: Load,
  contextSize: number,
  { device, progress, complaints }: Surroundings,
  signal: AbortSignal,
): Promise<LlamaModel> {
  try {
    return await device.llama.loadModel({
      modelPath,
      // as many layers as fit its memory
      gpuLayers: device.gpu === "off" ? 0 : { fitContext: { contextSize } },
      // finds weights that are no numbers, with which a model writes rubbish; at most 50 ms for 100 MB
      checkTensors: true,
      onLoadProgress: progress,
      loadSignal: signal,
    })
  } catch (error) {
    if (signal.aborted) throw error
    if (isMemoryError(error, complaints)) throw outOfMemory(modelPath, error, complaints)
    throw invalid(modelPath, quoting(messageOf(error), complaints), error)
  }
}

function outOfMemory(path: string, cause: unknown, complaints: readonly string[]): EngineError {
  return new EngineError(
    "OUT_OF_MEMORY",
    `no memory for ${path}: ${quoting(messageOf(cause), complaints)}; close programs or choose a smaller model`,
    { cause },
  )
}

const isMemoryError = (error: unknown, complaints: readonly string[]) =>
  (error instanceof Error && error.name === "InsufficientMemoryError") ||
  complaints.some((line) => /failed to allocate|out of memory|not enough memory/i.test(line))

/** The engine's own errors say only that it failed; why stands in its log. */
function quoting(message: string, complaints: readonly string[]): string {
  const quoted = [...new Set(complaints)].slice(0, 2).map((line) => line.slice(0, 200))
  return quoted.length ? `${message}: ${quoted.join("; ")}` : message
}
