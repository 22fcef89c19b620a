// Where the model runs: a GPU interface of llama.cpp, opened and found to have a device, or the processor.

import { availableParallelism } from "node:os"
import type { Llama, LlamaLogLevel } from "node-llama-cpp"
import type { Capabilities, GpuChoice } from "../src/engine/wire/messages.ts"
import { EngineError, messageOf } from "./errors.ts"

export type NodeLlamaCpp = typeof import("node-llama-cpp")

export type Device = {
  llama: Llama
  gpu: Capabilities["gpu"]
  /** names, empty on the processor */
  names: string[]
}

export type EngineLogger = (level: LlamaLogLevel, message: string) => void

/**
 * The GPU asked for, or with `auto` the best there is, which may be the processor. Throws when one that was named, or
 * one that was found, cannot be used. Never builds or downloads anything.
 */
export async function openGpu(
  engine: NodeLlamaCpp,
  choice: Exclude<GpuChoice, "off">,
  logger: EngineLogger,
): Promise<Device> {
  const llama = await open(engine, choice, logger).catch((error: unknown) => {
    if (error instanceof engine.NoBinaryFoundError)
      throw new Error("its part of the engine is not installed, or its driver does not load")
    throw error
  })
  try {
    const { gpu } = llama
    if (gpu === false) {
      if (choice === "auto") return { llama, gpu: "off", names: [] }
      throw new Error("there is none here")
    }
    // a driver without a device counts as one all the same
    const names = await llama.getGpuDeviceNames()
    const { total } = await llama.getVramState()
    if (names.length === 0 || total === 0) throw new Error(`${gpu} has a driver and no device`)
    return { llama, gpu, names }
  } catch (error) {
    await llama.dispose()
    throw error
  }
}

/** Throws an `EngineError` NO_ENGINE when the native part for this machine is not installed or does not load. */
export async function openProcessor(engine: NodeLlamaCpp, logger: EngineLogger): Promise<Device> {
  try {
    const llama = await open(engine, false, logger).catch((error: unknown) => {
      // of macOS on ARM there is one build, Metal's; it computes on the processor when no layer is given to the GPU
      if (error instanceof engine.NoBinaryFoundError && process.platform === "darwin")
        return open(engine, "auto", logger)
      throw error
    })
    return { llama, gpu: "off", names: [] }
  } catch (error) {
    throw noEngine(error instanceof engine.NoBinaryFoundError ? new Error("no part of it fits this machine") : error)
  }
}

export function noEngine(cause: unknown): EngineError {
  return new EngineError(
    "NO_ENGINE",
    `the engine does not start (${messageOf(cause)}); run \`hudfold setup\` to install it again`,
    { cause },
  )
}

function open(engine: NodeLlamaCpp, gpu: Exclude<GpuChoice, "off"> | false, logger: EngineLogger): Promise<Llama> {
  return engine.getLlama({
    gpu,
    // anything else may clone llama.cpp and compile it, for up to an hour
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: engine.LlamaLogLevel.warn,
    logger,
  })
}

/**
 * Threads for evaluating: those asked for, or half the cores that are good at it, at least 1 and at most 6. The engine's
 * threads wait for each other by spinning, so with as many as there are cores, any other program slows it twentyfold: on
 * two busy cores 31 tokens a second became 1.7.
 */
export function threadsFor(asked: number, mathCores: number, available = availableParallelism()): number {
  if (asked > 0) return Math.min(asked, available)
  const cores = Math.min(mathCores, available)
  return cores <= 3 ? 1 : Math.min(6, Math.floor(cores / 2))
}
