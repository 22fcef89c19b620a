// The sidecar as the plugin uses it: started on demand, ended when idle or after a failure, and switched off when starting it
// again cannot help. There is at most one process at a time. When to try again after a failure is the caller's to decide.

import { orAborted } from "../system/process.ts"
import { errorMessage } from "../system/values.ts"
import { closedError, isPermanent, SidecarError } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"
import type { Lease } from "./lease.ts"
import { RUN_TIMES, runningWords, type SidecarRun, startRun, tooSlowReason } from "./run.ts"
import type { Capabilities, Load, WriteReply, WriteRequest } from "./wire/messages.ts"

export type Logger = (level: "info" | "warn", message: string) => void

/** `idle`: not asked for anything yet, or without work for so long that its process was ended */
export type SidecarState =
  | { kind: "idle" | "starting" | "ready" }
  /** the last request failed; the next one tries again */
  | { kind: "degraded"; reason: string }
  /** it is not tried again in this process */
  | { kind: "off"; reason: string }

const BUSY =
  "another OpenCode, or a project with other options, has loaded the model; until it ends, digests are made without it"

/** With so many crashes on the GPU it is no longer used. */
const MAX_GPU_CRASHES = 2

/** A model that was too slow at so many starts in a row stays off. At fewer, other programs may have had the processor. */
const MAX_SLOW_STARTS = 5

export type SidecarConfig = {
  spec: LaunchSpec
  load: Omit<Load, "instruction">
  /** Called before every start. Resolves with a sentence if the model must never be loaded. */
  check?: (signal: AbortSignal) => Promise<string | undefined>
  lease: Lease
  /** after how long without work the process is ended */
  idleMs: number
  times?: Partial<typeof RUN_TIMES>
  report: Logger
  /** called when `state` has changed */
  onChange?: () => void
}

export type Sidecar = ReturnType<typeof createSidecar>

/** Resolves when the sidecars of this process that are closing are gone: until then they hold the model and the lease. */
let closed: Promise<unknown> = Promise.resolve()

