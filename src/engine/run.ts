// One run of the sidecar process: it is started, greeted, given its model, answers requests, and ends for one reason. Any
// fault but a bad request ends it and rejects everything pending with that reason. Restarting is decided in `sidecar.ts`.

import { addAbortListener } from "node:events"
import { seconds } from "../text/format.ts"
import { connectEngine } from "./client.ts"
import { SidecarError, wasClosed, wrongProtocol } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"
import { type Exit, STOP_TIMES, startProcess } from "./process.ts"
import {
  type Capabilities,
  type Load,
  type Notice,
  PROTOCOL,
  type WriteReply,
  type WriteRequest,
} from "./wire/messages.ts"

export const RUN_TIMES = {
  /** deadline of the first answer: a runtime of 150 MB, perhaps from a cold disk */
  helloMs: 15_000,
  /** deadline of loading: gigabytes from a slow disk, shaders to compile */
  loadMs: 300_000,
  /** longest time without a heartbeat while loading, when no speed is known yet */
  loadSilenceMs: 30_000,
  /** lower bound of the time without a heartbeat during work, and of the time a cancelled request has to stop */
  silenceMs: 10_000,
  /** lower bound of the deadline of one answer, not counting pauses */
  writeMs: 30_000,
  /** interval of the watchdog */
  tickMs: 1_000,
  stop: STOP_TIMES,
}
type RunTimes = typeof RUN_TIMES

/** How many times the predicted time silence and an answer may take: a busy machine does not explain more. */
const SLACK = { silence: 3, write: 5 }
/** Code has 2.5 to 4 characters a token with the tokenizers measured. */
const CHARACTERS_PER_TOKEN = 2.5

type RunConfig = {
  spec: LaunchSpec
  load: Load
  /** the plugin's version */
  version: string
  holdsHost: boolean
  times: RunTimes
  onLog(level: Notice<"engine/log">["level"], message: string): void
}

export type SidecarRun = Awaited<ReturnType<typeof startRun>>

/** Resolves when the model is loaded. Rejects with a `SidecarError` (CLOSED on abort) once the process is gone. */
export async function startRun(config: RunConfig, signal: AbortSignal) {
  const { spec, load, times } = config
  const child = startProcess(spec, { holdsHost: config.holdsHost, stopTimes: times.stop })
  const endGone = (cause?: unknown) => end(new SidecarError("ENDED", "the sidecar went away", { cause }))
  const client = connectEngine(
    child.stdout,
    child.stdin,
    {
      "engine/alive": () => watch.heard(),
      "engine/log": ({ level, message }) => config.onLog(level, message),
    },
    () => void endGone(),
  )
  const watch = startWatchdog(
    times.tickMs,
    () => client.unanswered() > 0,
    (ms) => void end(new SidecarError("SILENT", `the sidecar gave no sign of life during ${seconds(ms)} of work`)),
  )
  let ending: Promise<SidecarError> | undefined
  let resolveEnded: (reason: SidecarError) => void = () => {}
  const ended = new Promise<SidecarError>((resolve) => {
    resolveEnded = resolve
  })

  /** Only the first reason counts; later ones are its consequences. */
  function end(why: SidecarError): Promise<SidecarError> {
    ending ??= (async () => {
      watch.close()
      const reason = withDetails(why, await child.stop(), spec.command, child.lastLines())
      const { lines, first } = client.noise
      if (lines > 0) config.onLog("debug", `${lines} stray lines on the sidecar's stdout, the first: ${first}`)
      // before the pending requests are rejected, so that the owner learns first that this run has ended
      resolveEnded(reason)
      client.close(reason)
      return reason
    })()
    return ending
  }

  /** Ends the run because of an error. A pipe breaks shortly before the exit of its process is reported; that explains more. */
  const endFor = (error: unknown) =>
    error instanceof SidecarError && error.code !== "ENDED" ? end(error) : endGone(error)

  async function write(params: WriteRequest, signal: AbortSignal, capabilities: Capabilities): Promise<WriteReply> {
    // a cancelled request may still run until the engine's next chunk
    await client.quiet()
    const characters = params.text.length + params.instruction.length
    const inTokens = Math.min(capabilities.contextTokens, characters / CHARACTERS_PER_TOKEN)
    const predictedMs = predictMs(capabilities, inTokens, params.maxTokens)
    const silenceMs = Math.max(times.silenceMs, SLACK.silence * predictedMs)
    const deadlineMs = Math.max(times.writeMs, SLACK.write * predictedMs)
    watch.allow(silenceMs)
    const late = new AbortController()
    const cancelDeadline = watch.after(deadlineMs, () =>
      late.abort(new SidecarError("TIMEOUT", `no digest from the sidecar within ${seconds(deadlineMs)}`)),
    )
    try {
      return await client.request("digest/write", params, { signal: AbortSignal.any([signal, late.signal]) })
    } catch (error) {
      const isRequestsFault = error instanceof SidecarError && error.wire === "BAD_REQUEST"
      throw signal.aborted || isRequestsFault ? error : await endFor(error)
    } finally {
      cancelDeadline()
      const cancelStop = watch.after(silenceMs, () =>
        end(new SidecarError("SILENT", `the sidecar did not stop within ${seconds(silenceMs)}`)),
      )
      void client.quiet().then(cancelStop)
    }
  }

  void child.exited.then(() => endGone())
  using _ = addAbortListener(signal, () => void end(wasClosed()))
  try {
    const greeting = { protocol: PROTOCOL, version: config.version }
    const hello = await client.request("engine/hello", greeting, { timeoutMs: times.helloMs })
    if (hello.protocol !== PROTOCOL) throw wrongProtocol(hello.protocol)
    watch.allow(times.loadSilenceMs)
    const capabilities = await client.request("engine/load", load, { timeoutMs: times.loadMs })
    return {
      capabilities,
      /** One at a time. Rejects with a `SidecarError`, or with the signal's reason. */
      write: (params: WriteRequest, signal: AbortSignal) => write(params, signal, capabilities),
      pause(paused: boolean): void {
        watch.pause(paused)
        client.notify("engine/pause", { paused })
      },
      /** Resolves with the reason once the process is gone. */
      ended,
      /** Idempotent. Resolves once the process is gone. */
      end: async () => void (await end(wasClosed())),
    }
  } catch (error) {
    throw await endFor(error)
  }
}

