// The original of a fold, fetched from OpenCode.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { originalText } from "../fold/fold.ts"
import { partOf } from "../host/v1/conversation.ts"
import type { HostPart } from "../host/v1/message.ts"
import type { FoldStatus } from "../status/status.ts"

/** Undefined when it no longer exists: reverted, or removed with its message. Rejects when OpenCode does not answer. */
export async function fetchOriginal(
  client: TuiPluginApi["client"],
  sessionID: string,
  { messageID, partID, side }: FoldStatus,
): Promise<string | undefined> {
  const { data, error, response } = await client.session.message({ sessionID, messageID })
  if (!data) {
    if (response?.status === 404) return
    throw new Error(`OpenCode was asked for message ${messageID} and answered ${reasonOf(error, response?.status)}`)
  }
  const stored = data.parts.find(({ id }) => id === partID)
  const part = stored && partOf(stored as HostPart)
  return part?.type === "tool" ? originalText(part, side) : undefined
}

function reasonOf(error: unknown, status: number | undefined): string {
  if (error instanceof Error) return error.message
  return status === undefined ? "nothing" : String(status)
}
