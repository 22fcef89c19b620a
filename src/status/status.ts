// What the plugin shows people of one session: the shape of the status file, which the server's half writes and the panel
// and `hudfold status` read. All text in it was made one line and redacted before it came here.

import * as z from "zod/mini"

/** Raised when a reader of the old shape would misread the new one. */
export const STATUS_VERSION = 1

const tokens = z.number()

/** What a part of the plugin does in this session: as the options say, or as the user has switched it for the session. */
const activitySchema = z.enum(["on", "paused", "off"])
export type Activity = z.output<typeof activitySchema>

const foldSchema = z.object({
  /** the recall id, as `r12` */
  id: z.string(),
  /** the call as a reader knows it again, as `read src/db.ts` */
  what: z.string(),
  /** `free`: at no cost; `pays`: over the calls to come; `must`: the context nears its limit */
  reason: z.enum(["free", "pays", "must"]),
  /** the reason in words */
  because: z.string(),
  /** the call (1-based) it is folded from on */
  call: z.number(),
  /** of what is folded, estimated */
  tokens,
  /** of the line in its place, estimated */
  textTokens: tokens,
  /** the message and the part in which OpenCode keeps the original */
  messageID: z.string(),
  /** of the message */
  partID: z.string(),
  /** which side of the call is folded */
  side: z.enum(["output", "input"]),
})
export type FoldStatus = z.output<typeof foldSchema>

const writerSchema = z.object({
  /** `extract` needs no model; `llama` is the sidecar, `openai` a local server */
  backend: z.enum(["extract", "llama", "openai"]),
  /** `idle`: nothing asked of it yet, or unloaded; `degraded`: it failed and is tried again; `off`: it is not */
  state: z.enum(["idle", "starting", "ready", "degraded", "off"]),
  /** of `degraded` and `off` */
  why: z.optional(z.string()),
  /** its name; absent before it was asked for, and with `extract` */
  model: z.optional(z.string()),
  /** `CPU`, or the GPU's kind as `vulkan`; known once a model was loaded */
  device: z.optional(z.string()),
  /** as measured, tokens per second in and out */
  speed: z.optional(z.object({ prefill: z.number(), decode: z.number() })),
  /** outputs that wait for a digest */
  waiting: z.number(),
  /** whether one is in work */
  working: z.boolean(),
  /** digests written since the process began */
  written: z.number(),
})
/** Who writes the digests, and how that goes. */
export type WriterStatus = z.output<typeof writerSchema>

export const statusSchema = z.object({
  /** of this shape; another one is not to be read */
  version: z.literal(STATUS_VERSION),
  /** the plugin's version */
  plugin: z.string(),
  /** OpenCode's id of the session */
  sessionID: z.string(),
  /** the project's folder */
  directory: z.string(),
  /** the process that wrote it; once it has ended, what it says of the writer is over */
  pid: z.number(),
  /** when, epoch ms */
  writtenMs: z.number(),
  /** calls the session has made */
  calls: z.number(),
  /** the model of the last call, as `provider/model` */
  model: z.optional(z.string()),
  /** how full the context is */
  context: z.object({
    /** in the context now */
    tokens,
    /** whether `tokens` is an estimate: before the provider has reported any */
    estimated: z.boolean(),
    /** the model's window; absent where it is not known */
    limit: z.optional(tokens),
    /** the size at which OpenCode compacts; absent where it never does */
    compactsAt: z.optional(tokens),
    /** share of the last call's input that came from the provider's cache, 0 to 1 */
    cachedShare: z.optional(z.number()),
    /** context sizes of the last calls, oldest first */
    trend: z.array(tokens),
    /** how often OpenCode has compacted the session */
    compactions: z.number(),
  }),
  /** since the session began */
  saved: z.object({
    /** input tokens that were not sent */
    tokens,
    /** of what the input would have cost without the plugin, 0 to 1; negative when it cost more */
    share: z.number(),
    /** absent where the model's price is not known */
    usd: z.optional(z.number()),
    /** in how many calls */
    calls: z.number(),
    /** what the provider charges for: of requests, or of nothing, fewer tokens are no less money; absent = tokens */
    billing: z.optional(z.enum(["tokens", "requests", "nothing"])),
  }),
  /** the status message */
  hud: z.object({
    /** `on`; `paused` by the user in this session; `off` by the options */
    activity: activitySchema,
    /** what the next request would carry as things stand; absent when there is nothing to say */
    text: z.optional(z.string()),
    /** of that text */
    tokens,
  }),
  /** what is folded */
  folding: z.object({
    /** as the HUD's */
    activity: activitySchema,
    /** why no more is folded for money, though nobody switched it off */
    stopped: z.optional(z.string()),
    /** how many outputs go out folded */
    outputs: z.number(),
    /** that this leaves out of each request */
    savedTokens: tokens,
    /** how often the agent has asked for an original */
    recalls: z.number(),
    /** newest first, at most `MOST_FOLDS` of them */
    newest: z.array(foldSchema),
  }),
  /** commands whose last run failed: what failed, how, since which call, how often */
  failures: z.array(z.object({ what: z.string(), detail: z.string(), since: z.number(), times: z.number() })),
  /** files whose content the agent has not seen: edited since it read them, or changed on disk */
  stale: z.array(z.object({ path: z.string(), why: z.enum(["edited since read", "changed on disk since read"]) })),
  /** who writes the digests */
  writer: writerSchema,
})
export type Status = z.output<typeof statusSchema>

/** Kept in the file: as many as anybody scrolls through. */
export const MOST_FOLDS = 200
export const MOST_FAILURES = 20
export const MOST_STALE = 20
/** Calls that the trend looks back. */
export const TREND = 32
