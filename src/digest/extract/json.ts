// Output that is JSON, from any tool: its keys, its lengths, and any error it reports.

import { clip } from "../../output/lines.ts"
import { asRecord, asString, parseJson } from "../../system/values.ts"
import { type Draft, listed } from "./draft.ts"

/** Parsing more takes longer than a digest may. */
const MAX_JSON_CHARS = 128 * 1024
const INFORMATIVE_KEY =
  /^(?:error|errors|message|detail|details|status|state|code|reason|title|name|id|url|version|total|count|type)$/i

/** Undefined when the output is not one JSON object or array. */
export function digestJson(output: string): Draft | undefined {
  if (output.length > MAX_JSON_CHARS || !/^\s*[{[]/.test(output.slice(0, 100)) || !/[}\]]\s*$/.test(output.slice(-100)))
    return undefined
  const value = parseJson(output)
  if (typeof value !== "object" || value === null) return undefined
  const error = errorOf(value)
  return { kind: "json", gist: error === undefined ? describe(value) : `error: ${clip(error, 130)}` }
}

function describe(value: object): string {
  if (Array.isArray(value)) {
    const first: unknown = value[0]
    const keys =
      typeof first === "object" && first !== null && !Array.isArray(first)
        ? ` of {${listed(Object.keys(first), 90)}}`
        : ""
    const names = keys ? value.slice(0, 5).flatMap((item: unknown) => nameOf(item) ?? []) : []
    return `array of ${value.length}${keys}${names.length > 0 ? `: ${listed(names, 60)}` : ""}`
  }
  const words = Object.entries(value).map(([key, inner]: [string, unknown]) => `${key}${shape(key, inner)}`)
  return `object: ${listed(words, 140)}`
}

function shape(key: string, inner: unknown): string {
  if (Array.isArray(inner)) return ` [${inner.length}]`
  if (typeof inner === "object" && inner !== null) return ` {${Object.keys(inner).length}}`
  const text = typeof inner === "string" || typeof inner === "number" || typeof inner === "boolean" ? String(inner) : ""
  return text !== "" && text.length <= 40 && INFORMATIVE_KEY.test(key) ? ` ${text}` : ""
}

function nameOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined
  for (const [key, value] of Object.entries(item)) {
    if (/^(?:name|title|id|path|file|key)$/i.test(key) && (typeof value === "string" || typeof value === "number"))
      return clip(String(value), 40)
  }
  return undefined
}

function errorOf(value: object): string | undefined {
  const { error, errors, success, message } = value as Record<string, unknown>
  const found = "error" in value ? error : errors
  const inner: unknown = Array.isArray(found) ? found[0] : found
  const text = asString(inner) || asString(asRecord(inner)?.message)
  return text ?? (success === false ? asString(message) : undefined)
}
