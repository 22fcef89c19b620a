// Writes the generated parts of the docs: options.schema.json, docs/protocol.md, docs/licenses.md, and one table each in
// docs/options.md, docs/hud.md and docs/folding.md. With --check it only reports whether they are up to date.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as z from "zod"
import { PRICING_TABLE, UNKNOWN_PRICING } from "../src/fold/pricing-table.ts"
import { SLOT_TABLE } from "../src/hud/slots.ts"
import { optionsSchema } from "../src/options.ts"
import { MODELS } from "../src/setup/models.ts"
import { bundle } from "./bundle.ts"
import { fill } from "./fill.ts"
import { type Licensed, licensesOf } from "./licenses.ts"
import { wirePage } from "./wire-docs.ts"

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

const schema = {
  title: "Options of opencode-hudfold",
  ...z.toJSONSchema(optionsSchema, { io: "input", target: "draft-07" }),
}
const files: Record<string, string> = {
  "options.schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "docs/options.md": await filled("docs/options.md", { options: optionTable(schema as Property) }),
  "docs/hud.md": await filled("docs/hud.md", { slots: slotTable() }),
  "docs/folding.md": await filled("docs/folding.md", { pricing: pricingTable() }),
  "docs/protocol.md": await wirePage(),
  "docs/licenses.md": await licensesPage(),
}

const isCheck = process.argv[2] === "--check"
if (process.argv.length > (isCheck ? 3 : 2)) {
  process.stderr.write("usage: bun scripts/docs.ts [--check]\n")
  process.exit(2)
}
for (const [name, wanted] of Object.entries(files)) {
  const found = await readFile(path(name), "utf8").catch(() => "")
  if (found === wanted) continue
  if (!isCheck) await writeFile(path(name), wanted)
  else {
    process.stderr.write(`${name} is out of date; run: npm run docs\n`)
    process.exitCode = 1
  }
}

/** The file with the text between the marks of its sections replaced. */
async function filled(file: string, sections: Record<string, string>): Promise<string> {
  const text = await readFile(path(file), "utf8")
  return Object.entries(sections).reduce(
    (text, [name, written]) => fill(file, text, name, "npm run docs", written),
    text,
  )
}

function slotTable(): string {
  const rows = SLOT_TABLE.map((row) => `| ${row.models} | \`${row.slot}\` | ${row.reason} |\n`)
  return `| models | slot | why |\n| --- | --- | --- |\n${rows.join("")}`
}

function pricingTable(): string {
  const rows = [...PRICING_TABLE, UNKNOWN_PRICING].map(({ name, models, figures }) => {
    const { read, write, lifetimeMs, minimumTokens, lookback = "", billing } = figures
    const minutes = lifetimeMs / 60_000
    const kept =
      read >= 1 ? "" : minutes < 60 ? `${minutes} min` : minutes < 60 * 48 ? `${minutes / 60} h` : `${minutes / 1440} d`
    return `| ${name} | ${models} | ${billing} | ${read} | ${write} | ${kept} | ${read >= 1 ? "" : minimumTokens} | ${lookback} |\n`
  })
  const head = "| row | models | billed | read | write | kept | least prefix, tokens | found within, blocks |"
  return `${head}\n| --- | --- | --- | --- | --- | --- | --- | --- |\n${rows.join("")}`
}

function optionTable(property: Property): string {
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
  const kind = type === "integer" ? "whole number" : (type ?? "")
  return minimum === undefined || maximum === undefined ? kind : `${kind}, ${minimum} to ${maximum}`
}

/** docs/licenses.md: the licences of the code in the package, and of the engine and the models that setup installs. */
async function licensesPage(): Promise<string> {
  return `# Licences

<!-- written by \`npm run docs\` from what the bundler puts into the package, sidecar/package-lock.json and the list of models -->

hudfold is under the MIT licence. It depends on no package; these have code in what ships, and \`dist/licenses.txt\` has
the text of their licences.

| package | version | licence |
| --- | --- | --- |
${(await bundledPackages()).map(({ name, version = "", licence, within }) => `| ${name}${within ? `, in ${within}` : ""} | ${version} | ${licence} |\n`).join("")}
## The engine

\`hudfold setup\` installs these from npm's registry, for those who want a local model, with those of the native packages
\`@node-llama-cpp/*\` (MIT, llama.cpp in them) that the machine takes.

| licence | packages |
| --- | --- |
${await engineLicences()}
## The models

A model is fetched from its publisher, under its own licence.

| model | repository | licence |
| --- | --- | --- |
${MODELS.map(({ name, repository, licence }) => `| ${name} | ${repository} | ${licence} |\n`).join("")}`
}

async function bundledPackages(): Promise<Licensed[]> {
  const folder = await mkdtemp(join(tmpdir(), "opencode-hudfold-licenses-"))
  try {
    return await licensesOf(await bundle(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function engineLicences(): Promise<string> {
  const { packages } = JSON.parse(await readFile(path("sidecar/package-lock.json"), "utf8")) as {
    packages: Record<string, { license?: string; optional?: boolean }>
  }
  const byLicence = new Map<string, Set<string>>()
  for (const [path, { license = "none named", optional }] of Object.entries(packages)) {
    // skips the root package and optional packages
    if (path === "" || optional) continue
    const names = byLicence.get(license) ?? new Set()
    byLicence.set(license, names.add(path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)))
  }
  return [...byLicence]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, names]) => `| ${licence} | ${[...names].sort().join(", ")} |\n`)
    .join("")
}
