// A session as OpenCode recorded it, in its database or in a file written by `opencode export`: both have the same shape and
// the same minimal checks. Fields not named here are passed through unchanged.
import * as z from "zod/mini"

/** A message as OpenCode stores it; `host/v1/conversation.ts` reads it. */
export type RecordedMessage = { info: Record<string, unknown>; parts: Record<string, unknown>[] }

/** `skipped` counts the messages and parts that could not be read. */
export type Recording = { info: RecordedSession; messages: RecordedMessage[]; skipped: number }

const optionalText = z.catch(z.optional(z.string()), undefined)
const optionalNumber = z.catch(z.optional(z.number()), undefined)

/** Hidden are the messages from `messageID` on; of that one only the parts from `partID` on. The next prompt deletes them. */
export const revertShape = z.looseObject({ messageID: z.string(), partID: optionalText })

export const sessionShape = z.looseObject({
  id: z.string(),
  title: z.catch(z.string(), "untitled"),
  directory: optionalText,
  revert: z.catch(z.optional(revertShape), undefined),
  time: z.catch(z.optional(z.looseObject({ updated: optionalNumber })), undefined),
})

export type RecordedSession = z.output<typeof sessionShape>

const messageShape = z.looseObject({ role: z.string() })
const partShape = z.looseObject({ type: z.string() })

/** Checks only that these are messages with parts; the contents of the fields are checked when they are used. */
export function readMessages(given: readonly { info: unknown; parts: readonly unknown[] }[]) {
  const messages: RecordedMessage[] = []
  let skipped = 0
  for (const { info, parts } of given) {
    const head = messageShape.safeParse(info)
    const valid = parts.filter((part) => partShape.safeParse(part).success)
    if (head.success) messages.push({ info: head.data, parts: valid as RecordedMessage["parts"] })
    skipped += head.success ? parts.length - valid.length : 1
  }
  return { messages, skipped }
}

/** The messages of the next call: without those that a pending revert has hidden. */
export function visibleMessages({ info: { revert }, messages }: Recording): RecordedMessage[] {
  const at = revert ? messages.findIndex((message) => message.info.id === revert.messageID) : -1
  const hidden = messages[at]
  if (!revert || !hidden) return messages
  const from = revert.partID === undefined ? 0 : hidden.parts.findIndex((part) => part.id === revert.partID)
  const kept = from > 0 ? [{ ...hidden, parts: hidden.parts.slice(0, from) }] : []
  return [...messages.slice(0, at), ...kept]
}
