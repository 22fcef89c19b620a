// What the plugin shows people about one session: the status file, which the plugin writes and the panel and `hudfold status`
// read. All text in it has already been redacted and made one line.

import * as z from "zod/mini"
import { foldSchema } from "../fold/fold.ts"
import { BILLINGS } from "../fold/pricing.ts"

/** Raised when a reader of the old shape would misread the new one. */
export const STATUS_VERSION = 4

const tokens = z.number()

/** Whether a part of the plugin works in this session, by the options or by the user's switch for the session. */
const activitySchema = z.enum(["on", "paused", "off"])
export type Activity = z.output<typeof activitySchema>

const shownFoldSchema = z.omit(foldSchema, { hash: true, text: true })
export type FoldStatus = z.output<typeof shownFoldSchema>

const episodeSchema = z.object({
  /** number of its first step */
  from: z.number(),
  /** number of its last step */
  to: z.number(),
  /** how many steps it has */
  count: z.number(),
  /** tokens it leaves out of each request */
  savedTokens: tokens,
  /** the record that is sent instead; cut if it is long, empty for the oldest episodes of a long session */
  record: z.string(),
  /** its steps, oldest first; empty for the oldest episodes of a long session */
  steps: z.array(shownFoldSchema),
})
/** A run of settled steps that is sent as one record. */
export type EpisodeStatus = z.output<typeof episodeSchema>

const writerSchema = z.object({
  /** `extract` needs no model; `llama` is the sidecar, `openai` a local server */
  backend: z.enum(["extract", "llama", "openai"]),
  /** `idle`: not asked for anything yet, or unloaded; `degraded`: it failed and will be retried; `off`: it failed for good */
  state: z.enum(["idle", "starting", "ready", "degraded", "off"]),
  /** why it is `degraded` or `off` */
  why: z.optional(z.string()),
  /** the name of the model; absent before its first use, and with `extract` */
  model: z.optional(z.string()),
  /** `CPU`, or the kind of GPU such as `vulkan`; known once a model was loaded */
  device: z.optional(z.string()),
  /** as measured, tokens per second in and out */
  speed: z.optional(z.object({ prefill: z.number(), decode: z.number() })),
  /** outputs waiting for a digest */
  waiting: z.number(),
  /** whether a digest is being written */
  working: z.boolean(),
  /** digests written since the process started */
  written: z.number(),
})
/** What writes the digests, and its state. */
export type WriterStatus = z.output<typeof writerSchema>

export const statusSchema = z.object({
  /** the version of this shape; a file of another version must not be read */
  version: z.literal(STATUS_VERSION),
  /** the plugin's version */
  plugin: z.string(),
  /** OpenCode's id of the session */
  sessionID: z.string(),
  /** of a subagent's session, the one that it works for */
  parentID: z.optional(z.string()),
  /** the project's folder */
  directory: z.string(),
  /** the process that wrote the file; once it has ended, `writer` is out of date */
  pid: z.number(),
  /** when the file was written, epoch ms */
  writtenMs: z.number(),
  /** calls the session has made */
  calls: z.number(),
  /** the model of the last call, as `provider/model` */
  model: z.optional(z.string()),
  /** how full the context is */
  context: z.object({
    /** tokens in the context now */
    tokens,
    /** whether `tokens` is an estimate, used before the provider has reported usage */
    estimated: z.boolean(),
    /** the context window of the model; absent if unknown */
    limit: z.optional(tokens),
    /** the size at which OpenCode compacts; absent if it never does, or if the window is unknown */
    compactsAt: z.optional(tokens),
    /** share of the last call's input that was read from the provider's cache, 0 to 1 */
    cachedShare: z.optional(z.number()),
    /** how often OpenCode has compacted the session */
    compactions: z.number(),
  }),
  /** savings since the session began */
  saved: z.object({
    /** input tokens that were not sent */
    tokens,
    /** share of what the calls would have cost without the plugin, 0 to 1; negative if the plugin added cost */
    share: z.number(),
    /** absent if the price of the model is unknown */
    usd: z.optional(z.number()),
    /** what the calls cost, answers included; absent if the price of the model is unknown */
    paidUsd: z.optional(z.number()),
    /** OpenCode has no price for what is read from the cache or written to it and counts it as free, so its own sum is smaller */
    freeReads: z.optional(z.boolean()),
    /** calls the figures cover */
    calls: z.number(),
    /** those of them that subagents made */
    subagentCalls: z.optional(z.number()),
    /** what the provider charges for; only with `tokens` do fewer tokens save money */
    billing: z.enum(BILLINGS),
  }),
  /** the status message */
  hud: z.object({
    /** `on`; `paused` by the user in this session; `off` by the options */
    activity: activitySchema,
    /** what the next request would contain, if it were not paused; absent if it is off or there is nothing to say */
    text: z.optional(z.string()),
    /** size of that text */
    tokens,
  }),
  /** what is folded */
  folding: z.object({
    /** same values as for the HUD */
    activity: activitySchema,
    /** why folding to save money has stopped, although nobody switched it off */
    stopped: z.optional(z.string()),
    /** number of outputs that are sent as their digest line */
    outputs: z.number(),
    /** number of steps that are sent as part of a record */
    steps: z.number(),
    /** tokens this leaves out of each request */
    savedTokens: tokens,
    /** how often the agent has asked for an original */
    recalls: z.number(),
    /** the folded outputs, newest first, at most 200 */
    newest: z.array(shownFoldSchema),
    /** the folded steps by record, newest first, at most 50 */
    episodes: z.array(episodeSchema),
    /** the steps that are sent as they are */
    kept: z.object({
      /** steps that are still open */
      open: z.number(),
      /** steps that are settled and wait until folding them pays */
      settled: z.number(),
      /** outputs of open steps that wait for it too */
      outputs: z.number(),
      /** what folding all that waits would leave out of each request */
      tokens,
      /** why steps are open, and how many for each reason, most first */
      reasons: z.array(z.object({ why: z.string(), steps: z.number() })),
      /** the newest of both, newest first */
      newest: z.array(
        z.object({
          /** its number */
          step: z.number(),
          /** OpenCode's id of its message */
          messageID: z.string(),
          /** its first call */
          what: z.string(),
          /** its size */
          tokens,
          /** why it is open; absent if it is settled */
          why: z.optional(z.string()),
        }),
      ),
    }),
  }),
  /** commands whose last run failed: what failed, how, since which call, how often */
  failures: z.array(z.object({ what: z.string(), detail: z.string(), since: z.number(), times: z.number() })),
  /** files whose current content the agent has not seen: edited since it read them, or changed on disk */
  stale: z.array(z.object({ path: z.string(), why: z.enum(["edited since read", "changed on disk since read"]) })),
  /** what writes the digests */
  writer: writerSchema,
})
export type Status = z.output<typeof statusSchema>

/** The switches the user has set for one session in the panel. */
export const switchesSchema = z.object({
  /** whether the HUD is sent */
  hud: z._default(z.enum(["on", "paused"]), "on"),
  /** `paused`: existing folds stay, and new ones are made only if the context would overflow */
  folding: z._default(z.enum(["on", "paused"]), "on"),
  /** steps to send whole, settled or not: by message id, the call until which */
  whole: z.optional(z.record(z.string(), z.number())),
  /** what to fold once with the next request, even if it does not pay: all that is settled, or these steps by message id */
  foldNow: z.optional(z.object({ askedMs: z.number(), what: z.union([z.literal("all"), z.array(z.string())]) })),
})
export type Switches = z.output<typeof switchesSchema>

export const ALL_ON: Switches = { hud: "on", folding: "on" }
