// The backend of the local model, prepared, or why there is none.

import type { Backend, BackendState } from "../../src/digest/backends/backend.ts"
import { createLlama, type LlamaConfig } from "../../src/digest/backends/llama.ts"

export async function openLlama(config: LlamaConfig): Promise<Backend | { off: string; absent?: boolean }> {
  const backend = createLlama(config)
  await backend.prepare?.()
  const state: BackendState = backend.state
  return state.kind === "off" ? { off: state.reason, ...(state.absent ? { absent: true } : {}) } : backend
}
