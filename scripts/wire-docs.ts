// docs/protocol.md: the messages between the plugin and its sidecar, and the files between the plugin and the panel. Types and
// limits come from the schemas, descriptions from their doc comments. The comments are read from sources as Biome formats
// them, one field per line; this keeps them out of the plugin's bundle.

import { readFile } from "node:fs/promises"
import * as z from "zod"
import { ERROR_CODES, NOTIFICATIONS, PROTOCOL, REQUESTS } from "../src/engine/wire/messages.ts"
import { MAX_LINE_CHARS } from "../src/engine/wire/peer.ts"
import { STATUS_VERSION, statusSchema, switchesSchema } from "../src/status/status.ts"

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
  const [messages, status, fold] = await Promise.all(
    ["engine/wire/messages.ts", "status/status.ts", "fold/fold.ts"].map(read),
  )
  const wire = readComments(messages ?? "")
  const shown = readComments(status ?? "")
  // it picks fields of another schema, which has their comments
  shown.set("shownFoldSchema", readComments(fold ?? "").get("foldSchema") ?? { names: [], fields: new Map() })
  const parts = [
    "# Messages between the processes",
    "Written by `npm run docs` from `src/engine/wire` and `src/status`.",
    "## The plugin and its sidecar",
    readHeader(messages ?? ""),
    `A line is at most ${MAX_LINE_CHARS.toLocaleString("en")} characters long. A line that is not a message is kept like a line of stderr: should the sidecar die, its last lines say why.`,
    `${wire.get("PROTOCOL")?.comment} The version is now ${PROTOCOL}.`,
    ...requests(wire),
    ...notifications(wire),
    "### Errors",
    "A failed request is answered with a JSON-RPC error. Its message says what to do; its `data.code` is one of",
    table(
      ["code", "when"],
      ERROR_CODES.map((code) => [`\`${code}\``, commentOf(wire.get("ERROR_CODES")?.fields.get(code), code)]),
    ),
    "## The plugin and the panel",
    `${readHeader(status ?? "")} It is \`sessions/<session id>.status.json\` in the data folder, readable by the user alone and replaced as a whole. Its version is ${STATUS_VERSION}.`,
    fields(shapeOf(statusSchema), shown.get("statusSchema"), shown),
    `${shown.get("switchesSchema")?.comment} They are \`sessions/<session id>.switches.json\`; without that file everything is on.`,
    fields(shapeOf(switchesSchema), shown.get("switchesSchema"), shown),
  ]
  return `${parts.join("\n\n").split("\n\n").map(wrapped).join("\n\n")}\n`
}

/** A paragraph in lines of at most 122 characters; a table stays as it is. */
function wrapped(block: string): string {
  if (block.startsWith("|")) return block
  return block
    .replaceAll("\n", " ")
    .replace(/(.{1,122})(?: |$)/g, "$1\n")
    .trimEnd()
}

function requests(wire: Map<string, Documented>): string[] {
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

function notifications(wire: Map<string, Documented>): string[] {
  return Object.entries(NOTIFICATIONS).flatMap(([name, schema]) => {
    const said = wire.get("NOTIFICATIONS")?.fields.get(name)
    // these schemas are on one line, so their comment describes the fields
    const types = Object.entries(shapeOf(schema).properties ?? {}).map(([field, one]) => [`\`${field}\``, typeOf(one)])
    return [`### \`${name}\``, `Notification, ${commentOf(said, name)}.`, table(["field", "type"], types)]
  })
}

function part(title: string, shape: Shape, said: Documented | undefined, all: Map<string, Documented>): string[] {
  const isEmpty = Object.keys(shape.properties ?? {}).length === 0
  return isEmpty ? [`${title} nothing.`] : [title, fields(shape, said, all)]
}

function fields(shape: Shape, said: Documented | undefined, all: Map<string, Documented>): string {
  return table(["field", "type", "what it is"], rows(shape, said, all, ""))
}

/** Throws when a field has no comment. The comment of an object on one line covers its fields. */
function rows(shape: Shape, said: Documented | undefined, all: Map<string, Documented>, prefix: string): string[][] {
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

function commentOf(said: Documented | undefined, name: string): string {
  if (said?.comment !== undefined) return said.comment
  throw new Error(`${name} has no doc comment in its schema; docs/protocol.md needs one`)
}

/** The doc comment of a constant or one of its fields, and of the fields in it. */
type Documented = {
  comment?: string
  /** schemas that the line refers to */
  names: readonly string[]
  fields: Map<string, Documented>
}

const CONSTANT = /^(?:export )?const (\w+) = (.*)$/
const FIELD = /^( +)(?:"([^"]+)"|(\w+))(?:: (.*)|,)$/

/** The comments of every top-level constant, by its name. */
function readComments(source: string): Map<string, Documented> {
  const constants = new Map<string, Documented>()
  /** the enclosing constant and fields, with their indentation */
  let around: { indent: number; said: Documented }[] = []
  let comment: string | undefined
  for (const line of joinComments(source).split("\n")) {
    const found = /^ *\/\*\* (.*) \*\/$/.exec(line)?.[1]
    if (found !== undefined) {
      comment = found
      continue
    }
    const constant = CONSTANT.exec(line)
    const field = FIELD.exec(line)
    if (constant) {
      const said = saidOf(comment, constant[2])
      constants.set(constant[1] ?? "", said)
      around = [{ indent: 0, said }]
    } else if (field) {
      const indent = field[1]?.length ?? 0
      around = around.filter((one) => one.indent < indent)
      const said = saidOf(comment, field[4])
      around.at(-1)?.said.fields.set(field[2] ?? field[3] ?? "", said)
      around.push({ indent, said })
    }
    comment = undefined
  }
  return constants
}

/** The header comment of a source. */
function readHeader(source: string): string {
  const lines = source.split("\n")
  const end = lines.findIndex((line) => !line.startsWith("//"))
  const text = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""))
  return text.join("\n")
}

function saidOf(comment: string | undefined, rest = ""): Documented {
  return { ...(comment === undefined ? {} : { comment }), names: rest.match(/\b\w+Schema\b/g) ?? [], fields: new Map() }
}

/** Puts comments of several lines on one. */
function joinComments(source: string): string {
  return source.replace(/\/\*\*\n[\s\S]*?\*\//g, (comment) =>
    comment.replace(/\n +\*(?!\/) ?/g, " ").replace(/\s+/g, " "),
  )
}
