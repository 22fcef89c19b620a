// A lock file of npm as the tests read it: what is pinned, and from where in the tree a package finds another.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

export type Manifest = {
  name: string
  version: string
  license?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  overrides?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

export type Pin = Manifest & {
  integrity?: string
  resolved?: string
  link?: boolean
  optional?: boolean
  hasInstallScript?: boolean
  os?: string[]
  cpu?: string[]
  engines?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export type Lock = {
  manifest: Manifest
  /** the lock's copy of the manifest */
  own: Pin
  /** by path, as `node_modules/a/node_modules/b` */
  pins: ReadonlyMap<string, Pin>
}

/** Of the package in a folder of the repository, as `sidecar`. */
export function readLock(folder: string): Lock {
  const read = (name: string) => JSON.parse(readFileSync(join(root, folder, name), "utf8")) as unknown
  const { packages } = read("package-lock.json") as { packages: Record<string, Pin> }
  const { "": own, ...pins } = packages
  return { manifest: read("package.json") as Manifest, own: own as Pin, pins: new Map(Object.entries(pins)) }
}

/** Of a path in node_modules. */
export const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

/** Where the package at `from` finds another by name: in its own node_modules, else further up. */
export function find({ pins }: Lock, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const path = `${at ? `${at}/` : ""}node_modules/${name}`
    if (pins.has(path)) return path
    if (!at) return undefined
  }
}
