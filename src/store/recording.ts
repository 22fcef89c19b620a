// A session as OpenCode recorded it, whether read from its database or from an `opencode export` file: the same shape,
// and the same little that is asked of it. Fields not named here pass through untouched.
import * as z from "zod/mini"
import type { HostMessage } from "../host/v1/message.ts"

export type RecordedSession = {
  id: string
  title: string
  parentID?: string
  directory?: string
  version?: string
  /** messages from this one on (of it, the parts from `partID` on) are hidden, and go at the next prompt */
  revert?: Revert | undefined
  time?: { created?: number; updated?: number }
}

export type Revert = { messageID: string; partID?: string | undefined }

/** `skipped` counts the messages and parts that could not be read. */
export type Recording = { info: RecordedSession; messages: HostMessage[]; skipped: number }

const optionalText = z.catch(z.optional(z.string()), undefined)
const optionalNumber = z.catch(z.optional(z.number()), undefined)

const revertShape = z.looseObject({ messageID: z.string(), partID: optionalText })

export const sessionShape = z.looseObject({
  id: z.string(),
  title: z.catch(z.string(), "untitled"),
  parentID: optionalText,
  directory: optionalText,
  version: optionalText,
  revert: z.catch(z.optional(revertShape), undefined),
  time: z.catch(z.optional(z.looseObject({ created: optionalNumber, updated: optionalNumber })), undefined),
})

const messageShape = z.looseObject({ role: z.string() })
const partShape = z.looseObject({ type: z.string() })

/** Checked just enough to be a message with parts; what the fields hold is the core's to judge. */
export function asMessage(info: unknown, parts: readonly unknown[]): { message?: HostMessage; skipped: number } {
  const head = messageShape.safeParse(info)
  if (!head.success) return { skipped: 1 }
  const whole = parts.filter((part) => partShape.safeParse(part).success)
  return { message: { info: head.data, parts: whole } as HostMessage, skipped: parts.length - whole.length }
}

export function readRevert(value: unknown): Revert | undefined {
  return revertShape.safeParse(value).data
}

/** The messages the next call would be made of: without those that a pending revert has hidden. */
export function standing({ info: { revert }, messages }: Recording): HostMessage[] {
  const at = revert ? messages.findIndex((message) => message.info.id === revert.messageID) : -1
  const hidden = messages[at]
  if (!revert || !hidden) return messages
  const from = revert.partID === undefined ? 0 : hidden.parts.findIndex((part) => part.id === revert.partID)
  const kept = from > 0 ? [{ ...hidden, parts: hidden.parts.slice(0, from) }] : []
  return [...messages.slice(0, at), ...kept]
}
