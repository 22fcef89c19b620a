// From the text a model answered to a value of the form it was asked for: parse, repair, check, drop. For engines without
// a grammar, and for answers that were cut off in spite of one. Used on both sides of the wire.

import { readPartialJson } from "./partial-json.ts"

/** `structured` is null when the answer is not of the form asked for, which `schemaOk` says in other words. */
export type Answer = { structured: unknown; schemaOk: boolean }

type Schema = Readonly<Record<string, unknown>>

/** An answer is a few hundred characters; what stands beyond this is never looked at. */
const LONGEST = 20_000
const MOST_PLACES = 50

/**
 * Never throws. Finds the object in code fences or prose, closes one that was cut off at its last complete element, and
 * fits it to the schema: unknown properties, list items that do not fit and items too many are dropped, strings too long
 * are cut, a missing list that may be empty is empty. What is still missing then makes it no answer.
 *
 * Of JSON Schema it knows: `object` with `properties` and `required`; `array` with `items`, `minItems`, `maxItems`;
 * `string` with `maxLength` in characters; `integer` and `number` with `minimum`, `maximum`; `boolean`; `enum` of scalars.
 */
export function readAnswer(text: string, schema: Schema): Answer {
  const looked = text.slice(0, LONGEST)
  const opening = schema.type === "array" ? "[" : "{"
  let at = looked.indexOf(opening)
  for (let tries = 0; at >= 0 && tries < MOST_PLACES; tries++) {
    const found = readPartialJson(looked, at)
    const structured = found && !isEmptyRest(found) ? fit(found.value, schema) : undefined
    if (structured !== undefined) return { structured, schemaOk: true }
    // prose may hold brackets of its own, and a quotation mark after one would swallow the answer
    at = looked.indexOf(opening, at + 1)
  }
  return { structured: null, schemaOk: false }
}

/** A bracket of the prose around, not an answer without content. */
function isEmptyRest({ value, whole }: { value: unknown; whole: boolean }): boolean {
  return !whole && Object.keys(value as object).length === 0
}

/** The value as far as it fits, `undefined` when it does not. */
function fit(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return
  if (Array.isArray(schema.enum)) return schema.enum.includes(value) ? value : undefined
  switch (schema.type) {
    case "object":
      return isObject(value) ? fitObject(value, schema) : undefined
    case "array":
      return Array.isArray(value) ? fitArray(value, schema) : undefined
    case "string":
      return typeof value === "string" ? clip(value, limit(schema.maxLength, Number.POSITIVE_INFINITY)) : undefined
    case "integer":
      return Number.isInteger(value) && inRange(value as number, schema) ? value : undefined
    case "number":
      return typeof value === "number" && inRange(value, schema) ? value : undefined
    case "boolean":
      return typeof value === "boolean" ? value : undefined
  }
}

function fitObject(value: Schema, schema: Schema): unknown {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  const entries: [string, unknown][] = []
  for (const [name, one] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? fit(value[name], one) : undefined
    if (given !== undefined) entries.push([name, given])
    else if (required.includes(name)) {
      if (!mayBeEmpty(one)) return
      entries.push([name, []])
    }
  }
  return Object.fromEntries(entries)
}

function fitArray(value: readonly unknown[], schema: Schema): unknown {
  const items = value.map((item) => fit(item, schema.items)).filter((item) => item !== undefined)
  const most = limit(schema.maxItems, Number.POSITIVE_INFINITY)
  return Math.min(items.length, most) < limit(schema.minItems, 0) ? undefined : items.slice(0, most)
}

const mayBeEmpty = (schema: unknown) => isObject(schema) && schema.type === "array" && limit(schema.minItems, 0) === 0

const inRange = (value: number, { minimum, maximum }: Schema) =>
  value >= limit(minimum, Number.NEGATIVE_INFINITY) && value <= limit(maximum, Number.POSITIVE_INFINITY)

const limit = (given: unknown, otherwise: number) => (typeof given === "number" ? given : otherwise)

/** By characters, as a grammar counts them, so that no surrogate pair is split. */
const clip = (text: string, most: number) => (text.length <= most ? text : [...text].slice(0, most).join(""))

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
