// The engine: llama.cpp through node-llama-cpp, which no other file imports but for its types. One model at a time, one
// request at a time; what it can do it declares when a model is loaded.

import { basename } from "node:path"
import type { Capabilities, GpuChoice, Load, Notice, Write, WriteReply } from "../src/engine/wire/messages.ts"
import { chooseDevice } from "./choose.ts"
import { type Device, type NodeLlamaCpp, noEngine, openGpu, openProcessor } from "./device.ts"
import { EngineError } from "./errors.ts"
import { Gate } from "./gate.ts"
import { inspectModel } from "./models.ts"
import { type OpenModel, openModel } from "./open.ts"
import { giveWay } from "./priority.ts"

export type Report = {
  log(level: Notice<"engine/log">["level"], message: string): void
  /** how much of the weights is read, 0 to 1; a hint, which some runtimes never give */
  progress(fraction: number): void
}

export class Engine {
  private readonly gate = new Gate()
  private readonly devices = new Map<GpuChoice, Device>()
  private loaded: OpenModel | undefined
  private paused = false
  /** why a model is not on the GPU, by choice and model: found out, and said, once */
  private readonly fallbacks = new Map<string, string>()
  /** what llama.cpp complained of since the last model began to load */
  private complaints: string[] = []

  constructor(private readonly report: Report) {}

  /**
   * Loads a model in place of the one before. Rejects with an `EngineError`, an error of node-llama-cpp's, or the
   * signal's reason; no model is loaded then, and one can be.
   */
  async load(load: Load, signal: AbortSignal): Promise<Capabilities> {
    const start = performance.now()
    await this.unload()
    const sizeBytes = await inspectModel(load.modelPath)
    const engine = await importEngine()
    const key = `${load.gpu} ${load.modelPath}`
    const known = this.fallbacks.get(key)
    const open = async (gpu: GpuChoice) => {
      signal.throwIfAborted()
      const device = await this.openDevice(engine, gpu)
      this.complaints = []
      const { gate, report, complaints } = this
      return openModel(load, { engine, device, gate, progress: report.progress, complaints }, signal)
    }
    const { opened, fallback = known } = await chooseDevice(known === undefined ? load.gpu : "off", open, signal)
    this.loaded = opened
    this.setGate()
    if (fallback !== undefined && fallback !== known) {
      this.fallbacks.set(key, fallback)
      this.report.log("warn", fallback)
    }
    const { model, device, threads, speed, contextTokens } = opened
    if (threads === 1 || device.gpu !== "off") giveWay()
    return {
      gpu: device.gpu,
      devices: device.names.map((name) => name.slice(0, 200)),
      ...(fallback === undefined ? {} : { fallback: fallback.slice(0, 400) }),
      model: {
        name: (model.fileInfo.metadata.general.name || basename(load.modelPath)).slice(0, 200),
        sizeBytes,
        parameters: model.fileInsights.totalParameters,
      },
      contextTokens,
      threads,
      grammar: true,
      sequences: 1,
      prefillTokensPerSecond: speed.prefill,
      decodeTokensPerSecond: speed.decode,
      loadMs: performance.now() - start,
      rssBytes: process.memoryUsage.rss(),
    }
  }

  /** As `Writer.write`; rejects with an `EngineError` NOT_LOADED when there is no model. */
  async write(request: Write, signal: AbortSignal): Promise<WriteReply> {
    if (!this.loaded) throw new EngineError("NOT_LOADED", "no model is loaded; send engine/load first")
    return this.loaded.writer.write(request, signal)
  }

  /** Holds work up at the next chunk or token, keeping what was evaluated, or lets it go on. */
  pause(paused: boolean): void {
    this.paused = paused
    this.setGate()
  }

  /** Gives the model's memory back. Devices stay open: that is little, and opening one takes 0.3 s. */
  async unload(): Promise<void> {
    const { loaded } = this
    this.loaded = undefined
    this.setGate()
    await loaded?.close()
  }

  async close(): Promise<void> {
    await this.unload()
    await Promise.all([...new Set(this.devices.values())].map((device) => device.llama.dispose()))
    this.devices.clear()
  }

  /** Loading is not held up: it takes seconds, and who waits for it cannot tell a pause from a failure. */
  private setGate(): void {
    this.gate.set(this.paused && this.loaded !== undefined)
  }

  /** Each is opened once: a second instance of the same build logs to stdout and not to us. */
  private async openDevice(engine: NodeLlamaCpp, choice: GpuChoice): Promise<Device> {
    const known = this.devices.get(choice)
    if (known) return known
    const logger = (level: string, message: string) => this.hear(level, message)
    const device = choice === "off" ? await openProcessor(engine, logger) : await openGpu(engine, choice, logger)
    this.devices.set(choice, device)
    this.devices.set(device.gpu, device)
    return device
  }

  private hear(level: string, message: string): void {
    const line = message.trim()
    if (line === "") return
    const serious = level === "error" || level === "fatal"
    if (serious) this.complaints.push(line)
    this.report.log(serious ? "error" : "warn", line)
  }
}

/** Native code: only when the first model is loaded, so that a process that is asked nothing stays small. */
function importEngine(): Promise<NodeLlamaCpp> {
  return import("node-llama-cpp").catch((error: unknown) => {
    throw noEngine(error)
  })
}
