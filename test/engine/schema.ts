import type { AnswerSchema } from "../../src/engine/wire/messages.ts"

/** A schema of strings with these limits. */
export function schemaOf(limits: Readonly<Record<string, number>>): AnswerSchema {
  const properties = Object.entries(limits).map(([name, maxLength]) => [name, { type: "string", maxLength }] as const)
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: Object.keys(limits),
    additionalProperties: false,
  }
}
