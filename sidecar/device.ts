// Where the model runs: on a GPU, if there is one that works and is fast enough, otherwise on the CPU; with how many
// threads, and at which scheduling priority.

import { readdirSync } from "node:fs"
import { availableParallelism, setPriority } from "node:os"
import type { Llama, LlamaLogLevel } from "node-llama-cpp"
import type { Capabilities, GpuChoice } from "../src/engine/wire/messages.ts"
import { errorMessage } from "../src/system/values.ts"
import { EngineError } from "./errors.ts"
import type { Speed } from "./pace.ts"

export type NodeLlamaCpp = typeof import("node-llama-cpp")

export type Device = {
  llama: Llama
  gpu: Capabilities["gpu"]
  /** names of the devices, empty on the CPU */
  names: string[]
}

type EngineLogger = (level: LlamaLogLevel, message: string) => void

/**
 * Opens the requested GPU interface, or with `auto` the best available, which may be the CPU. Throws if an interface that
 * was named or found cannot be used. Never builds or downloads anything.
 */
export async function openGpu(
  engine: NodeLlamaCpp,
  choice: Exclude<GpuChoice, "off">,
  logger: EngineLogger,
): Promise<Device> {
  const llama = await open(engine, choice, logger).catch((error: unknown) => {
    if (error instanceof engine.NoBinaryFoundError)
      throw new Error("its package is not installed, or its driver does not load")
    throw error
  })
  try {
    const { gpu } = llama
    if (gpu === false) {
      if (choice === "auto") return { llama, gpu: "off", names: [] }
      throw new Error("this machine has none")
    }
    // llama.cpp also accepts a driver without a device
    const names = await llama.getGpuDeviceNames()
    const { total } = await llama.getVramState()
    if (names.length === 0 || total === 0) throw new Error(`${gpu} has a driver but no device`)
    return { llama, gpu, names }
  } catch (error) {
    await llama.dispose()
    throw error
  }
}

/** The engine does not say which. */
const NOT_LOADED =
  "none of its packages fits this machine, or their folder is mounted noexec, which HUDFOLD_DATA avoids"

/** Throws an `EngineError` NO_ENGINE if the native package for this machine is not installed or does not load. */
export async function openCpu(engine: NodeLlamaCpp, logger: EngineLogger): Promise<Device> {
  try {
    const llama = await open(engine, false, logger).catch((error: unknown) => {
      // Apple silicon has only the Metal build, which uses the CPU if no layers are assigned to the GPU
      if (error instanceof engine.NoBinaryFoundError && process.platform === "darwin")
        return open(engine, "auto", logger)
      throw error
    })
    return { llama, gpu: "off", names: [] }
  } catch (error) {
    throw noEngine(error instanceof engine.NoBinaryFoundError ? new Error(NOT_LOADED) : error)
  }
}

export function noEngine(cause: unknown): EngineError {
  return new EngineError(
    "NO_ENGINE",
    `the engine does not start (${errorMessage(cause)}); to install it again: hudfold setup --uninstall --keep-models, then hudfold setup`,
    { cause },
  )
}

function open(engine: NodeLlamaCpp, gpu: Exclude<GpuChoice, "off"> | false, logger: EngineLogger): Promise<Llama> {
  return engine.getLlama({
    gpu,
    // other values may clone and compile llama.cpp, for up to an hour
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: engine.LlamaLogLevel.warn,
    logger,
  })
}

/**
 * Threads for evaluation: as requested, or half of the math cores, 1 to 6. Threads wait for each other by spinning, so if
 * there are as many as cores, any other program slows the engine twentyfold: from 31 to 1.7 tokens/s on two busy cores.
 */
export function threadsFor(asked: number, mathCores: number, available = availableParallelism()): number {
  if (asked > 0) return Math.min(asked, available)
  const cores = Math.min(mathCores, available)
  return cores <= 3 ? 1 : Math.min(6, Math.floor(cores / 2))
}

export type Opened = {
  /** where it runs; `off` is the CPU */
  gpu: Capabilities["gpu"]
  speed: Speed
  close(): Promise<void>
}

/** A GPU that finishes a typical request within this time is not compared with the CPU. */
const MAX_UNCOMPARED_SECONDS = 3

/**
 * Opens the model on the requested device, or on the CPU if that fails. With `auto` also on the CPU if the GPU is slower:
 * a weak one can be a hundred times slower. A GPU requested by name is used however slow it is.
 *
 * `open("auto")` must open on the CPU if there is no GPU. `fallback` says why it is not the requested or an available GPU.
 * Rejects if opening on the CPU fails, or with the signal's reason; nothing is left open then.
 */
export async function chooseDevice<T extends Opened>(
  asked: GpuChoice,
  open: (gpu: GpuChoice) => Promise<T>,
  signal: AbortSignal,
): Promise<{ opened: T; fallback?: string }> {
  if (asked === "off") return { opened: await open("off") }
  const first = await open(asked).catch((error: unknown) => {
    signal.throwIfAborted()
    return `${asked === "auto" ? "the GPU" : asked} is not used: ${errorMessage(error)}`
  })
  if (typeof first === "string") return { opened: await open("off"), fallback: first }
  if (asked !== "auto" || first.gpu === "off" || requestSeconds(first.speed) < MAX_UNCOMPARED_SECONDS)
    return { opened: first }

  // one at a time: memory may not suffice for both
  const { gpu, speed } = first
  await first.close()
  const second = await open("off").catch(() => {
    signal.throwIfAborted()
    // the model may fit the GPU's memory but not the machine's
    return undefined
  })
  if (second === undefined) return { opened: await open(gpu) }
  if (requestSeconds(second.speed) > requestSeconds(speed)) {
    await second.close()
    return { opened: await open(gpu) }
  }
  return { opened: second, fallback: `${gpu} is not used: it ${describe(speed)}, the CPU ${describe(second.speed)}` }
}

/** For a typical request: 1000 tokens of document, 64 of answer. */
const requestSeconds = ({ prefill, decode }: Speed) => 1000 / prefill + 64 / decode

const describe = ({ prefill, decode }: Speed) => `reads ${round(prefill)} and writes ${round(decode)} tokens a second`

const round = (value: number) => Number(value.toPrecision(2))

const NICE = 10

/**
 * Yields to other programs, permanently: an unprivileged process cannot raise its priority again. Only for one thread or a
 * GPU: several threads spin while one of them is preempted, and measurements showed that niced spinners are even slower.
 */
export function lowerPriority(): void {
  for (const id of taskIds()) {
    try {
      setPriority(id, NICE)
    } catch {
      // the thread has ended, or setting priorities is not permitted
    }
  }
}

/** Linux has one priority per thread, and the engine's threads exist by now; elsewhere 0 means the whole process. */
function taskIds(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number)
  } catch {
    return [0]
  }
}
