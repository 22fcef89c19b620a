// One life of the sidecar: a process is started, greeted and given its model, works, and ends for one reason. Whatever
// goes wrong ends it, and everything pending is rejected with that reason; whether there is another is decided elsewhere.

import { connect } from "./client.ts"
import { SidecarError } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"
import { type Exit, STOP_TIMES, type StopTimes, startProcess } from "./process.ts"
import { predictMs } from "./speed.ts"
import { startWatch } from "./watch.ts"
import type { Capabilities, Load, Notice, Write, WriteReply } from "./wire/messages.ts"
import { PROTOCOL } from "./wire/version.ts"

export type LifeTimes = {
  /** for the first answer: a runtime of 150 MB, perhaps from a cold disk */
  helloMs: number
  /** for the model: gigabytes from a slow disk, shaders to compile */
  loadMs: number
  /** without a sign of life while loading, when nothing can be predicted yet */
  loadSilenceMs: number
  /** the least that a sign of life is waited for, and that a cancelled request is given to stop */
  silenceMs: number
  /** the least that one answer may take, pauses not counted */
  writeMs: number
  /** how often the watch looks */
  tickMs: number
  stop: StopTimes
}

export const LIFE_TIMES: LifeTimes = {
  helloMs: 15_000,
  loadMs: 300_000,
  loadSilenceMs: 30_000,
  silenceMs: 10_000,
  writeMs: 30_000,
  tickMs: 1_000,
  stop: STOP_TIMES,
}

/** Slower than predicted by this factor, more is wrong than a busy machine. */
const SLACK = { silence: 3, write: 5 }
/** Of the tokenizers looked at, code comes to 2.5 to 4 characters a token. */
const CHARACTERS_PER_TOKEN = 2.5

export type LifeConfig = {
  spec: LaunchSpec
  load: Load
  /** the plugin's own version, for the sidecar to know */
  version: string
  holdsHost: boolean
  times: LifeTimes
  onLog(level: Notice<"engine/log">["level"], message: string): void
}

export type Life = {
  readonly capabilities: Capabilities
  /** One at a time. Rejects with a `SidecarError`, or with the signal's reason. */
  write(params: Write, signal: AbortSignal): Promise<WriteReply>
  pause(paused: boolean): void
  /** Resolves with why it ended, when the process is gone. */
  readonly ended: Promise<SidecarError>
  /** Ends it; idempotent. Resolves when the process is gone. */
  end(): Promise<void>
}

