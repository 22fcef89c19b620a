// One run of the sidecar process: it is started, greeted, given its model, answers requests, and ends for one reason. Any
// fault but a bad request ends it and rejects everything pending with that reason. Restarting is decided in `sidecar.ts`.

import { addAbortListener } from "node:events"
import { seconds } from "../text/format.ts"
import { connectEngine } from "./client.ts"
import { closedError, SidecarError, wrongProtocol } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"
import { startProcess } from "./process.ts"
import {
  type Capabilities,
  type Load,
  type Params,
  PROTOCOL,
  type RequestName,
  type WriteReply,
  type WriteRequest,
} from "./wire/messages.ts"

export const RUN_TIMES = {
  /** deadline of the first answer: a runtime of 150 MB, perhaps from a cold disk */
  helloMs: 15_000,
  /** deadline of loading: gigabytes from a slow disk, shaders to compile */
  loadMs: 300_000,
  /** lower bound of the deadline of one answer */
  writeMs: 30_000,
  /** how often deadlines are checked */
  tickMs: 1_000,
  /** from the end of stdin to SIGKILL: the sidecar ends itself a second after its stdin, even if its engine does not close */
  stopMs: 1_500,
}

/** How many times the predicted time an answer may take: a busy machine does not explain more. */
const SLACK = 5
/** Code has 2.5 to 4 characters a token with the tokenizers measured. */
const CHARACTERS_PER_TOKEN = 2.5

type RunConfig = { spec: LaunchSpec; load: Load; holdsHost: boolean; times: typeof RUN_TIMES }

export type SidecarRun = Awaited<ReturnType<typeof startRun>>

/** Resolves when the model is loaded. Rejects with a `SidecarError` (CLOSED on abort) once the process is gone. */
export async function startRun({ spec, load, holdsHost, times }: RunConfig, signal: AbortSignal) {
  const child = await startProcess(spec, holdsHost, times.stopMs)
  const client = connectEngine(child.stdout, child.stdin, child.note, () => void end())
  let paused = false
  /** of the request in work */
  let deadline: { leftMs: number; late: () => void } | undefined
  // Counts ticks instead of reading the clock, so that a host that was suspended (ctrl-z, a closed laptop) does not blame its child.
  const ticks = setInterval(() => {
    if (paused || !deadline) return
    deadline.leftMs -= times.tickMs
    if (deadline.leftMs < 0) deadline.late()
  }, times.tickMs)
  ticks.unref()
  let ending: Promise<SidecarError> | undefined
  let resolveEnded: (reason: SidecarError) => void = () => {}
  const ended = new Promise<SidecarError>((resolve) => {
    resolveEnded = resolve
  })

  /** Only the first cause counts. A pipe breaks before the exit of its process is reported, which explains more. */
  function end(cause?: unknown): Promise<SidecarError> {
    ending ??= (async () => {
      clearInterval(ticks)
      const isKnown = cause instanceof SidecarError && cause.code !== "ENDED"
      const why = isKnown ? cause : new SidecarError("ENDED", "the sidecar went away", { cause })
      const reason = withDetails(why, await child.stop(), child.lastLines())
      // before the pending requests are rejected, so that the owner learns first that this run has ended
      resolveEnded(reason)
      client.close(reason)
      return reason
    })()
    return ending
  }

  /** Ends the run if the sidecar does not answer in time or, after an abort, does not stop in time. */
  function ask<Name extends RequestName>(name: Name, params: Params<Name>, ms: number, signal?: AbortSignal) {
    // before it knows of a model, neither that nor its GPU is to blame
    const code = name === "engine/hello" ? "START_FAILED" : "TIMEOUT"
    const late = () => void end(new SidecarError(code, `${name}: no answer within ${seconds(ms)}`))
    const mine = { leftMs: ms, late }
    deadline = mine
    const answer = client.request(name, params, signal)
    void client.quiet().then(() => {
      if (deadline === mine) deadline = undefined
    })
    return answer
  }

  void child.exited.then(() => end())
  using _ = addAbortListener(signal, () => void end(closedError()))
  try {
    const hello = await ask("engine/hello", { protocol: PROTOCOL }, times.helloMs)
    if (hello.protocol !== PROTOCOL) throw wrongProtocol(hello.protocol)
    const capabilities = await ask("engine/load", load, times.loadMs)
    return {
      capabilities,
      /** One at a time. Rejects with a `SidecarError`, or with the signal's reason. */
      async write(params: WriteRequest, signal: AbortSignal): Promise<WriteReply> {
        // a cancelled request may still run until the engine's next chunk
        await client.quiet()
        // it was that one's document, not this one's, by which the sidecar hung
        if (ending) throw new SidecarError("ENDED", (await ending).message)
        const characters = params.text.length + params.instruction.length
        const inTokens = Math.min(capabilities.contextTokens, characters / CHARACTERS_PER_TOKEN)
        const deadlineMs = Math.max(times.writeMs, SLACK * predictMs(capabilities, inTokens, params.maxTokens))
        try {
          return await ask("digest/write", params, deadlineMs, signal)
        } catch (error) {
          const isRequestsFault = error instanceof SidecarError && error.wire === "BAD_REQUEST"
          if (signal.aborted || isRequestsFault) throw error
          const reason = await end(error)
          throw reason.code === "ENDED" ? new SidecarError("CRASHED", reason.message, { cause: reason }) : reason
        }
      },
      /** A deadline does not pass meanwhile. */
      pause(now: boolean): void {
        paused = now
        client.pause(now)
      },
      /** Resolves with the reason once the process is gone. */
      ended,
      /** Idempotent. Resolves once the process is gone. */
      end: async () => void (await end(closedError())),
    }
  } catch (error) {
    throw await end(error)
  }
}

