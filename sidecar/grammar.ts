// Converts a JSON schema to a GBNF grammar, so that the engine can write only conforming answers. Not node-llama-cpp's
// converter: it ignores unknown keywords, turns unknown types into null, allows white space everywhere, and ends on a
// trigger that takes up to four more steps.

import { EngineError } from "./errors.ts"

const MAX_DEPTH = 6
/** llama.cpp refuses more than 2000 nested repetitions of a rule, and treats a larger single bound as none. */
const MAX_STRING_CHARS = 1000
const MAX_ITEMS = 100
const MAX_DIGITS = 15

/**
 * A character of a string: no control characters, no line breaks, and only the two escapes that are necessary. A model
 * that is allowed to write `\n` or `\u0000` does so sooner or later.
 */
const CHARACTER = String.raw`character ::= [^"\\\x00-\x1F\x7F-\x9F] | "\\" ["\\]`

type Schema = Readonly<Record<string, unknown>>

/**
 * A grammar for exactly the answers that conform to the schema, of bounded length. Requires one space after each colon and
 * comma, as in the JSON that models were trained on: without it a small one fails at its first word. The supported subset:
 * - `object` with `properties`, written in their order, all of them in `required`; `additionalProperties` may be false
 * - `array` with `items`, `maxItems` and, default 0, `minItems`
 * - `string` with `maxLength` and, default 0, `minLength`, in characters
 * - `enum` of strings, numbers, booleans and null
 * - `integer` with `maximum` and, default 0, `minimum`, which limit the number of digits, not the value
 * - `boolean`
 *
 * Throws an `EngineError` BAD_REQUEST for anything else, for a missing bound, and if the root is not an object.
 */
export function grammarFor(schema: Schema): string {
  if (schema.type !== "object") refuse("the answer", "must be an object", schema.type)
  const rules = new Rules()
  const root = expression(schema, "the answer", 0, rules)
  return [`root ::= ${root}`, ...rules.lines(), CHARACTER, ""].join("\n")
}

/** Gives expressions names, so that a repetition refers to a rule instead of copying the expression. */
class Rules {
  private readonly names = new Map<string, string>()

  add(body: string): string {
    const name = this.names.get(body) ?? `r${this.names.size}`
    this.names.set(body, name)
    return name
  }

  lines(): string[] {
    return [...this.names].map(([body, name]) => `${name} ::= ${body}`)
  }
}

function expression(schema: unknown, where: string, depth: number, rules: Rules): string {
  if (!isObject(schema)) return refuse(where, "must be a JSON schema", schema)
  if (depth > MAX_DEPTH) return refuse(where, `must not be deeper than ${MAX_DEPTH}`, depth)
  if ("enum" in schema) return oneOf(schema, where)
  switch (schema.type) {
    case "object":
      return object(schema, where, depth, rules)
    case "array":
      return array(schema, where, depth, rules)
    case "string": {
      allow(schema, where, ["maxLength", "minLength"])
      const max = bound(schema, "maxLength", where, MAX_STRING_CHARS)
      const min = bound(schema, "minLength", where, max, 0)
      return max === 0 ? '"\\"\\""' : rules.add(`"\\"" character{${min},${max}} "\\""`)
    }
    case "integer":
      return integer(schema, where)
    case "boolean":
      allow(schema, where, [])
      return '("true" | "false")'
    default:
      return refuse(where, "must have a type of object, array, string, integer or boolean, or an enum", schema.type)
  }
}

function object(schema: Schema, where: string, depth: number, rules: Rules): string {
  allow(schema, where, ["properties", "required", "additionalProperties"])
  const { properties, required, additionalProperties = false } = schema
  if (!isObject(properties)) return refuse(where, "must have properties", properties)
  if (additionalProperties !== false) refuse(where, "must have additionalProperties false", additionalProperties)
  const names = Object.keys(properties)
  const all =
    Array.isArray(required) && required.length === names.length && required.every((name) => names.includes(name))
  if (!all) refuse(where, "must require exactly the properties it has", required)
  const pairs = names.map((name, index) => {
    const key = literal(`${index ? ", " : ""}${JSON.stringify(name)}: `)
    return `${key} ${expression(properties[name], `${where}.${name}`, depth + 1, rules)}`
  })
  return ['"{"', ...pairs, '"}"'].join(" ")
}

function array(schema: Schema, where: string, depth: number, rules: Rules): string {
  allow(schema, where, ["items", "maxItems", "minItems"])
  const max = bound(schema, "maxItems", where, MAX_ITEMS)
  const min = bound(schema, "minItems", where, max, 0)
  const item = rules.add(expression(schema.items, `${where}[]`, depth + 1, rules))
  if (max === 0) return '"[]"'
  const next = rules.add(`", " ${item}`)
  const items = max === 1 ? item : `${item} ${next}{${Math.max(0, min - 1)},${max - 1}}`
  return min === 0 ? `"[" (${items})? "]"` : `"[" ${items} "]"`
}

function integer(schema: Schema, where: string): string {
  allow(schema, where, ["maximum", "minimum"])
  const { maximum, minimum = 0 } = schema
  const fits = (value: unknown): value is number =>
    Number.isSafeInteger(value) && String(Math.abs(value as number)).length <= MAX_DIGITS
  if (!fits(maximum)) return refuse(where, `must have a maximum of at most ${MAX_DIGITS} digits`, maximum)
  if (!fits(minimum) || minimum > maximum) return refuse(where, "must have a minimum not above the maximum", minimum)
  const digits = String(Math.max(Math.abs(maximum), Math.abs(minimum))).length
  return `${minimum < 0 ? '"-"? ' : ""}("0" | [1-9] [0-9]{0,${digits - 1}})`
}

function oneOf(schema: Schema, where: string): string {
  allow(schema, where, ["enum"])
  const values = Array.isArray(schema.enum) ? schema.enum : []
  if (!values.length || values.some((value) => typeof value === "object" && value !== null))
    return refuse(where, "must list strings, numbers, booleans or null in its enum", schema.enum)
  return `(${values.map((value) => literal(JSON.stringify(value))).join(" | ")})`
}

/** GBNF escapes like JSON, except for control characters, which `JSON.stringify` has already escaped. */
const literal = (text: string) => JSON.stringify(text)

function allow(schema: Schema, where: string, keywords: readonly string[]): void {
  const unknown = Object.keys(schema).filter((name) => name !== "type" && !keywords.includes(name))
  if (unknown.length) refuse(where, `can be bounded by ${["type", ...keywords].join(", ")}`, unknown)
}

function bound(schema: Schema, name: string, where: string, max: number, fallback?: number): number {
  const value = schema[name] ?? fallback
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max)
    return refuse(where, `must have a ${name} from 0 to ${max}`, schema[name])
  return value as number
}

function refuse(where: string, expected: string, got: unknown): never {
  throw new EngineError("BAD_REQUEST", `schema: ${where} ${expected}, got ${JSON.stringify(got) ?? "nothing"}`)
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
