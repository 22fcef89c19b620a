// docs/licenses.md: whose code a user gets, in the package and where setup installs the engine and a model, and under what.

import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { MODELS } from "../src/setup/models.ts"
import { bundle } from "./bundle.ts"
import { type Licensed, licensesOf } from "./licenses.ts"

const SIDECAR_LOCK = fileURLToPath(new URL("../sidecar/package-lock.json", import.meta.url))

export async function licensesPage(): Promise<string> {
  return `# Licences

<!-- written by \`npm run docs\` from what the bundler puts into the package, sidecar/package-lock.json and the list of models -->

hudfold is under the MIT licence. It depends on no package; these have code in what ships, and \`dist/licenses.txt\` has
the text of their licences.

| package | version | licence | in |
| --- | --- | --- | --- |
${(await bundled()).map(({ name, version = "", licence, within = "" }) => `| ${name} | ${version} | ${licence} | ${within} |\n`).join("")}
## The engine

\`hudfold setup\` installs these from npm's registry, for those who want a local model, with those of the native packages
\`@node-llama-cpp/*\` (MIT, llama.cpp in them) that the machine takes.

| licence | packages |
| --- | --- |
${await engine()}
## The models

A model is fetched from its publisher, under its own licence.

| model | repository | licence |
| --- | --- | --- |
${MODELS.map(({ name, repository, licence }) => `| ${name} | ${repository} | ${licence} |\n`).join("")}`
}

async function bundled(): Promise<Licensed[]> {
  const folder = await mkdtemp(join(tmpdir(), "opencode-hudfold-licenses-"))
  try {
    return await licensesOf(await bundle(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function engine(): Promise<string> {
  const { packages } = JSON.parse(await readFile(SIDECAR_LOCK, "utf8")) as {
    packages: Record<string, { license?: string; optional?: boolean }>
  }
  const byLicence = new Map<string, Set<string>>()
  for (const [path, { license = "none named", optional }] of Object.entries(packages)) {
    // the lock's copy of our own manifest, and what the machine may leave out
    if (path === "" || optional) continue
    const names = byLicence.get(license) ?? new Set()
    byLicence.set(license, names.add(path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)))
  }
  return [...byLicence]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, names]) => `| ${licence} | ${[...names].sort().join(", ")} |\n`)
    .join("")
}
