// docs/protocol.md: what the plugin and its sidecar say to each other, and what the plugin tells the panel. Types and limits
// come from the schemas, meanings from their doc comments.

import { readFile } from "node:fs/promises"
import * as z from "zod"
import { LONGEST_LINE } from "../src/engine/wire/lines.ts"
import { ERROR_CODES, NOTIFICATIONS, REQUESTS } from "../src/engine/wire/messages.ts"
import { PROTOCOL } from "../src/engine/wire/version.ts"
import { STATUS_VERSION, statusSchema } from "../src/status/status.ts"
import { switchesSchema } from "../src/status/switches.ts"
import { readComments, readHeader, type Said } from "./doc-comments.ts"

type Shape = {
  type?: string
  const?: unknown
  default?: unknown
  enum?: string[]
  items?: Shape
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  minimum?: number
  maxLength?: number
}

const shapeOf = (schema: z.core.$ZodType) => z.toJSONSchema(schema, { io: "output" }) as Shape

export async function wirePage(): Promise<string> {
  const read = (name: string) => readFile(new URL(`../src/${name}`, import.meta.url), "utf8")
  const [messages, version, status, switches] = await Promise.all(
    ["protocol/messages.ts", "protocol/version.ts", "status/status.ts", "status/switches.ts"].map(read),
  )
  const wire = readComments(messages ?? "")
  const shown = new Map([...readComments(status ?? ""), ...readComments(switches ?? "")])
  const parts = [
    "# What the processes say to each other",
    "Written by `npm run docs` from `src/protocol` and `src/status`.",
    "## The plugin and its sidecar",
    readHeader(messages ?? ""),
    `A line is at most ${LONGEST_LINE.toLocaleString("en")} characters long. A line that is no message is noise: it goes to the log, and the next one counts again.`,
    `${readHeader(version ?? "")} The version is now ${PROTOCOL}.`,
    ...requests(wire),
    ...notifications(wire),
    "### Errors",
    "A request that fails is answered with an error of JSON-RPC. Its message says what to do, its `data.code` is one of",
    table(
      ["code", "when"],
      ERROR_CODES.map((code) => [`\`${code}\``, commentOf(wire.get("ERROR_CODES")?.fields.get(code), code)]),
    ),
    "## The plugin and the panel",
    `${readHeader(status ?? "")} It is \`sessions/<session id>.status.json\` in the data folder, readable by the user alone, put in place of the last one whole. Its version is ${STATUS_VERSION}.`,
    fields(shapeOf(statusSchema), shown.get("statusSchema"), shown),
    `${readHeader(switches ?? "")} It is \`sessions/<session id>.switches.json\`; where there is none, all is on.`,
    fields(shapeOf(switchesSchema), shown.get("switchesSchema"), shown),
  ]
  return `${parts.join("\n\n")}\n`
}

function requests(wire: Map<string, Said>): string[] {
  return Object.entries(REQUESTS).flatMap(([name, { params, result }]) => {
    const said = wire.get("REQUESTS")?.fields.get(name)
    const [sent, answered] = said?.names ?? []
    return [
      `### \`${name}\``,
      `Request, plugin to sidecar: ${commentOf(said, name)}.`,
      ...part("Sent:", shapeOf(params), wire.get(sent ?? ""), wire),
      ...part("Answered:", shapeOf(result), wire.get(answered ?? ""), wire),
    ]
  })
}

function notifications(wire: Map<string, Said>): string[] {
  return Object.entries(NOTIFICATIONS).flatMap(([name, schema]) => {
    const said = wire.get("NOTIFICATIONS")?.fields.get(name)
    // on one line, their fields are described by its comment
    const types = Object.entries(shapeOf(schema).properties ?? {}).map(([field, one]) => [`\`${field}\``, typeOf(one)])
    return [`### \`${name}\``, `Notification, ${commentOf(said, name)}.`, table(["field", "type"], types)]
  })
}

function part(title: string, shape: Shape, said: Said | undefined, all: Map<string, Said>): string[] {
  const isEmpty = Object.keys(shape.properties ?? {}).length === 0
  return isEmpty ? [`${title} nothing.`] : [title, fields(shape, said, all)]
}

function fields(shape: Shape, said: Said | undefined, all: Map<string, Said>): string {
  return table(["field", "type", "what it is"], rows(shape, said, all, ""))
}

/** Throws when a field has no comment; those of an object that is written on one line are in that line's. */
function rows(shape: Shape, said: Said | undefined, all: Map<string, Said>, prefix: string): string[][] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, one]) => {
    const field = said?.fields.get(name)
    const inner = one.items?.properties ? one.items : one
    const deeper = field?.fields.size
      ? field
      : field?.names.map((schema) => all.get(schema)).find((it) => it?.fields.size)
    const path = `${prefix}${name}${inner === one ? "" : "[]"}`
    const optional = shape.required?.includes(name) ? "" : ", or absent"
    const type = deeper && inner.properties ? (inner === one ? "object" : "list of objects") : typeOf(one)
    return [
      [`\`${prefix}${name}\``, `${type}${optional}`, commentOf(field, `${prefix}${name}`)],
      ...(deeper && inner.properties ? rows(inner, deeper, all, `${path}.`) : []),
    ]
  })
}

function typeOf({ type, enum: values, const: only, items, anyOf, properties, minimum, maxLength }: Shape): string {
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (values) return values.map((value) => `\`${value}\``).join(", ")
  if (anyOf) return anyOf.map(typeOf).join(" or ")
  if (type === "array") return `list: ${typeOf(items ?? {})}`
  if (properties) {
    const inner = Object.entries(properties).map(([name, one]) => `\`${name}\` (${typeOf(one)})`)
    return `object: ${inner.join(", ")}`
  }
  if (type === "integer") return minimum === 0 ? "whole number from 0" : "whole number"
  if (type === "string") return maxLength === undefined ? "text" : `text, at most ${maxLength} characters`
  return type === "boolean" ? "true or false" : (type ?? "anything")
}

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [row(head), row(head.map(() => "---")), ...lines.map(row)].join("\n")
}

function commentOf(said: Said | undefined, name: string): string {
  if (said?.comment !== undefined) return said.comment
  throw new Error(`${name} has no doc comment in its schema; docs/protocol.md needs one`)
}
