// How this plugin knows what it has put into OpenCode's array. The ids are constants: other plugins count the ids they meet.

import type { HostPart } from "./message.ts"

export const OWN_MESSAGE = "msg_hudfold"
export const OWN_PART = "prt_hudfold"

export function isOwnMessage(id: unknown): boolean {
  return typeof id === "string" && id.startsWith(OWN_MESSAGE)
}

export function isOwnPart(part: HostPart | undefined): boolean {
  return part?.id === OWN_PART
}
