// The sidecar as the plugin uses it: not there until something is asked of it, gone when nothing has been for a while,
// started again when it fails, and switched off when that is of no use. Has at most one process at a time.

import { setTimeout as sleep } from "node:timers/promises"
import { SidecarError } from "./errors.ts"
import { createHealth, isPermanent, RESTS_MS } from "./health.ts"
import type { LaunchSpec } from "./launch.ts"
import type { Lease } from "./lease.ts"
import { beginLife, LIFE_TIMES, type Life, type LifeTimes } from "./life.ts"
import { tooSlow } from "./speed.ts"
import type { Capabilities, Load, Notice, Write, WriteReply } from "./wire/messages.ts"

export type Report = (level: Notice<"engine/log">["level"], message: string) => void

export type SidecarState =
  | { kind: "idle" | "starting" | "ready" }
  /** it is not tried now, and will be later */
  | { kind: "degraded"; reason: string }
  /** it will not be tried again */
  | { kind: "off"; reason: string }

export type SidecarTimes = LifeTimes & {
  /** rests after failures in a row; the last one is the degraded state */
  restsMs: readonly number[]
  /** how often another process is asked whether it still holds the model */
  leaseMs: number
}

const TIMES: SidecarTimes = { ...LIFE_TIMES, restsMs: RESTS_MS, leaseMs: 30_000 }

export type SidecarConfig = {
  spec: LaunchSpec
  load: Omit<Load, "instruction">
  /** Asked before every start: in a sentence why the model is not to be loaded, ever. */
  check?: (signal: AbortSignal) => Promise<string | undefined>
  /** the plugin's own version */
  version: string
  lease: Lease
  /** without work for so long, the process is ended */
  idleMs: number
  /** whether its process keeps the host's event loop going; default: it does not */
  holdsHost?: boolean
  times?: Partial<SidecarTimes>
  /** resolves when an earlier sidecar of the same kind is gone */
  after?: Promise<unknown>
  report: Report
  /** told when `state` has changed; not of the end of a rest */
  onChange?: () => void
}

export type Sidecar = {
  readonly state: SidecarState
  /** of the model last loaded; undefined until one was */
  readonly capabilities: Capabilities | undefined
  /** In turn, in the order asked. Rejects with a `SidecarError`, or at once with the signal's reason when aborted. */
  write(params: Write, signal: AbortSignal): Promise<WriteReply>
  pause(paused: boolean): void
  /** Ends the process when what was asked before is done; the next write starts another. */
  unload(): Promise<void>
  /** For good; idempotent. What is pending is rejected. */
  close(): Promise<void>
}