/** Adds the exit status and the last stderr lines where they explain the reason. */
function withDetails(why: SidecarError, exit: Exit, command: string, lastLines: readonly string[]): SidecarError {
  if (!exit.started) return new SidecarError("START_FAILED", `${command} ${exit.how}`)
  if (why.code === "CLOSED" || why.code === "REFUSED" || why.code === "WRONG_PROTOCOL") return why
  const output = lastLines.slice(-3).join(" | ")
  // the exit status of a process that was stopped here explains nothing
  const details = [...(why.code === "ENDED" ? [exit.how] : []), ...(output ? [`last output: ${output}`] : [])]
  return new SidecarError(why.code, `${why.message}${details.length ? ` (${details.join("; ")})` : ""}`, { cause: why })
}

/**
 * Checks that the sidecar gives signs of life while it owes an answer. Counts its own ticks instead of reading the clock,
 * so that a host that was suspended (ctrl-z, a closed laptop) does not blame its child.
 */
function startWatchdog(tickMs: number, owes: () => boolean, onSilent: (ms: number) => void) {
  const deadlines = new Set<{ leftMs: number; late: () => void }>()
  let allowedMs = Number.POSITIVE_INFINITY
  let silentMs = 0
  let paused = false
  const timer = setInterval(() => {
    if (paused) return
    silentMs = owes() ? silentMs + tickMs : 0
    if (silentMs > allowedMs) return onSilent(silentMs)
    for (const deadline of [...deadlines]) {
      deadline.leftMs -= tickMs
      if (deadline.leftMs < 0 && deadlines.delete(deadline)) deadline.late()
    }
  }, tickMs)
  timer.unref()
  return {
    /** Reports a sign of life. */
    heard(): void {
      silentMs = 0
    },
    /** Sets how long the sidecar may be silent from now on. */
    allow(silenceMs: number): void {
      allowedMs = silenceMs
      silentMs = 0
    },
    /** No time passes while the sidecar is paused. */
    pause(now: boolean): void {
      paused = now
      silentMs = 0
    },
    /** Calls `late` after `ms`, not counting pauses, unless the returned function is called first. */
    after(ms: number, late: () => void): () => void {
      const deadline = { leftMs: ms, late }
      deadlines.add(deadline)
      return () => void deadlines.delete(deadline)
    },
    close: () => clearInterval(timer),
  }
}

type Speeds = Pick<Capabilities, "prefillTokensPerSecond" | "decodeTokensPerSecond">

/** The size of a small digest, which even a slow machine must finish in time. */
const SMALL_DIGEST = { inTokens: 256, outTokens: 60 }
const MAX_SMALL_DIGEST_MS = 10_000

export function predictMs(speeds: Speeds, inTokens: number, outTokens: number): number {
  const perSecond = (tokens: number, speed: number) => (tokens / Math.max(speed, 0.001)) * 1000
  return perSecond(inTokens, speeds.prefillTokensPerSecond) + perSecond(outTokens, speeds.decodeTokensPerSecond)
}

/** Why the model is of no use on this machine, in a sentence; undefined if it is fast enough. */
export function tooSlowReason({ model, gpu, ...speeds }: Capabilities): string | undefined {
  const predictedMs = predictMs(speeds, SMALL_DIGEST.inTokens, SMALL_DIGEST.outTokens)
  if (predictedMs <= MAX_SMALL_DIGEST_MS) return undefined
  const measured = `${speeds.prefillTokensPerSecond.toFixed(0)} tokens/s in and ${speeds.decodeTokensPerSecond.toFixed(1)} out`
  return (
    `the model ${model.name} is too slow here: ${measured} on the ${gpu === "off" ? "CPU" : gpu} make ` +
    `${seconds(predictedMs)} for a digest of ${SMALL_DIGEST.inTokens} tokens, expected at most ` +
    `${seconds(MAX_SMALL_DIGEST_MS)}; it stays off. Choose a smaller one with: hudfold model`
  )
}