export function createSidecar(config: SidecarConfig) {
  const closing = new AbortController()
  let run: SidecarRun | undefined
  let starting = false
  /** of the model loaded last */
  let capabilities: Capabilities | undefined
  let off: string | undefined
  /** why the last request failed, until one is answered */
  let failure: SidecarError | undefined
  let gpuCrashes = 0
  let slowStarts = 0
  let paused = false
  let idle: ReturnType<typeof setTimeout> | undefined
  let queue: Promise<unknown> = Promise.resolve()

  /** Serializes everything that starts, uses or ends the process, except `close`. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const mine = queue.then(action)
    queue = mine.catch(() => {})
    return mine
  }

  async function work(params: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
    signal.throwIfAborted()
    if (closing.signal.aborted) throw closedError()
    if (off !== undefined) throw new SidecarError("OFF", off)
    clearTimeout(idle)
    try {
      // continues when the request is aborted: the next one needs it
      const current = run ?? (await start(params.instruction))
      const reply = await current.write(params, signal)
      failure = undefined
      return reply
    } finally {
      idle = setTimeout(() => void inTurn(endRun), config.idleMs)
      idle.unref()
    }
  }

  async function start(instruction: string): Promise<SidecarRun> {
    const gpu = gpuCrashes < MAX_GPU_CRASHES ? config.load.gpu : "off"
    starting = true
    config.onChange?.()
    try {
      await closed
      const problem = await config.check?.(closing.signal)
      if (problem !== undefined) throw new SidecarError("OFF", problem)
      const lease = await config.lease.acquire()
      if (lease === "busy") throw new SidecarError("BUSY", BUSY)
      if (lease !== "held")
        config.report("info", `several OpenCode processes may each load the model: ${lease.unavailable}`)
      const times = { ...RUN_TIMES, ...config.times }
      const load = { ...config.load, gpu, instruction }
      const fresh = await startRun({ spec: config.spec, load, holdsHost: false, times }, closing.signal)
      const slow = tooSlowReason(fresh.capabilities)
      if (slow === undefined && !closing.signal.aborted) return adopt(fresh)
      await fresh.end()
      if (slow === undefined) throw closedError()
      throw new SidecarError(++slowStarts < MAX_SLOW_STARTS ? "START_FAILED" : "OFF", slow)
    } catch (cause) {
      config.lease.release()
      // before a model is loaded no document is to blame
      const isRefused = cause instanceof SidecarError && cause.code === "REFUSED" && !isPermanent(cause)
      throw failed(isRefused ? new SidecarError("START_FAILED", cause.message, { cause }) : cause, gpu !== "off")
    } finally {
      starting = false
      config.onChange?.()
    }
  }

  function adopt(fresh: SidecarRun): SidecarRun {
    const { model, gpu, fallback } = fresh.capabilities
    if (!capabilities) {
      config.report("info", `the model ${model.name} is loaded: ${runningWords(fresh.capabilities)}`)
      if (fallback) config.report("info", `not on a better device: ${fallback}`)
    }
    run = fresh
    slowStarts = 0
    capabilities = fresh.capabilities
    if (paused) fresh.pause(true)
    void fresh.ended.then((reason) => {
      if (run !== fresh) return
      run = undefined
      config.lease.release()
      const error = failed(reason, gpu !== "off")
      if (error.code !== "CLOSED") config.report("warn", error.message)
    })
    return fresh
  }

  /** Records a failure, and returns what the request rejects with. */
  function failed(cause: unknown, usedGpu: boolean): SidecarError {
    if (closing.signal.aborted) return closedError()
    // possibly temporary: a disk that is not mounted, no file descriptors left
    const unread = `the model could not be read (${errorMessage(cause)})`
    const error = cause instanceof SidecarError ? cause : new SidecarError("START_FAILED", unread, { cause })
    if (isPermanent(error)) {
      off = error.message
      config.report("warn", `the sidecar stays off: ${off}`)
      config.onChange?.()
      return new SidecarError("OFF", off, { cause })
    }
    failure = error
    // it died or hung, as with a faulty driver, rather than reporting an error
    if (usedGpu && (error.code === "ENDED" || error.code === "TIMEOUT") && ++gpuCrashes === MAX_GPU_CRASHES)
      config.report("warn", `the sidecar failed twice with the GPU and continues without it: ${error.message}`)
    config.onChange?.()
    return error
  }

  /**
   * Ends the process instead of unloading its model: after unloading it still held 187 MB of 1,244, and a GPU driver
   * keeps memory for as long as the process lives.
   */
  async function endRun(): Promise<void> {
    const ending = run
    run = undefined
    if (!ending) return
    config.onChange?.()
    await ending.end()
    config.lease.release()
  }

  return {
    get state(): SidecarState {
      if (closing.signal.aborted) return { kind: "off", reason: "it was closed" }
      if (off !== undefined) return { kind: "off", reason: off }
      if (starting) return { kind: "starting" }
      if (run) return { kind: "ready" }
      return failure ? { kind: "degraded", reason: failure.message } : { kind: "idle" }
    },
    /** of the model loaded last */
    get capabilities() {
      return capabilities
    },
    /** One at a time, in order. Rejects with a `SidecarError`, or on abort at once with the signal's reason. */
    write(params: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
      const written = inTurn(() => work(params, signal))
      return orAborted(written, signal)
    },
    pause(now: boolean): void {
      if (now === paused) return
      paused = now
      run?.pause(now)
    },
    /** Permanent. Rejects what is pending. Idempotent. */
    close(): Promise<void> {
      closing.abort()
      clearTimeout(idle)
      // a start, or a write, ends with the process
      const gone = endRun().then(() => queue)
      closed = Promise.allSettled([closed, gone])
      return gone.then(() => {})
    },
  }
}