/** Adds the exit status and the last stderr lines where they explain the reason. */
function withDetails(why: SidecarError, exit: string, lastLines: readonly string[]): SidecarError {
  if (why.code === "CLOSED" || why.code === "REFUSED" || why.code === "OFF") return why
  const output = lastLines.slice(-3).join(" | ")
  // the exit status of a process that was stopped here explains nothing
  const details = [...(why.code === "ENDED" ? [exit] : []), ...(output ? [`last output: ${output}`] : [])]
  return new SidecarError(why.code, `${why.message}${details.length ? ` (${details.join("; ")})` : ""}`, { cause: why })
}

/** The size of a small digest, which even a slow machine must finish in time. */
const SMALL_DIGEST = { inTokens: 256, outTokens: 60 }
const MAX_SMALL_DIGEST_MS = 10_000

/** How long so many tokens take at the measured speeds. */
export function predictMs(measured: Capabilities, inTokens: number, outTokens: number): number {
  const msFor = (tokens: number, speed: number) => (tokens / Math.max(speed, 0.001)) * 1000
  return msFor(inTokens, measured.prefillTokensPerSecond) + msFor(outTokens, measured.decodeTokensPerSecond)
}

/** `it runs on the processor (threads: 4), loads in 2.1 s, reads 212 and writes 31.2 tokens/s` */
export function runningWords(capabilities: Capabilities): string {
  const { gpu, devices, threads, loadMs, prefillTokensPerSecond, decodeTokensPerSecond } = capabilities
  const device = gpu === "off" ? `the processor (threads: ${threads})` : `${gpu} (${devices.join(", ")})`
  const speeds = `reads ${prefillTokensPerSecond.toFixed(0)} and writes ${decodeTokensPerSecond.toFixed(1)} tokens/s`
  return `it runs on ${device}, loads in ${seconds(loadMs)}, ${speeds}`
}

/** Not that there is a smaller one: of the listed models the smallest is not the fastest reader. */
export const FASTER = "close busy programs, or choose a faster model of hudfold model list"

/** Why the model is of no use on this machine, in a sentence; undefined if it is fast enough. */
export function tooSlowReason(capabilities: Capabilities): string | undefined {
  const predictedMs = predictMs(capabilities, SMALL_DIGEST.inTokens, SMALL_DIGEST.outTokens)
  if (predictedMs <= MAX_SMALL_DIGEST_MS) return undefined
  const size = `a digest of ${SMALL_DIGEST.inTokens} tokens would take ${seconds(predictedMs)}`
  const most = `expected at most ${seconds(MAX_SMALL_DIGEST_MS)}; ${FASTER}`
  return `the model ${capabilities.model.name} is too slow here: ${runningWords(capabilities)}, so ${size}, ${most}`
}