/** Resolves when the model is loaded. Rejects with a `SidecarError`, CLOSED when aborted; the process is gone then. */
export async function beginLife(config: LifeConfig, signal: AbortSignal): Promise<Life> {
  const { spec, load, times } = config
  const child = startProcess(spec, { holdsHost: config.holdsHost, stopTimes: times.stop })
  const away = (cause?: unknown) => end(new SidecarError("ENDED", "the sidecar went away", { cause }))
  const client = connect(
    child.stdout,
    child.stdin,
    {
      "engine/alive": () => watch.heard(),
      "load/progress": () => watch.heard(),
      "engine/log": ({ level, message }) => config.onLog(level, message),
    },
    () => void away(),
  )
  const watch = startWatch(
    times.tickMs,
    () => client.unanswered > 0,
    (ms) => void end(new SidecarError("SILENT", `the sidecar gave no sign of life in ${seconds(ms)} of work`)),
  )
  let ending: Promise<SidecarError> | undefined
  let tellEnd: (reason: SidecarError) => void = () => {}
  const ended = new Promise<SidecarError>((resolve) => {
    tellEnd = resolve
  })

  /** The first reason is the one; those after it are its consequences. */
  function end(why: SidecarError): Promise<SidecarError> {
    ending ??= (async () => {
      watch.close()
      const reason = explain(why, await child.stop(), spec.command, child.lastWords())
      const { lines, first } = client.noise
      if (lines > 0) config.onLog("debug", `${lines} stray lines on the sidecar's stdout, the first: ${first}`)
      // in this order: whoever owns this life knows of its end before those whose requests are rejected
      tellEnd(reason)
      client.close(reason)
      return reason
    })()
    return ending
  }

  /** A pipe breaks a moment before its process is seen to be gone, which says more. */
  async function causeOf(error: unknown): Promise<unknown> {
    return error instanceof SidecarError && error.code === "ENDED" ? await away(error) : error
  }

  async function write(params: Write, signal: AbortSignal, capabilities: Capabilities): Promise<WriteReply> {
    // a request given up may still be on its way to the engine's next stop
    await client.quiet()
    const characters = params.text.length + params.instruction.length
    const inTokens = Math.min(capabilities.contextTokens, characters / CHARACTERS_PER_TOKEN)
    const predictedMs = predictMs(capabilities, inTokens, params.maxTokens)
    const silenceMs = Math.max(times.silenceMs, SLACK.silence * predictedMs)
    const deadlineMs = Math.max(times.writeMs, SLACK.write * predictedMs)
    watch.allow(silenceMs)
    const stop = new AbortController()
    const onAbort = () => stop.abort(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
    const callOff = watch.after(deadlineMs, () =>
      stop.abort(new SidecarError("TIMEOUT", `no digest from the sidecar within ${seconds(deadlineMs)}`)),
    )
    try {
      return await client.request("digest/write", params, { signal: stop.signal })
    } catch (error) {
      throw await causeOf(error)
    } finally {
      callOff()
      signal.removeEventListener("abort", onAbort)
      const forgive = watch.after(silenceMs, () =>
        end(new SidecarError("SILENT", `the sidecar did not stop within ${seconds(silenceMs)}`)),
      )
      void client.quiet().then(forgive)
    }
  }

  void child.exited.then(() => away())
  const onAbort = () => void end(new SidecarError("CLOSED", "the sidecar was ended"))
  if (signal.aborted) onAbort()
  else signal.addEventListener("abort", onAbort, { once: true })
  try {
    const greeting = { protocol: PROTOCOL, version: config.version }
    const hello = await client.request("engine/hello", greeting, { timeoutMs: times.helloMs })
    if (hello.protocol !== PROTOCOL) throw wrongProtocol(hello.protocol)
    watch.allow(times.loadSilenceMs)
    const capabilities = await client.request("engine/load", load, { timeoutMs: times.loadMs })
    return {
      capabilities,
      write: (params, signal) => write(params, signal, capabilities),
      pause(paused) {
        watch.pause(paused)
        client.notify("engine/pause", { paused })
      },
      ended,
      end: async () => void (await end(new SidecarError("CLOSED", "the sidecar was ended"))),
    }
  } catch (error) {
    const cause = await causeOf(error)
    throw await (cause instanceof SidecarError ? end(cause) : away(cause))
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

/** Said by both sides of the check: the record of what is installed, and the greeting. */
export function wrongProtocol(theirs: number): SidecarError {
  const message = `the installed sidecar speaks protocol ${theirs}, this plugin ${PROTOCOL}; run \`npx opencode-hudfold setup\` again`
  return new SidecarError("WRONG_PROTOCOL", message)
}

/** The reason with how the process went and what it said last, where that is not plain from the reason. */
function explain(why: SidecarError, exit: Exit, command: string, lastWords: readonly string[]): SidecarError {
  if (!exit.started) return new SidecarError("START_FAILED", `${command} ${exit.how}`)
  if (why.code === "CLOSED" || why.code === "REFUSED" || why.code === "WRONG_PROTOCOL") return why
  const words = lastWords.slice(-3).join(" | ")
  // of a process that was stopped here, how it went says nothing
  const details = [...(why.code === "ENDED" ? [exit.how] : []), ...(words ? [`its last words: ${words}`] : [])]
  return new SidecarError(why.code, `${why.message}${details.length ? ` (${details.join("; ")})` : ""}`, { cause: why })
}
