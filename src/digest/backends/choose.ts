// The backend that the options name. Neither its code is loaded nor its files are read before it is first prepared:
// most of a plugin's starts never get that far.

import type { Report } from "../../engine/sidecar.ts"
import type { Options } from "../../options.ts"
import { type Backend, BackendError, type BackendState } from "./backend.ts"

export type BackendConfig = {
  options: Options["digest"]
  /** where setup put the engine and the models */
  dataFolder(): string
  /** what happens to the backend, a line each */
  report: Report
  /** told when the backend's state has changed */
  onChange?: () => void
}

/** Undefined when no model is to write digests. Never throws. */
export function createBackend({ options, dataFolder, report, onChange }: BackendConfig): Backend | undefined {
  switch (options.backend) {
    case "extract":
      return undefined
    case "openai":
      return openLater("openai", async () => {
        const { createOpenai } = await import("./openai.ts")
        const backend = createOpenai(options.openai)
        // the option may be a project's: whoever works there is told where their outputs go
        if (!backend.sharesProcessor && backend.state.kind !== "off")
          report("warn", `digest.openai.allowRemote: tool outputs are sent to ${new URL(options.openai.url).origin}`)
        return backend
      })
    case "auto":
    case "llama":
      return openLater("llama", async () => {
        const { openLlama } = await import("./llama.ts")
        return openLlama({ dataFolder: dataFolder(), options, report, ...(onChange ? { onChange } : {}) })
      })
    default:
      return options.backend satisfies never
  }
}

/** Documents are sized before a backend can say what it takes; each counts and cuts for itself. */
const UNOPENED_TOKENS = 2000

/** Why there is no backend; `absent`: it was never set up. */
export type Unopened = { off: string; absent?: boolean }

function openLater(name: string, open: () => Promise<Backend | Unopened>): Backend {
  let opened: Backend | undefined
  let opening: Promise<void> | undefined
  let unopened: BackendState = { kind: "idle" }
  let paused = false
  let closed = false

  async function openNow(): Promise<void> {
    try {
      const found = await open()
      if ("off" in found) {
        unopened = { kind: "off", reason: found.off, ...(found.absent ? { absent: true } : {}) }
        return
      }
      opened = found
      if (paused) found.pause(true)
      if (closed) await found.close()
    } catch (error) {
      unopened = { kind: "off", reason: `the ${name} backend could not be loaded: ${String(error)}` }
    }
  }

  const prepare = async () => {
    if (closed) return
    opening ??= openNow()
    await opening
  }

  return {
    get id() {
      return opened?.id ?? name
    },
    get state() {
      return opened?.state ?? unopened
    },
    get device() {
      return opened?.device
    },
    get speed() {
      return opened?.speed
    },
    get sharesProcessor() {
      return opened?.sharesProcessor ?? true
    },
    get mostTokens() {
      return opened?.mostTokens ?? UNOPENED_TOKENS
    },
    prepare,
    async write(prompt, signal) {
      await prepare()
      if (opened) return opened.write(prompt, signal)
      throw unopened.kind === "off"
        ? new BackendError("OFF", unopened.reason)
        : new BackendError("UNAVAILABLE", `the ${name} backend is closed`)
    },
    pause(now) {
      paused = now
      opened?.pause(now)
    },
    async unload() {
      await opened?.unload()
    },
    async close() {
      closed = true
      await opening
      await opened?.close()
    },
  }
}
