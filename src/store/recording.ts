// A session as OpenCode recorded it, whether read from its database or from an `opencode export` file: the same shape,
// and the same little that is asked of it. Fields not named here pass through untouched.
import * as z from "zod/mini"
import type { HostMessage } from "../core/host.ts"

export type RecordedSession = {
  id: string
  title: string
  parentID?: string
  directory?: string
  version?: string
  time?: { created?: number; updated?: number }
}

/** `skipped` counts the messages and parts that could not be read. */
export type Recording = { info: RecordedSession; messages: HostMessage[]; skipped: number }

const optionalText = z.catch(z.optional(z.string()), undefined)
const optionalNumber = z.catch(z.optional(z.number()), undefined)

export const sessionShape = z.looseObject({
  id: z.string(),
  title: z.catch(z.string(), "untitled"),
  parentID: optionalText,
  directory: optionalText,
  version: optionalText,
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
