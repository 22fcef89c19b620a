// Fields of a host's values, as what they should be or not at all.

import type { HostPart, HostToolState } from "./host/v1/message.ts"

export function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** Before 1.0 a tool part carried `status`, `input` and `output` itself. */
export function stateOf(part: HostPart): HostToolState | undefined {
  return (record(part.state) ?? (part.status === undefined ? undefined : part)) as HostToolState | undefined
}
