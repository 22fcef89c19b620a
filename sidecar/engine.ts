// The engine: llama.cpp through node-llama-cpp, of which all other files import only types. One model and one request at a
// time. Its capabilities are known when a model is loaded.

import { basename } from "node:path"
import type { Capabilities, GpuChoice, Load, WriteReply, WriteRequest } from "../src/engine/wire/messages.ts"
import { chooseDevice, type Device, lowerPriority, type NodeLlamaCpp, noEngine, openCpu, openGpu } from "./device.ts"
import { EngineError } from "./errors.ts"
import { inspectModel, type OpenModel, openModel } from "./models.ts"
import { Gate } from "./pace.ts"

export class Engine {
  private readonly gate = new Gate()
  private readonly devices = new Map<GpuChoice, Device>()
  private loaded: OpenModel | undefined
  private paused = false
  /** llama.cpp's errors since the last model began to load */
  private errors: string[] = []

  /** `log` receives what llama.cpp says. */
  constructor(private readonly log: (message: string) => void) {}

  /**
   * Loads a model, replacing the loaded one. Rejects with an `EngineError`, an error of node-llama-cpp's, or the signal's
   * reason; then no model is loaded, and another one can be.
   */
  async load(load: Load, signal: AbortSignal): Promise<Capabilities> {
    const start = performance.now()
    await this.closeModel()
    await inspectModel(load.modelPath)
    // not before a model is loaded, so that an unused process stays small
    const engine = await import("node-llama-cpp").catch((error: unknown) => {
      throw noEngine(error)
    })
    const open = async (gpu: GpuChoice) => {
      signal.throwIfAborted()
      const device = await this.openDevice(engine, gpu)
      this.errors = []
      const { gate, errors } = this
      return openModel(load, { engine, device, gate, errors }, signal)
    }
    const { opened, fallback } = await chooseDevice(load.gpu, open, signal)
    this.loaded = opened
    this.setGate()
    const { model, device, threads, speed, contextTokens } = opened
    if (threads === 1 || device.gpu !== "off") lowerPriority()
    return {
      gpu: device.gpu,
      devices: device.names.map((name) => name.slice(0, 200)),
      ...(fallback === undefined ? {} : { fallback: fallback.slice(0, 400) }),
      model: { name: (model.fileInfo.metadata.general.name || basename(load.modelPath)).slice(0, 200) },
      contextTokens,
      threads,
      prefillTokensPerSecond: speed.prefill,
      decodeTokensPerSecond: speed.decode,
      loadMs: performance.now() - start,
    }
  }

  /** As `Writer.write`; rejects with an `EngineError` NOT_LOADED if there is no model. */
  async write(request: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
    if (!this.loaded) throw new EngineError("NOT_LOADED", "no model is loaded; send engine/load first")
    return this.loaded.writer.write(request, signal)
  }

  /** Pauses work at the next chunk or token, keeping what was evaluated, or continues it. */
  pause(paused: boolean): void {
    this.paused = paused
    this.setGate()
  }

  /** Frees the model's memory. Devices stay open: they need little memory, and opening one takes 0.3 s. */
  private async closeModel(): Promise<void> {
    const { loaded } = this
    this.loaded = undefined
    this.setGate()
    await loaded?.close()
  }

  async close(): Promise<void> {
    await this.closeModel()
    await Promise.all([...new Set(this.devices.values())].map((device) => device.llama.dispose()))
    this.devices.clear()
  }

  /** Loading is not paused: it takes seconds, and the plugin could not distinguish a pause from a failure. */
  private setGate(): void {
    this.gate.set(this.paused && this.loaded !== undefined)
  }

  /** Opens each device once: a second instance of the same build logs to stdout. */
  private async openDevice(engine: NodeLlamaCpp, choice: GpuChoice): Promise<Device> {
    const known = this.devices.get(choice)
    if (known) return known
    const logger = (level: string, message: string) => this.onLog(level, message)
    const device = choice === "off" ? await openCpu(engine, logger) : await openGpu(engine, choice, logger)
    this.devices.set(choice, device)
    this.devices.set(device.gpu, device)
    return device
  }

  private onLog(level: string, message: string): void {
    const line = message.trim()
    if (line === "") return
    if (level === "error" || level === "fatal") this.errors.push(line)
    this.log(line)
  }
}
