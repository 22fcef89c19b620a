// Creates the backend that the options name. Its code is loaded and its files are read only when it is first prepared,
// which most runs of the plugin never get to.

import type { Logger } from "../../engine/sidecar.ts"
import { type Backend, BackendError, type BackendOptions, type BackendState, type NoBackend } from "./backend.ts"

type BackendConfig = {
  options: BackendOptions
  /** where setup puts the engine and the models */
  dataFolder(): string
  report: Logger
  onChange?: () => void
}

/** Undefined if digests are to be made without a model. Never throws. */
export function createBackend({ options, dataFolder, report, onChange }: BackendConfig): Backend | undefined {
  switch (options.backend) {
    case "extract":
      return undefined
    case "openai":
      return lazyBackend("openai", async () => {
        const { createOpenai } = await import("./openai.ts")
        const backend = createOpenai(options.openai)
        // the option may come from a project's configuration: tell whoever works there where their outputs go
        if (!backend.sharesProcessor && backend.state.kind !== "off")
          report("warn", `digest.openai.allowRemote: tool outputs are sent to ${new URL(options.openai.url).origin}`)
        return backend
      })
    case "auto":
    case "llama":
      return lazyBackend("llama", async () => {
        const { openLlama } = await import("./llama.ts")
        return openLlama({ dataFolder: dataFolder(), options, report, ...(onChange ? { onChange } : {}) })
      })
    default:
      return options.backend satisfies never
  }
}

/**
 * Documents are sized before the backend is loaded and knows its limit. The backend cuts those that turn out too long.
 */
const UNOPENED_DOCUMENT_TOKENS = 2000

function lazyBackend(name: string, open: () => Promise<Backend | NoBackend>): Backend {
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
    get maxDocumentTokens() {
      return opened?.maxDocumentTokens ?? UNOPENED_DOCUMENT_TOKENS
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
    async close() {
      closed = true
      await opening
      await opened?.close()
    },
  }
}
