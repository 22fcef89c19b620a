// The sidecar as the plugin uses it: started on demand, ended when idle, restarted after failures, and switched off when
// restarting cannot help. There is at most one process at a time.

import { setTimeout as sleep } from "node:timers/promises"
import { orAborted } from "../system/process.ts"
import { errorMessage } from "../system/values.ts"
import { seconds } from "../text/format.ts"
import { Health, isPermanent, RESTS_MS, SidecarError, wasClosed } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"
import type { Lease } from "./lease.ts"
import { RUN_TIMES, type SidecarRun, startRun, tooSlowReason } from "./run.ts"
import type { Capabilities, Load, Notice, WriteReply, WriteRequest } from "./wire/messages.ts"

export type Logger = (level: Notice<"engine/log">["level"], message: string) => void

type SidecarState =
  | { kind: "idle" | "starting" | "ready" }
  /** it is not started now, but will be later */
  | { kind: "degraded"; reason: string }
  /** it is not started again */
  | { kind: "off"; reason: string }

const TIMES = {
  ...RUN_TIMES,
  /** rests after consecutive failures; the last one is the degraded state */
  restsMs: RESTS_MS,
  /** how long to wait before trying the lease again */
  leaseMs: 30_000,
}
export type SidecarTimes = typeof TIMES

export type SidecarConfig = {
  spec: LaunchSpec
  load: Omit<Load, "instruction">
  /** Called before every start. Resolves with a sentence if the model must never be loaded. */
  check?: (signal: AbortSignal) => Promise<string | undefined>
  /** the plugin's version */
  version: string
  lease: Lease
  /** after how long without work the process is ended */
  idleMs: number
  times?: Partial<SidecarTimes>
  report: Logger
  /** called when `state` has changed, except at the end of a rest */
  onChange?: () => void
}

export type Sidecar = ReturnType<typeof createSidecar>

/** Resolves when the sidecars of this process that are closing are gone: until then they hold the model and the lease. */
let closed: Promise<unknown> = Promise.resolve()

