// Which packages are installed: the native packages of node-llama-cpp that a machine needs, and all versions as
// sidecar/package-lock.json pins them. Pure: decides over a `Machine` that was probed elsewhere.

import { createHash } from "node:crypto"
import shippedManifest from "../../sidecar/package.json" with { type: "json" }
import shippedLock from "../../sidecar/package-lock.json" with { type: "json" }
import type { GpuChoice } from "../engine/wire/messages.ts"
import { isOlder } from "../system/values.ts"
import { SetupError } from "./errors.ts"
import type { Machine } from "./machine.ts"

/** Required by the prebuilt Linux libraries of 3.21.1. */
const MIN_GLIBC = "2.34"

/** By Node's platform and arch, where OpenCode runs. The package for Apple silicon contains both CPU and Metal code. */
const BASE: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
}

/**
 * Sizes in bytes in the registry and on disk: of a native package by its device, and under "" of node-llama-cpp with its
 * dependencies, installed without the sources of llama.cpp. Those of CUDA are of 3.22.1, the others of 3.21.1.
 */
const SIZES: Readonly<Record<string, readonly [fetched: number, installed: number]>> = {
  "": [40e6, 15e6],
  cpu: [10e6, 30e6],
  vulkan: [27e6, 100e6],
  cuda: [143e6, 181e6],
}

/** Throws UNSUPPORTED if there is no prebuilt engine for this machine or for the requested GPU interface. */
export function chooseVariants(machine: Machine, gpu: GpuChoice = "auto") {
  const { platform, arch, libc } = machine
  const base = BASE[`${platform}-${arch}`]
  if (!base) throw unsupported(`for ${platform} on ${arch}`, `expected one of ${Object.keys(BASE).join(", ")}`)
  if (libc?.name === "musl")
    throw unsupported("for musl (Alpine and the like)", "expected a Linux with glibc 2.34 or newer")
  if (libc && isOlder(libc.version, MIN_GLIBC))
    throw unsupported(`for glibc ${libc.version}`, `expected ${MIN_GLIBC} or newer`)
  const { extra, why } = forGpu(machine, base, gpu)
  // If this process is emulated, OpenCode's own binary may or may not be; both packages are small.
  const other = machine.translated ? [platform === "darwin" ? "mac-arm64-metal" : "win-arm64"] : []
  return {
    /** names of the packages without their scope; the first works without a GPU */
    variants: [base, ...other, ...extra],
    /** why a GPU is used or not */
    why,
  }
}

/** Estimated sizes of the download and of the installation. */
export function sizesOf(variants: readonly string[]) {
  const kinds = ["", ...variants.map((variant) => /(?:vulkan|cuda)$/.exec(variant)?.[0] ?? "cpu")]
  const sum = (side: 0 | 1) => kinds.reduce((total, kind) => total + (SIZES[kind]?.[side] ?? 0), 0)
  return { fetchedBytes: sum(0), installedBytes: sum(1) }
}

function forGpu(machine: Machine, base: string, gpu: GpuChoice): { extra: string[]; why: string } {
  const { nvidia, cuda, vulkan, drivers, devices } = machine.gpu
  if (machine.platform === "darwin") {
    const hasMetal = machine.arch === "arm64" || machine.translated
    if (gpu === "cuda" || gpu === "vulkan") throw unsupported(`with ${gpu} for macOS`, "expected auto, metal or off")
    if (gpu === "metal" && !hasMetal) throw unsupported("with Metal for Intel's Macs", "expected auto or off")
    return { extra: [], why: hasMetal ? "Metal comes with it" : "there is no engine for the GPUs of Intel's Macs" }
  }
  if (gpu === "off") return { extra: [], why: "no GPU was requested" }
  if (gpu === "metal") throw unsupported(`with Metal for ${machine.platform}`, "expected auto, cuda, vulkan or off")
  if (machine.arch !== "x64") {
    const what = `for GPUs of ${machine.platform} on ${machine.arch}`
    if (gpu !== "auto") throw unsupported(`${what} (${gpu})`, "expected auto or off")
    return { extra: [], why: `there is no engine ${what}` }
  }
  if (gpu !== "auto") {
    const ready = gpu === "cuda" ? nvidia && cuda : vulkan
    const missing = gpu === "cuda" ? "NVIDIA's driver or CUDA's libraries are missing" : "the Vulkan loader is missing"
    const why = ready ? "requested" : `requested, but ${missing}: it will not be used`
    return { extra: [`${base}-${gpu}`], why }
  }
  if (nvidia && cuda) return { extra: [`${base}-cuda`], why: "NVIDIA with CUDA's libraries" }
  const name = nvidia ? "NVIDIA" : "a GPU"
  if (!vulkan)
    return { extra: [], why: nvidia ? `${name}, but neither CUDA's libraries nor a Vulkan loader` : "no GPU found" }
  // on Windows only GPU drivers install the loader; Linux distributions install it, and all drivers, on any machine
  if (machine.platform === "win32") return { extra: [`${base}-vulkan`], why: `${name} with Vulkan` }
  const real = drivers.filter((driver) => !/^(?:lvp|lavapipe|swrast|.*swiftshader)/.test(driver))
  if (devices.length === 0 || real.length === 0) {
    const missing = devices.length === 0 ? "no GPU device" : "only a software driver"
    return { extra: [], why: `Vulkan is installed, but ${missing}` }
  }
  return { extra: [`${base}-vulkan`], why: `${name} with Vulkan (${real.join(", ")})` }
}

function unsupported(what: string, expected: string): SetupError {
  const instead = 'Digests without a model work everywhere, and so does a local server: digest.backend "openai"'
  return new SetupError("UNSUPPORTED", `there is no prebuilt engine ${what}; ${expected}. ${instead}`)
}

export const ENGINE = "node-llama-cpp"

/** The pinned version of node-llama-cpp. */
export const engineVersion = shippedManifest.dependencies[ENGINE]

type Lock = { packages: Record<string, Record<string, unknown>> }

/**
 * Makes the chosen variants direct dependencies, so that the others, as optional ones, can be omitted: npm and bun cannot
 * install one optional dependency without the others, and all that fit Linux x64 have 670 MB.
 * Throws if the lock does not pin one of the variants with its checksum.
 */
export function pin(variants: readonly string[], manifest = shippedManifest, lock: Lock = shippedLock) {
  const packages = { ...lock.packages }
  const { dependencies, ...rest } = manifest
  const version = dependencies[ENGINE]
  const direct: Record<string, string> = { ...dependencies }
  for (const variant of variants) {
    const key = `node_modules/${variantPackage(variant)}`
    const { optional: _, ...entry } = packages[key] ?? {}
    if (entry.version !== version || typeof entry.integrity !== "string")
      throw new Error(`the lock has no ${variantPackage(variant)} ${version} with a checksum; expected one at "${key}"`)
    packages[key] = entry
    direct[variantPackage(variant)] = version
  }
  packages[""] = { ...packages[""], dependencies: direct }
  const text = JSON.stringify({ ...lock, packages }, null, 2)
  return {
    /** version of node-llama-cpp and of every variant */
    version,
    /** names of the native packages without their scope, such as `linux-x64` */
    variants,
    /** text of package.json */
    manifest: JSON.stringify({ ...rest, dependencies: direct }, null, 2),
    /** text of package-lock.json */
    lock: text,
    /** identifies the installed content */
    stamp: createHash("sha256").update(text).digest("hex"),
  }
}
export type Pinned = ReturnType<typeof pin>

export function variantPackage(variant: string): string {
  return `@node-llama-cpp/${variant}`
}
