// One digest queue and one model for all directories and instances of this process. Nothing is started before a tool
// output is worth a digest.

import type { Backend } from "../digest/backends/backend.ts"
import { createLlama } from "../digest/backends/llama.ts"
import { createOpenai } from "../digest/backends/openai.ts"
import { createDigests } from "../digest/digests.ts"
import type { Options } from "../options.ts"
import type { WriterStatus } from "../status/status.ts"
import { dataFolder } from "../system/data-folder.ts"
import { createShared } from "../system/shared.ts"
import { redactLine } from "../text/redact/redact.ts"
import { cut, line } from "../text/sanitize.ts"
import type { Log } from "./log.ts"

type DigestService = ReturnType<typeof startService>

/** Its users are called when what `writer` returns has changed. */
const services = createShared<DigestService, () => void>((service) => service.close())

export type SharedDigests = ReturnType<typeof shareDigests>

/** `onChange` is called whenever `writer` has changed, until the digests are released. */
export function shareDigests(options: Options, log: Log, onChange = () => {}) {
  const key = JSON.stringify(options.digest)
  const { value: service, release } = services.acquire(key, onChange, (users) =>
    startService(options.digest, log, () => {
      for (const changed of users) changed()
    }),
  )
  return {
    of: service.digests.of,
    queue: service.digests.queue,
    /** Checks once whether the backend is set up. Never rejects. */
    async prepare(): Promise<void> {
      await service.backend?.prepare?.()
    },
    /** who writes digests at the moment, and its state */
    writer: () => writerOf(service, options),
    release,
  }
}

function startService(digest: Options["digest"], log: Log, onChange: () => void) {
  const backend = createBackend(digest, log, onChange)
  const digests = createDigests({
    backend,
    onChange,
    onTrouble: (code, message) => {
      if (isAbsent(digest, backend)) return
      // a backend that was chosen by name and does not work needs the user's attention; `auto` works without one
      if (code === "OFF" && digest.backend !== "auto") log.warnUser(message)
      else log.say(code === "OFF" || code === "BUSY" ? "info" : "warn", message)
    },
  })
  return {
    digests,
    backend,
    async close() {
      await digests.queue?.close()
      await backend?.close()
    },
  }
}

function createBackend(options: Options["digest"], { say }: Log, onChange: () => void): Backend | undefined {
  if (options.backend === "extract") return undefined
  if (options.backend === "openai") return createOpenai(options.openai, say)
  return createLlama({ options, dataFolder: dataFolder(), report: say, onChange })
}

/** With `auto`, a model that was never set up is not a problem. */
function isAbsent({ backend: chosen }: Options["digest"], backend: Backend | undefined): boolean {
  return chosen === "auto" && backend?.state.kind === "off" && backend.state.absent === true
}

const MAX_REASON_CHARS = 400

function writerOf({ digests: { queue }, backend }: DigestService, { digest }: Options): WriterStatus {
  if (!queue || !backend || isAbsent(digest, backend))
    return { backend: "extract", state: "ready", waiting: 0, working: false, written: 0 }
  const { state, model, device, speed } = backend
  return {
    backend: digest.backend === "openai" ? "openai" : "llama",
    state: state.kind,
    why: "reason" in state ? cut(redactLine(state.reason), MAX_REASON_CHARS) : undefined,
    model: model && line(model),
    device,
    speed,
    waiting: queue.waiting,
    working: queue.working,
    written: queue.counters.written,
  }
}