export function createSidecar(config: SidecarConfig): Sidecar {
  const times = { ...TIMES, ...config.times }
  const health = createHealth(times.restsMs)
  const closing = new AbortController()
  const said = new Set<string>()
  let life: Life | undefined
  let starting: Promise<Life> | undefined
  let capabilities: Capabilities | undefined
  let off: string | undefined
  let busyElsewhere = { untilMs: 0, reason: "" }
  let paused = false
  let idle: ReturnType<typeof setTimeout> | undefined
  let queue: Promise<unknown> = Promise.resolve()

  function say(subject: string, level: Parameters<Report>[0], message: string): void {
    if (said.has(subject)) return
    said.add(subject)
    config.report(level, message)
  }

  /** Everything that uses or ends the process waits here for what came before; `close` alone does not. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const mine = queue.then(action)
    queue = mine.catch(() => {})
    return mine
  }

  async function work(params: Write, signal: AbortSignal): Promise<WriteReply> {
    signal.throwIfAborted()
    if (closing.signal.aborted) throw new SidecarError("CLOSED", "the sidecar was ended")
    if (off !== undefined) throw new SidecarError("OFF", off)
    clearTimeout(idle)
    let current: Life | undefined
    try {
      current = life ?? (await orAborted(start(params.instruction), signal))
      const reply = await current.write(params, signal)
      health.answered()
      return reply
    } catch (error) {
      if (error instanceof SidecarError && current) await judgeWrite(error, current)
      throw error
    } finally {
      awaitIdleness()
    }
  }

  /** A life that ended by itself was judged by then; here are the failures it survives. */
  async function judgeWrite(error: SidecarError, current: Life): Promise<void> {
    if (life !== current || error.wire === "BAD_REQUEST") return
    judge(error, current.capabilities.gpu !== "off")
    // one that is merely slow may go on
    if (error.code !== "TIMEOUT" || health.isDegraded) await endLife()
  }

  function judge(error: SidecarError, usedGpu: boolean): void {
    if (error.code === "CLOSED" || closing.signal.aborted) return
    if (isPermanent(error)) {
      turnOff(error.message)
      return
    }
    config.onChange?.()
    const avoided = health.avoidsGpu
    health.failed(error, performance.now(), usedGpu)
    if (health.avoidsGpu && !avoided)
      say("gpu", "warn", `the sidecar failed twice with the GPU and goes on without it: ${error.message}`)
    if (health.isDegraded)
      say(
        "degraded",
        "warn",
        `digests are made without the model for a while, it failed again and again: ${error.message}`,
      )
    else say(error.code, "info", `the sidecar failed and will be started again: ${error.message}`)
  }

  function turnOff(reason: string): void {
    off = reason
    config.onChange?.()
    say("off", "warn", `the sidecar stays off: ${reason}`)
  }

  /** A start that its asker has lost interest in goes on: the next one will want it. */
  function start(instruction: string): Promise<Life> {
    if (starting) return starting
    starting = begin(instruction).finally(() => {
      starting = undefined
      config.onChange?.()
      awaitIdleness()
    })
    config.onChange?.()
    return starting
  }

  async function begin(instruction: string): Promise<Life> {
    await config.after
    await rest()
    await checkModel()
    await takeLease()
    const load: Load = { ...config.load, instruction, ...(health.avoidsGpu ? { gpu: "off" as const } : {}) }
    try {
      const { spec, version, holdsHost = false } = config
      const onLog = (level: Parameters<Report>[0], message: string) => config.report(level, `sidecar: ${message}`)
      const fresh = await beginLife({ spec, load, version, holdsHost, times, onLog }, closing.signal)
      capabilities = fresh.capabilities
      const slow = tooSlow(fresh.capabilities)
      if (slow !== undefined) turnOff(slow)
      else if (!closing.signal.aborted) return take(fresh)
      await fresh.end()
      throw new SidecarError("CLOSED", "the sidecar was ended")
    } catch (error) {
      config.lease.release()
      if (error instanceof SidecarError) judge(error, load.gpu !== "off")
      if (off !== undefined) throw new SidecarError("OFF", off, { cause: error })
      throw error
    }
  }

  function take(fresh: Life): Life {
    life = fresh
    if (paused) fresh.pause(true)
    const { model, gpu, threads, fallback, loadMs, prefillTokensPerSecond, decodeTokensPerSecond } = fresh.capabilities
    const place = gpu === "off" ? `the CPU (threads: ${threads})` : gpu
    const speed = `${prefillTokensPerSecond.toFixed(0)} tokens/s in, ${decodeTokensPerSecond.toFixed(1)} out`
    say("loaded", "info", `${model.name} loaded on ${place} in ${(loadMs / 1000).toFixed(1)} s: ${speed}`)
    if (fallback) say("fallback", "info", `not on a better device: ${fallback}`)
    void fresh.ended.then((reason) => {
      if (life !== fresh) return
      life = undefined
      config.onChange?.()
      config.lease.release()
      judge(reason, gpu !== "off")
    })
    return fresh
  }

  async function rest(): Promise<void> {
    const leftMs = (health.rest?.untilMs ?? 0) - performance.now()
    if (leftMs <= 0) return
    if (health.isDegraded) throw new SidecarError("RESTING", health.rest?.reason ?? "it failed again and again")
    try {
      await sleep(leftMs, undefined, { signal: closing.signal, ref: config.holdsHost ?? false })
    } catch {
      throw new SidecarError("CLOSED", "the sidecar was ended")
    }
  }

  async function checkModel(): Promise<void> {
    let wrong: string | undefined
    try {
      wrong = await config.check?.(closing.signal)
    } catch (cause) {
      if (closing.signal.aborted) throw new SidecarError("CLOSED", "the sidecar was ended")
      // a disk that is away for a while, no descriptor to spare: it says nothing of the model
      const why = `the model could not be read (${cause instanceof Error ? cause.message : cause})`
      const failure = new SidecarError("START_FAILED", why, { cause })
      judge(failure, false)
      throw failure
    }
    if (wrong === undefined) return
    turnOff(wrong)
    throw new SidecarError("OFF", wrong)
  }

  async function takeLease(): Promise<void> {
    if (performance.now() < busyElsewhere.untilMs) throw new SidecarError("RESTING", busyElsewhere.reason)
    const lease = await config.lease.acquire()
    if (typeof lease === "object")
      say("lease", "info", `nothing keeps several OpenCode processes from loading the model each: ${lease.unavailable}`)
    if (lease !== "busy") return
    const reason = "another OpenCode process has the model; here digests are made without it as long as it does"
    busyElsewhere = { untilMs: performance.now() + times.leaseMs, reason }
    say("busy", "info", reason)
    throw new SidecarError("RESTING", reason)
  }

  /**
   * Ends the process and not only the model in it: unloaded, that one still held 187 MB of 1,244, and what a GPU driver
   * keeps for a process goes with it.
   */
  async function endLife(): Promise<void> {
    const ending = life
    life = undefined
    if (ending) config.onChange?.()
    await ending?.end()
    if (!starting) config.lease.release()
  }

  function awaitIdleness(): void {
    clearTimeout(idle)
    if (closing.signal.aborted) return
    idle = setTimeout(() => void inTurn(endLife), config.idleMs)
    idle.unref()
  }

  return {
    get state(): SidecarState {
      if (closing.signal.aborted) return { kind: "off", reason: "it was closed" }
      if (off !== undefined) return { kind: "off", reason: off }
      if (starting) return { kind: "starting" }
      if (life) return { kind: "ready" }
      const now = performance.now()
      if (now < busyElsewhere.untilMs) return { kind: "degraded", reason: busyElsewhere.reason }
      if (health.rest && now < health.rest.untilMs) return { kind: "degraded", reason: health.rest.reason }
      return { kind: "idle" }
    },
    get capabilities() {
      return capabilities
    },
    write: (params, signal) =>
      orAborted(
        inTurn(() => work(params, signal)),
        signal,
      ),
    pause(now) {
      if (now === paused) return
      paused = now
      life?.pause(now)
    },
    unload: () => inTurn(endLife),
    async close() {
      closing.abort()
      clearTimeout(idle)
      await starting?.catch(() => {})
      await endLife()
    },
  }
}

/** The promise, or the signal's reason as soon as it is aborted. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}
