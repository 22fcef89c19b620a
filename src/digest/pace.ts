// When a model may work, and on how much: its share of the time between two tool outputs, its pauses while local tools
// run, and the delay after failures.

import type { Speed } from "./backends/backend.ts"

/** Assumed time between two tool outputs. */
const GAP_MS = 5000
/** Typical length of a digest. */
const ANSWER_TOKENS = 60
/** Share of the time between two outputs that a model may use. */
const MAX_TIME_SHARE = 0.8
/** With a shorter document a model has too little to go on. */
const MIN_DOCUMENT_TOKENS = 150
/** For a backend whose speed is not known. */
const UNMEASURED_DOCUMENT_TOKENS = 400

/** Size of the document to send now, in tokens; 0: send nothing until the agent is idle. */
export function documentBudget(speed: Speed | undefined, idle: boolean, maxTokens: number): number {
  if (idle) return maxTokens
  if (!speed) return Math.min(UNMEASURED_DOCUMENT_TOKENS, maxTokens)
  const tokens = Math.floor(speed.prefill * ((MAX_TIME_SHARE * GAP_MS) / 1000 - ANSWER_TOKENS / speed.decode))
  return tokens >= MIN_DOCUMENT_TOKENS ? Math.min(tokens, maxTokens) : 0
}

const MIN_RETRY_MS = 1000
const MAX_RETRY_MS = 5 * 60_000
/** After how long to ask again for a model that another process has. */
export const BUSY_RETRY_MS = 30_000

/** How long to leave a backend alone after so many failures in a row. */
export function retryAfterMs(failures: number): number {
  return Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 5 ** (failures - 1))
}

/** After this time a tool counts as ended: one whose end was never reported must not stop the model for good. */
const MAX_TOOL_MS = 30 * 60_000
const MAX_TOOLS = 100

/**
 * Local tools that run. A build or a test run should not have to share the processor with a model. `onChange` is called when
 * the first tool starts and when the last one ends.
 */
export function createRunningTools(onChange: (any: boolean) => void, maxToolMs = MAX_TOOL_MS) {
  const timers = new Map<string, NodeJS.Timeout>()

  function ended(id: string): void {
    clearTimeout(timers.get(id))
    if (timers.delete(id) && timers.size === 0) onChange(false)
  }

  return {
    get any(): boolean {
      return timers.size > 0
    },
    started(id: string): void {
      if (timers.has(id) || timers.size >= MAX_TOOLS) return
      const timer = setTimeout(() => ended(id), maxToolMs)
      timer.unref()
      timers.set(id, timer)
      if (timers.size === 1) onChange(true)
    },
    ended,
    /** Forgets all tools without calling `onChange`. */
    clear(): void {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
