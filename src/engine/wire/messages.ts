// Every message between the plugin and its sidecar: JSON-RPC 2.0, one object a line, UTF-8 (`lines.ts`). The plugin
// asks, the sidecar answers; either may notify. A request is cancelled with `$/cancelRequest`. Sizes are in bytes,
// times in ms, tokens in the loaded model's own.
//
// Order: `engine/hello` first, answered before the engine itself is imported; then `engine/load`; then `digest/write`,
// one at a time, until `engine/unload` or another `engine/load`. The sidecar exits when its stdin ends.

import * as z from "zod/mini"

const count = z.int().check(z.minimum(0))
const text = z.string()
const few = (longest: number) => z.string().check(z.maxLength(longest))

export const GPUS = ["cuda", "vulkan", "metal"] as const
/** The graphics interface asked for: the best there is, one by name, or none. */
export const gpuChoiceSchema = z.enum(["auto", "off", ...GPUS])
export type GpuChoice = z.output<typeof gpuChoiceSchema>

const helloSchema = z.object({
  /** version of the wire */
  protocol: count,
  /** of the plugin; for the log only */
  version: few(100),
})

const helloReplySchema = z.object({
  /** version of the wire */
  protocol: count,
  /** of the sidecar; for the log only */
  version: few(100),
  /** what it runs on, as `bun 1.3.14` */
  runtime: few(100),
  /** its process id */
  pid: count,
})

const loadSchema = z.object({
  /** absolute path of a GGUF file */
  modelPath: text,
  /** the graphics interface wanted: the best there is, one by name, or none */
  gpu: gpuChoiceSchema,
  /** context of one request, prompt and answer, in tokens */
  contextTokens: count,
  /** 0: chosen by the sidecar, below the number of free cores */
  threads: count,
  /** a model that would need more memory than this is refused; 0: three quarters of what is free */
  memoryBytes: count,
  /** the constant beginning of every `digest/write`, evaluated once here */
  instruction: text,
})
export type Load = z.output<typeof loadSchema>

/** What the loaded engine can do. The plugin asks for nothing that is not declared here. */
const capabilitiesSchema = z.object({
  /** the interface in use; `off` is the CPU */
  gpu: z.enum(["off", ...GPUS]),
  /** names of the devices in use, empty on the CPU */
  devices: z.array(few(200)),
  /** why a better device is not in use, when one was asked for or found */
  fallback: z.optional(few(400)),
  /** as its file says; `parameters` is how many weights it has */
  model: z.object({ name: few(200), sizeBytes: count, parameters: count }),
  /** of one request: what was asked for, as far as the model was trained for it */
  contextTokens: count,
  /** processor threads in use */
  threads: count,
  /** whether an answer's form is enforced while it is generated */
  grammar: z.boolean(),
  /** requests worked on at the same time */
  sequences: count,
  /** reading, measured at load */
  prefillTokensPerSecond: z.number(),
  /** writing, measured at load */
  decodeTokensPerSecond: z.number(),
  /** how long loading took */
  loadMs: z.number(),
  /** memory of the process once it is loaded */
  rssBytes: count,
})
export type Capabilities = z.output<typeof capabilitiesSchema>

const writeSchema = z.object({
  /** what kind of tool output it is; for the log only */
  kind: few(60),
  /** the document; cut by the engine, head and tail kept, when it does not fit the context */
  text,
  /** what to do with it; evaluated once as long as it equals the last one */
  instruction: text,
  /** JSON schema of the answer, in the subset of `sidecar/grammar.ts` */
  schema: z.record(z.string(), z.unknown()),
  /** of the answer */
  maxTokens: count,
})
export type Write = z.output<typeof writeSchema>

const usageSchema = z.object({
  /** tokens of the whole prompt */
  promptTokens: count,
  /** of those, evaluated for this request; the others were still in the engine's state */
  evaluatedTokens: count,
  /** tokens of the answer */
  outputTokens: count,
  /** tokens of the document that did not fit and were left out */
  cutTokens: count,
})

const writeReplySchema = z.object({
  /** the answer as the model wrote it */
  text,
  /** the answer parsed, after repair where one was needed; null when that was not possible */
  structured: z.nullable(z.unknown()),
  /** whether `structured` has the form the schema asks for */
  schemaOk: z.boolean(),
  /** what went in and came out */
  usage: usageSchema,
  /** from taking the request up to the answer */
  elapsedMs: z.number(),
})
export type WriteReply = z.output<typeof writeReplySchema>

const emptySchema = z.object({})

/** Requests, plugin to sidecar: what is sent and what comes back. */
export const REQUESTS = {
  /** the first message: who is there. Answered before the engine is imported, so within milliseconds */
  "engine/hello": { params: helloSchema, result: helloReplySchema },
  /** loads a model, in place of the one that is loaded, and measures it; `load/progress` tells how far */
  "engine/load": { params: loadSchema, result: capabilitiesSchema },
  /** gives the model's memory back */
  "engine/unload": { params: emptySchema, result: emptySchema },
  /** has the loaded model write about a document */
  "digest/write": { params: writeSchema, result: writeReplySchema },
} as const

export const NOTIFICATIONS = {
  /** plugin to sidecar: stop at the next chunk and keep what was evaluated, or go on */
  "engine/pause": z.object({ paused: z.boolean() }),
  /** sidecar to plugin, every few seconds while it works: it is alive */
  "engine/alive": z.object({ busy: z.boolean(), rssBytes: count }),
  /** sidecar to plugin: a line for the log */
  "engine/log": z.object({ level: z.enum(["debug", "info", "warn", "error"]), message: few(2000) }),
  /** sidecar to plugin: how far the model is loaded, 0 to 1; a hint */
  "load/progress": z.object({ fraction: z.number() }),
} as const

export type RequestName = keyof typeof REQUESTS
export type Params<Name extends RequestName> = z.output<(typeof REQUESTS)[Name]["params"]>
export type Result<Name extends RequestName> = z.output<(typeof REQUESTS)[Name]["result"]>
export type NotificationName = keyof typeof NOTIFICATIONS
export type Notice<Name extends NotificationName> = z.output<(typeof NOTIFICATIONS)[Name]>

/** What a request that fails carries as `data.code`. The message says what to do. */
export const ERROR_CODES = [
  /** the request is not of the form described here, or its schema is more than a grammar can hold */
  "BAD_REQUEST",
  /** the engine cannot be imported, or has no part that runs on this machine */
  "NO_ENGINE",
  /** there was no `engine/load`, or the last one failed */
  "NOT_LOADED",
  /** there is no file at the path */
  "MODEL_MISSING",
  /** the file is no model, or one that the engine cannot read */
  "MODEL_INVALID",
  /** it would need more memory than it may have */
  "MODEL_TOO_LARGE",
  /** memory ran out all the same */
  "OUT_OF_MEMORY",
  /** anything else */
  "ENGINE_FAILED",
] as const
export type WireErrorCode = (typeof ERROR_CODES)[number]

export const errorDataSchema = z.object({ code: z.enum(ERROR_CODES) })
