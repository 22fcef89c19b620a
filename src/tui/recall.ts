// The original of a fold, fetched from OpenCode.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { originalIn } from "../fold/select.ts"
import { messageOf } from "../host/v1/conversation.ts"
import type { HostMessage } from "../host/v1/message.ts"
import type { FoldStatus } from "../status/status.ts"

/** Undefined when it no longer exists: reverted, or removed with its message. Rejects when OpenCode does not answer. */
export async function fetchOriginal(client: TuiPluginApi["client"], sessionID: string, fold: FoldStatus) {
  const { data, error, response } = await client.session.message({ sessionID, messageID: fold.messageID })
  if (!data) {
    if (response?.status === 404) return
    const reason = error instanceof Error ? error.message : (response?.status ?? "nothing")
    throw new Error(`OpenCode was asked for message ${fold.messageID} and answered ${reason}`)
  }
  return originalIn(messageOf(data as HostMessage), fold)?.text
}
