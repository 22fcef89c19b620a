// From a JSON schema to a GBNF grammar: the engine then can write nothing but an answer of that form. Not
// node-llama-cpp's own converter: it ignores keywords it does not know, turns shapes it does not know into null, allows
// white space everywhere and ends on a trigger that costs up to four more steps.

import { EngineError } from "./errors.ts"

const DEEPEST = 6
/** llama.cpp refuses a rule repeated more than 2000 times with all that is in it; a larger bound alone it takes as none. */
const LONGEST_STRING = 1000
const MOST_ITEMS = 100
const MOST_DIGITS = 15

/**
 * A string's character: no control character, no line break, and of the escapes only the two that are needed. A model
 * that may write `\n` or `\u0000` sooner or later does.
 */
const CHARACTER = String.raw`character ::= [^"\\\x00-\x1F\x7F-\x9F] | "\\" ["\\]`

type Schema = Readonly<Record<string, unknown>>

/**
 * A grammar for exactly the answers of the schema, of bounded length. One space stands after each colon and comma: models
 * have seen JSON so, and a small one that is made to write it without goes astray in its first word. The subset:
 * - `object` with `properties`, written in their order, all of them in `required`; `additionalProperties` may be false
 * - `array` with `items`, `maxItems` and, default 0, `minItems`
 * - `string` with `maxLength` and, default 0, `minLength`, in characters
 * - `enum` of strings, numbers, booleans and null
 * - `integer` with `maximum` and, default 0, `minimum`: bounded by their digits, not by their value
 * - `boolean`
 *
 * Throws an `EngineError` BAD_REQUEST on anything else, on a missing bound, and where the outermost is no object.
 */
export function grammarFor(schema: Schema): string {
  if (schema.type !== "object") refuse("the answer", "must be an object", schema.type)
  const rules = new Rules()
  const root = expression(schema, "the answer", 0, rules)
  return [`root ::= ${root}`, ...rules.lines(), CHARACTER, ""].join("\n")
}

/** Named, so that what is repeated is one reference and not everything in it. */
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
  if (depth > DEEPEST) return refuse(where, `must not be deeper than ${DEEPEST}`, depth)
  if ("enum" in schema) return oneOf(schema, where)
  switch (schema.type) {
    case "object":
      return object(schema, where, depth, rules)
    case "array":
      return array(schema, where, depth, rules)
    case "string": {
      allow(schema, where, ["maxLength", "minLength"])
      const most = bound(schema, "maxLength", where, LONGEST_STRING)
      const least = bound(schema, "minLength", where, most, 0)
      return most === 0 ? '"\\"\\""' : rules.add(`"\\"" character{${least},${most}} "\\""`)
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
  const most = bound(schema, "maxItems", where, MOST_ITEMS)
  const least = bound(schema, "minItems", where, most, 0)
  const item = rules.add(expression(schema.items, `${where}[]`, depth + 1, rules))
  if (most === 0) return '"[]"'
  const next = rules.add(`", " ${item}`)
  const items = most === 1 ? item : `${item} ${next}{${Math.max(0, least - 1)},${most - 1}}`
  return least === 0 ? `"[" (${items})? "]"` : `"[" ${items} "]"`
}

function integer(schema: Schema, where: string): string {
  allow(schema, where, ["maximum", "minimum"])
  const { maximum, minimum = 0 } = schema
  const fits = (value: unknown): value is number =>
    Number.isSafeInteger(value) && String(Math.abs(value as number)).length <= MOST_DIGITS
  if (!fits(maximum)) return refuse(where, `must have a maximum of at most ${MOST_DIGITS} digits`, maximum)
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

/** GBNF escapes as JSON does, as long as the text holds no control character; `JSON.stringify` has left none. */
const literal = (text: string) => JSON.stringify(text)

function allow(schema: Schema, where: string, keywords: readonly string[]): void {
  const unknown = Object.keys(schema).filter((name) => name !== "type" && !keywords.includes(name))
  if (unknown.length) refuse(where, `can be bounded by ${["type", ...keywords].join(", ")}`, unknown)
}

function bound(schema: Schema, name: string, where: string, most: number, otherwise?: number): number {
  const value = schema[name] ?? otherwise
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most)
    return refuse(where, `must have a ${name} from 0 to ${most}`, schema[name])
  return value as number
}

function refuse(where: string, expected: string, got: unknown): never {
  throw new EngineError("BAD_REQUEST", `schema: ${where} ${expected}, got ${JSON.stringify(got) ?? "nothing"}`)
}

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
