// The host-neutral conversation: the rest of this project reads a session's messages as these types, and an adapter in
// `host/` provides them. Nothing outside `host/` knows how a host stores its messages. All of it is read-only.

/** `apiID`: what the provider calls it, where that is known and may be another name. */
export type ModelName = { providerID: string; modelID: string; apiID?: string | undefined }

/** `provider/model`; empty when the model is unknown. */
export function modelKey(model: ModelName | undefined): string {
  return model ? `${model.providerID}/${model.modelID}` : ""
}

/**
 * Whether a model's thinking is bound to everything before it, and dropped when that changes: Claude 5.1 and later, with
 * the same exception as in OpenCode 1.18.33, mythos 5.1, and GPT 6.2 and later (OpenAI's guide "Keep the prefix unchanged").
 */
export function bindsThinking({ modelID, apiID = modelID }: ModelName): boolean {
  // Azure calls GPT 3.5 gpt-35
  const gpt = /gpt-(?!35)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(apiID)
  if (gpt) return versionOf(gpt[1], gpt[2]) >= 602
  const claude = /claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(apiID)
  const version = versionOf(claude?.[2], claude?.[3])
  return version >= 501 && !(claude?.[1]?.toLowerCase() === "mythos" && version === 501)
}

const versionOf = (major = "0", minor = "0") => Number(major) * 100 + Number(minor)

/** Tokens the provider reported for one step. `input` excludes what came from the cache or was written to it; `output` includes reasoning. */
export type Usage = { input: number; cacheRead: number; cacheWrite: number; output: number }

export type Message = {
  readonly id: string
  /** absent where the host names none */
  readonly sessionID: string | undefined
  /** `step`: one model call of the agent. `summary`: the result of a compaction, `failed summary`: of one that failed */
  readonly kind: "user" | "step" | "summary" | "failed summary"
  readonly agent: string | undefined
  /** the model that answered; for a user message, the one requested */
  readonly model: ModelName | undefined
  readonly usage: Usage | undefined
  /** USD; 0 where the record has no price */
  readonly cost: number
  /** epoch ms by the host's clock; 0 when unknown */
  readonly createdMs: number
  readonly completedMs: number | undefined
  /** how the step ended early; an aborted one is still sent to the model, a failed one is not */
  readonly error: "aborted" | "failed" | undefined
  /** the folder that paths of this message are relative to */
  readonly root: string | undefined
  /** the absolute folder that commands of this message run in; absent: `root` */
  readonly cwd?: string | undefined
  /** number of parts, without reading them */
  readonly size: number
  readonly parts: readonly Part[]
}

export type Part =
  | {
      readonly type: "text"
      readonly text: string
      /** `user`: written by the user or the agent; `host`, `plugin`: inserted by the host or another plugin */
      readonly by: "user" | "host" | "plugin"
      /** shown to people, not sent to the model */
      readonly ignored: boolean
    }
  | ToolPart
  | { readonly type: "reasoning"; readonly text: string }
  /** an attachment; `inline` when the model gets it as text, which is then a part of its own */
  | { readonly type: "file"; readonly name: string; readonly inline: boolean }
  /** files that changed on disk during the step, by whatever means; absolute paths */
  | { readonly type: "changes"; readonly files: readonly string[] }
  /** the request for a compaction; the messages from `tailStartID` on were kept beside its summary */
  | { readonly type: "compaction"; readonly automatic: boolean; readonly tailStartID?: string | undefined }
  /** not visible to the model, or of an unknown kind or shape */
  | { readonly type: "other"; readonly blocks: 0 | 1; readonly understood: boolean }

export type ToolStatus = "pending" | "running" | "completed" | "error"

/** `url` may be a data URL, with the file itself. */
export type AttachedFile = {
  readonly type: "file"
  readonly mime: string
  readonly url: string
  readonly filename?: string
}

/** One tool call and its result. */
export type ToolPart = {
  readonly type: "tool"
  readonly id: string
  readonly callID: string
  readonly tool: string
  readonly status: ToolStatus
  readonly input: Readonly<Record<string, unknown>>
  /** its output, or the message of the error it ended in; empty while it runs */
  readonly output: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** files that the tool attached to its result, such as images */
  readonly attached?: readonly AttachedFile[] | undefined
  readonly endMs?: number | undefined
  /** when the host dropped the output from requests, epoch ms; absent when it has not */
  readonly clearedMs?: number | undefined
  /** another plugin has replaced the output by a placeholder */
  readonly removed: boolean
}

/** What OpenCode sends in place of an output that it cleared. */
export const CLEARED = "[Old tool result content cleared]"
