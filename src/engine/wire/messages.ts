// All messages between the plugin and its sidecar: JSON-RPC 2.0, one object per line, UTF-8 (`peer.ts`). The plugin sends
// requests and notifications, the sidecar answers requests. `$/cancelRequest` cancels one. Sizes are in bytes, times in ms,
// token counts in the loaded model's tokens. What else the sidecar has to say goes to its stderr.
//
// Order: `engine/hello` first, answered before the engine is imported; then `engine/load`; then `digest/write`, one at a
// time: the next one is sent when the last one is answered, even if it was cancelled. The sidecar exits when its stdin ends.

import * as z from "zod/mini"

/**
 * The version of the protocol between the plugin and its sidecar. Both send theirs first; if they differ, the plugin does
 * not use that sidecar and asks the user to run setup again. Raise it whenever a message changes its meaning.
 */
export const PROTOCOL = 2

const count = z.int().check(z.minimum(0))
const text = z.string()
const short = (maxChars: number) => z.string().check(z.maxLength(maxChars))

export const GPUS = ["cuda", "vulkan", "metal"] as const
/** The requested GPU interface: the best available, one by name, or none. */
export const gpuChoiceSchema = z.enum(["auto", "off", ...GPUS])
export type GpuChoice = z.output<typeof gpuChoiceSchema>

const helloSchema = z.object({
  /** protocol version of the sender */
  protocol: count,
})

const loadSchema = z.object({
  /** absolute path of a GGUF file */
  modelPath: text,
  /** the requested GPU interface: the best available, one by name, or none */
  gpu: gpuChoiceSchema,
  /** context of one request, prompt and answer together */
  contextTokens: count,
  /** 0: chosen by the sidecar, below the number of free cores */
  threads: count,
  /** a model that needs more memory is refused; 0: three quarters of the free memory */
  memoryBytes: count,
  /** the constant beginning of every `digest/write`, evaluated once at load */
  instruction: text,
})
export type Load = z.output<typeof loadSchema>

/** What was loaded, where it runs and how fast. */
const capabilitiesSchema = z.object({
  /** the interface in use; `off` is the CPU */
  gpu: z.enum(["off", ...GPUS]),
  /** names of the devices in use, empty on the CPU */
  devices: z.array(short(200)),
  /** why a better device is not in use, if one was requested or found */
  fallback: z.optional(short(400)),
  /** its name in the file's metadata, else the file's */
  model: z.object({ name: short(200) }),
  /** context of one request: as requested, but at most what the model was trained for */
  contextTokens: count,
  /** CPU threads in use */
  threads: count,
  /** prompt evaluation, measured at load */
  prefillTokensPerSecond: z.number(),
  /** generation, measured at load */
  decodeTokensPerSecond: z.number(),
  /** duration of loading */
  loadMs: z.number(),
})
export type Capabilities = z.output<typeof capabilitiesSchema>

const maxChars = z.int().check(z.minimum(1), z.maximum(1000))

const writeSchema = z.object({
  /** the document; if it does not fit the context, the engine cuts out its middle */
  text,
  /** what to do with it; evaluated only if it differs from the last one */
  instruction: text,
  /** the strings of the answer, a JSON object: by name, in their order, each one's limit in characters, at most 1,000 */
  answer: z.record(z.string().check(z.regex(/^\w+$/)), maxChars),
  /** limit of the answer */
  maxTokens: count,
})
export type WriteRequest = z.output<typeof writeSchema>

const usageSchema = z.object({
  /** tokens of the whole prompt */
  promptTokens: count,
  /** prompt tokens evaluated for this request; the others were still in the engine's state */
  evaluatedTokens: count,
  /** tokens of the answer */
  outputTokens: count,
})

const writeReplySchema = z.object({
  /** the answer as the model wrote it */
  text,
  /** the parsed answer, repaired if necessary; null if it lacks a string */
  structured: z.nullable(z.record(text, text)),
  /** token counts */
  usage: usageSchema,
  /** from the start of the work to the answer */
  elapsedMs: z.number(),
})
export type WriteReply = z.output<typeof writeReplySchema>

/** Requests from plugin to sidecar. */
export const REQUESTS = {
  /** the first message. Answered within milliseconds, before the engine is imported */
  "engine/hello": { params: helloSchema, result: helloSchema },
  /** loads a model, replacing the loaded one, and measures its speed */
  "engine/load": { params: loadSchema, result: capabilitiesSchema },
  /** has the loaded model write a digest of a document */
  "digest/write": { params: writeSchema, result: writeReplySchema },
} as const

export const NOTIFICATIONS = {
  /** plugin to sidecar: pause at the next chunk, keeping what was evaluated, or continue */
  "engine/pause": z.object({ paused: z.boolean() }),
} as const

export type RequestName = keyof typeof REQUESTS
export type Params<Name extends RequestName> = z.output<(typeof REQUESTS)[Name]["params"]>
export type Result<Name extends RequestName> = z.output<(typeof REQUESTS)[Name]["result"]>

/** `data.code` of a failed request. The message says what to do. */
export const ERROR_CODES = [
  /** the request is malformed, or the grammar of its answer is too large */
  "BAD_REQUEST",
  /** the engine cannot be imported, or has no binary that runs on this machine */
  "NO_ENGINE",
  /** no model is loaded: there was no `engine/load`, or the last one failed */
  "NOT_LOADED",
  /** there is no file at the path */
  "MODEL_MISSING",
  /** the file is not a model, or the engine cannot read it */
  "MODEL_INVALID",
  /** it would need more memory than the plugin allows */
  "MODEL_TOO_LARGE",
  /** there is not enough free memory now */
  "OUT_OF_MEMORY",
  /** anything else */
  "ENGINE_FAILED",
] as const
export type WireErrorCode = (typeof ERROR_CODES)[number]

export const errorDataSchema = z.object({ code: z.enum(ERROR_CODES) })
