// Creates the backend that the options name.

import type { Backend, BackendOptions } from "./backend.ts"
import { createLlama, type LlamaConfig } from "./llama.ts"
import { createOpenai } from "./openai.ts"

type BackendConfig = Pick<LlamaConfig, "dataFolder" | "report" | "onChange"> & { options: BackendOptions }

/** Undefined if digests are to be made without a model. Never throws. */
export function createBackend(config: BackendConfig): Backend | undefined {
  const { backend, openai } = config.options
  if (backend === "extract") return undefined
  return backend === "openai" ? createOpenai(openai, config.report) : createLlama(config)
}
