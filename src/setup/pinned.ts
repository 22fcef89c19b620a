// What is installed, to the byte: node-llama-cpp and its dependencies as sidecar/package-lock.json pins them, with the
// native packages one machine needs. npm and bun have no switch for "this optional dependency and not the others"
// (all that fit Linux x64 weigh 670 MB), so the chosen ones become dependencies of their own and the optional ones are left out.

import { createHash } from "node:crypto"
import * as z from "zod/mini"
import shippedManifest from "../../sidecar/package.json" with { type: "json" }
import shippedLock from "../../sidecar/package-lock.json" with { type: "json" }

export const ENGINE = "node-llama-cpp"
const SCOPE = "@node-llama-cpp/"

const manifestSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) })
const lockSchema = z.looseObject({ packages: z.record(z.string(), z.looseObject({})) })
const rootSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) })

export type Pinned = {
  /** version of node-llama-cpp, and of every variant */
  version: string
  /** names of the native packages, without their scope, as `linux-x64` */
  variants: readonly string[]
  /** the installed packages that have to be there, with their versions */
  direct: Readonly<Record<string, string>>
  /** text of package.json */
  manifest: string
  /** text of package-lock.json */
  lock: string
  /** changes whenever anything that is installed changes */
  stamp: string
}

/** The version that is installed. */
export const engineVersion = versionIn(manifestSchema.parse(shippedManifest).dependencies)

/** Throws when the lock does not pin one of the variants with its checksum. */
export function pin(
  variants: readonly string[],
  manifest: unknown = shippedManifest,
  lock: unknown = shippedLock,
): Pinned {
  const packages = { ...lockSchema.parse(lock).packages }
  const { dependencies, ...rest } = manifestSchema.parse(manifest)
  const version = versionIn(dependencies)
  const direct = { ...dependencies }
  for (const variant of variants) {
    const key = `node_modules/${packageName(variant)}`
    const { optional: _, ...entry } = packages[key] ?? {}
    if (entry.version !== version || typeof entry.integrity !== "string") {
      throw new Error(`the lock has no ${packageName(variant)} ${version} with a checksum; expected one at "${key}"`)
    }
    packages[key] = entry
    direct[packageName(variant)] = version
  }
  packages[""] = { ...rootSchema.parse(packages[""]), dependencies: direct }
  const text = JSON.stringify({ ...lockSchema.parse(lock), packages }, null, 2)
  return {
    version,
    variants,
    direct,
    manifest: JSON.stringify({ ...rest, dependencies: direct }, null, 2),
    lock: text,
    stamp: createHash("sha256").update(text).digest("hex"),
  }
}

export function packageName(variant: string): string {
  return `${SCOPE}${variant}`
}

function versionIn(dependencies: Readonly<Record<string, string>>): string {
  const version = dependencies[ENGINE]
  if (version === undefined) throw new Error(`sidecar/package.json does not depend on ${ENGINE}`)
  return version
}
