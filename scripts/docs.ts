// Writes what the docs say of the options from the options' schema: options.schema.json and the table in README.md.
// With --check it only says whether they are up to date.

import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as z from "zod"
import { optionsSchema } from "../src/options.ts"

type Property = {
  description?: string
  default?: unknown
  enum?: string[]
  type?: string
  items?: Property
  minimum?: number
  maximum?: number
  properties?: Record<string, Property>
}

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const BEGIN = "<!-- options: written by `npm run docs` -->"
const END = "<!-- /options -->"

const schema = {
  title: "Options of opencode-hud",
  ...z.toJSONSchema(optionsSchema, { io: "input", target: "draft-07" }),
}
const readme = await readFile(path("README.md"), "utf8")
const [before = "", rest = ""] = readme.split(BEGIN)
const [, after = ""] = rest.split(END)
const files: Record<string, string> = {
  "options.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "README.md": `${before}${BEGIN}\n${table(schema as Property)}${END}${after}`,
}

for (const [name, wanted] of Object.entries(files)) {
  const found = await readFile(path(name), "utf8").catch(() => "")
  if (found === wanted) continue
  if (!process.argv.includes("--check")) await writeFile(path(name), wanted)
  else {
    process.stderr.write(`${name} is not what the options' schema says; run: npm run docs\n`)
    process.exitCode = 1
  }
}

function table(property: Property): string {
  return `| option | type | default | what it does |\n| --- | --- | --- | --- |\n${rows(property, "")}`
}

function rows({ properties = {} }: Property, prefix: string): string {
  return Object.entries(properties)
    .filter(([name]) => name !== "$schema")
    .map(([name, property]) => {
      if (property.properties) return rows(property, `${prefix}${name}.`)
      const fallback = property.default === undefined ? "" : `\`${JSON.stringify(property.default)}\``
      const cells = [`\`${prefix}${name}\``, typeOf(property), fallback, property.description ?? ""]
      return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`
    })
    .join("")
}

function typeOf({ enum: values, type, items, minimum, maximum }: Property): string {
  if (values) return values.map((value) => `\`${value}\``).join(", ")
  if (type === "array") return items?.enum ? `list of ${typeOf(items)}` : `list of ${items?.type ?? "values"}s`
  return type === "integer" ? `whole number, ${minimum} to ${maximum}` : (type ?? "")
}