export function createSidecar(config: SidecarConfig) {
  const times = { ...TIMES, ...config.times }
  const health = new Health(times.restsMs)
  const closing = new AbortController()
  const logged = new Set<string>()
  let run: SidecarRun | undefined
  let starting: Promise<SidecarRun> | undefined
  let capabilities: Capabilities | undefined
  let off: string | undefined
  let busyElsewhere = { untilMs: 0, reason: "" }
  let paused = false
  let working = false
  let idle: ReturnType<typeof setTimeout> | undefined
  let queue: Promise<unknown> = Promise.resolve()

  /** Logs each subject once. */
  function logOnce(subject: string, level: Parameters<Logger>[0], message: string): void {
    if (logged.has(subject)) return
    logged.add(subject)
    config.report(level, message)
  }

  /** Serializes everything that uses or ends the process, except `close`. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const mine = queue.then(action)
    queue = mine.catch(() => {})
    return mine
  }

  async function work(params: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
    signal.throwIfAborted()
    if (closing.signal.aborted) throw wasClosed()
    if (off !== undefined) throw new SidecarError("OFF", off)
    clearTimeout(idle)
    working = true
    let current: SidecarRun | undefined
    try {
      current = run ?? (await orAborted(start(params.instruction), signal))
      const reply = await current.write(params, signal)
      health.answered()
      return reply
    } catch (error) {
      if (error instanceof SidecarError && current) await handleWriteFailure(error, current)
      throw error
    } finally {
      working = false
      startIdleTimer()
    }
  }

  /** Handles failures that the run survived. Those that ended it are already recorded. */
  async function handleWriteFailure(error: SidecarError, current: SidecarRun): Promise<void> {
    if (run !== current || error.wire === "BAD_REQUEST") return
    recordFailure(error, current.capabilities.gpu !== "off")
    // a run that is only slow may continue
    if (error.code !== "TIMEOUT" || health.isDegraded) await endRun()
  }

  function recordFailure(error: SidecarError, usedGpu: boolean): void {
    if (error.code === "CLOSED" || closing.signal.aborted) return
    if (isPermanent(error)) {
      turnOff(error.message)
      return
    }
    const avoided = health.avoidsGpu
    health.failed(error, performance.now(), usedGpu)
    config.onChange?.()
    if (health.avoidsGpu && !avoided)
      logOnce("gpu", "warn", `the sidecar failed twice with the GPU and continues without it: ${error.message}`)
    if (health.isDegraded)
      logOnce("degraded", "warn", `repeated failures, digests are made without the model for now: ${error.message}`)
    else logOnce(error.code, "info", `the sidecar failed and will be restarted: ${error.message}`)
  }

  function turnOff(reason: string): void {
    off = reason
    config.onChange?.()
    logOnce("off", "warn", `the sidecar stays off: ${reason}`)
  }

  /** The start continues when the request that caused it is aborted: the next request needs it. */
  function start(instruction: string): Promise<SidecarRun> {
    if (starting) return starting
    starting = begin(instruction).finally(() => {
      starting = undefined
      config.onChange?.()
      startIdleTimer()
    })
    config.onChange?.()
    return starting
  }

  async function begin(instruction: string): Promise<SidecarRun> {
    await closed
    await rest()
    await checkModel()
    await takeLease()
    const load: Load = { ...config.load, instruction, ...(health.avoidsGpu ? { gpu: "off" as const } : {}) }
    try {
      const { spec, version } = config
      const onLog = (level: Parameters<Logger>[0], message: string) => config.report(level, `sidecar: ${message}`)
      const fresh = await startRun({ spec, load, version, holdsHost: false, times, onLog }, closing.signal)
      capabilities = fresh.capabilities
      const slow = tooSlowReason(fresh.capabilities)
      if (slow !== undefined) turnOff(slow)
      else if (!closing.signal.aborted) return adopt(fresh)
      await fresh.end()
      throw wasClosed()
    } catch (error) {
      config.lease.release()
      if (error instanceof SidecarError) recordFailure(error, load.gpu !== "off")
      if (off !== undefined) throw new SidecarError("OFF", off, { cause: error })
      throw error
    }
  }

  function adopt(fresh: SidecarRun): SidecarRun {
    run = fresh
    if (paused) fresh.pause(true)
    const { model, gpu, threads, fallback, loadMs, prefillTokensPerSecond, decodeTokensPerSecond } = fresh.capabilities
    const place = gpu === "off" ? `the CPU (threads: ${threads})` : gpu
    const speed = `${prefillTokensPerSecond.toFixed(0)} tokens/s in, ${decodeTokensPerSecond.toFixed(1)} out`
    logOnce("loaded", "info", `${model.name} loaded on ${place} in ${seconds(loadMs)}: ${speed}`)
    if (fallback) logOnce("fallback", "info", `not on a better device: ${fallback}`)
    void fresh.ended.then((reason) => {
      if (run !== fresh) return
      run = undefined
      config.onChange?.()
      config.lease.release()
      recordFailure(reason, gpu !== "off")
    })
    return fresh
  }

  async function rest(): Promise<void> {
    const leftMs = (health.rest?.untilMs ?? 0) - performance.now()
    if (leftMs <= 0) return
    if (health.isDegraded) throw new SidecarError("RESTING", health.rest?.reason ?? "it failed repeatedly")
    try {
      await sleep(leftMs, undefined, { signal: closing.signal, ref: false })
    } catch {
      throw wasClosed()
    }
  }

  async function checkModel(): Promise<void> {
    let problem: string | undefined
    try {
      problem = await config.check?.(closing.signal)
    } catch (cause) {
      if (closing.signal.aborted) throw wasClosed()
      // possibly temporary: a disk that is not mounted, no file descriptors left
      const why = `the model could not be read (${errorMessage(cause)})`
      const failure = new SidecarError("START_FAILED", why, { cause })
      recordFailure(failure, false)
      throw failure
    }
    if (problem === undefined) return
    turnOff(problem)
    throw new SidecarError("OFF", problem)
  }

  async function takeLease(): Promise<void> {
    if (performance.now() < busyElsewhere.untilMs) throw new SidecarError("RESTING", busyElsewhere.reason)
    const lease = await config.lease.acquire()
    if (typeof lease === "object")
      logOnce("lease", "info", `several OpenCode processes may each load the model: ${lease.unavailable}`)
    if (lease !== "busy") return
    const reason =
      "another OpenCode, or a project with other options, has loaded the model; until it ends, digests are made without it"
    busyElsewhere = { untilMs: performance.now() + times.leaseMs, reason }
    logOnce("busy", "info", reason)
    throw new SidecarError("RESTING", reason)
  }

  /**
   * Ends the process instead of unloading its model: after unloading it still held 187 MB of 1,244, and a GPU driver
   * keeps memory for as long as the process lives.
   */
  async function endRun(): Promise<void> {
    const ending = run
    run = undefined
    if (ending) config.onChange?.()
    await ending?.end()
    if (!starting) config.lease.release()
  }

  /** After a write, and after a start whose write was aborted. */
  function startIdleTimer(): void {
    clearTimeout(idle)
    if (working || closing.signal.aborted) return
    idle = setTimeout(() => void inTurn(endRun), config.idleMs)
    idle.unref()
  }

  return {
    get state(): SidecarState {
      if (closing.signal.aborted) return { kind: "off", reason: "it was closed" }
      if (off !== undefined) return { kind: "off", reason: off }
      if (starting) return { kind: "starting" }
      if (run) return { kind: "ready" }
      const now = performance.now()
      if (now < busyElsewhere.untilMs) return { kind: "degraded", reason: busyElsewhere.reason }
      if (health.rest && now < health.rest.untilMs) return { kind: "degraded", reason: health.rest.reason }
      return { kind: "idle" }
    },
    /** of the model loaded last */
    get capabilities() {
      return capabilities
    },
    /** One at a time, in order. Rejects with a `SidecarError`, or on abort at once with the signal's reason. */
    write: (params: WriteRequest, signal: AbortSignal) =>
      orAborted(
        inTurn(() => work(params, signal)),
        signal,
      ),
    pause(now: boolean): void {
      if (now === paused) return
      paused = now
      run?.pause(now)
    },
    /** Permanent. Rejects what is pending. Idempotent. */
    close(): Promise<void> {
      closing.abort()
      clearTimeout(idle)
      const gone = (async () => {
        await starting?.catch(() => {})
        await endRun()
      })()
      closed = Promise.allSettled([closed, gone])
      return gone
    },
  }
}
