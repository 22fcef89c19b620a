// The original of a fold, as OpenCode keeps it.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { originalText } from "../fold/original.ts"
import type { HostPart } from "../host/v1/message.ts"
import type { FoldStatus } from "../status/status.ts"

/** Undefined when it is gone: taken back, or removed with its message. Rejects when OpenCode cannot be asked. */
export async function originalOf(
  client: TuiPluginApi["client"],
  sessionID: string,
  { messageID, partID, side }: FoldStatus,
): Promise<string | undefined> {
  const { data, error, response } = await client.session.message({ sessionID, messageID })
  if (!data) {
    if (response?.status === 404) return
    throw new Error(`OpenCode was asked for message ${messageID} and answered ${reasonOf(error, response?.status)}`)
  }
  const part = data.parts.find(({ id }) => id === partID)
  return part?.type === "tool" ? originalText(part as HostPart, side) : undefined
}

function reasonOf(error: unknown, status: number | undefined): string {
  if (error instanceof Error) return error.message
  return status === undefined ? "nothing" : String(status)
}
