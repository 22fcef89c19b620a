// Which of node-llama-cpp's native packages a machine needs. A decision over what was found, so that every kind of machine
// is a row of a table; nothing here looks at the machine itself.

import type { GpuChoice } from "../engine/wire/messages.ts"
import { SetupError } from "./errors.ts"
import type { Machine } from "./machine.ts"

export type Choice = {
  /** names of the packages without their scope; the first works without a GPU */
  variants: string[]
  /** what speaks for or against a GPU, in words */
  why: string
}

/** The newest symbol the prebuilt Linux libraries of 3.21.1 ask for. */
const OLDEST_GLIBC = [2, 34] as const

/** By `platform-arch` of Node. Those of macOS on Apple's own processors hold both the processor's and Metal's code. */
const BASE: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "linux-arm": "linux-armv7l",
  "linux-riscv64": "linux-riscv64",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
}

/** Bytes fetched and bytes on disk, as the registry has 3.21.1; CUDA's are those of 3.22.1. */
const SIZES: Readonly<Record<string, readonly [fetched: number, installed: number]>> = {
  // node-llama-cpp and its dependencies, without the sources of llama.cpp once installed
  "": [40e6, 15e6],
  "linux-x64": [10.6e6, 29.6e6],
  "linux-x64-vulkan": [27.5e6, 84.5e6],
  "linux-x64-cuda": [143e6, 181e6],
  "linux-arm64": [7.2e6, 19.6e6],
  "linux-armv7l": [4.3e6, 12.6e6],
  "linux-riscv64": [4.8e6, 11.5e6],
  "mac-arm64-metal": [4.9e6, 14.7e6],
  "mac-x64": [10.8e6, 30e6],
  "win-x64": [9.8e6, 48.6e6],
  "win-x64-vulkan": [26.6e6, 103.4e6],
  "win-x64-cuda": [143e6, 181e6],
  "win-arm64": [4.6e6, 22.5e6],
}

/** Throws UNSUPPORTED where there is no prebuilt engine, or not with the GPU that was asked for. */
export function chooseVariants(machine: Machine, gpu: GpuChoice = "auto"): Choice {
  const { platform, arch, libc } = machine
  const base = BASE[`${platform}-${arch}`]
  if (!base) throw unsupported(`for ${platform} on ${arch}`, `expected one of ${Object.keys(BASE).join(", ")}`)
  if (libc?.name === "musl")
    throw unsupported("for musl (Alpine and the like)", "expected a Linux with glibc 2.34 or newer")
  if (libc && isOlder(libc.version, OLDEST_GLIBC)) {
    throw unsupported(`for glibc ${libc.version}`, `expected ${OLDEST_GLIBC.join(".")} or newer`)
  }
  const { extra, why } = forGpu(machine, base, gpu)
  // A program for Intel on an ARM machine is translated. Which of the two OpenCode's own binary is cannot be seen from
  // here, and both packages are small.
  const other = machine.translated ? [platform === "darwin" ? "mac-arm64-metal" : "win-arm64"] : []
  return { variants: [base, ...other, ...extra], why }
}

/** Estimates, in bytes: what is fetched, and what is there once it is installed. */
export function sizesOf(variants: readonly string[]): { fetchedBytes: number; installedBytes: number } {
  const rows = ["", ...variants].map((variant) => SIZES[variant] ?? [0, 0])
  return {
    fetchedBytes: rows.reduce((total, [fetched]) => total + (fetched ?? 0), 0),
    installedBytes: rows.reduce((total, [, installed]) => total + (installed ?? 0), 0),
  }
}

function forGpu(machine: Machine, base: string, gpu: GpuChoice): { extra: string[]; why: string } {
  const { nvidia, cuda, vulkan, drivers, devices } = machine.gpu
  if (machine.platform === "darwin") {
    const hasMetal = machine.arch === "arm64" || machine.translated
    if (gpu === "cuda" || gpu === "vulkan") throw unsupported(`with ${gpu} for macOS`, "expected auto, metal or off")
    if (gpu === "metal" && !hasMetal) throw unsupported("with Metal for Intel's Macs", "expected auto or off")
    return { extra: [], why: hasMetal ? "Metal comes with it" : "there is no engine for the GPUs of Intel's Macs" }
  }
  if (gpu === "off") return { extra: [], why: "no GPU was asked for" }
  if (gpu === "metal") throw unsupported(`with Metal for ${machine.platform}`, "expected auto, cuda, vulkan or off")
  if (machine.arch !== "x64") {
    const what = `for GPUs of ${machine.platform} on ${machine.arch}`
    if (gpu !== "auto") throw unsupported(`${what} (${gpu})`, "expected auto or off")
    return { extra: [], why: `there is no engine ${what}` }
  }
  if (gpu !== "auto") {
    const ready = gpu === "cuda" ? nvidia !== undefined && cuda : vulkan
    const lacks =
      gpu === "cuda" ? "NVIDIA's driver and CUDA's libraries are not all here" : "there is no Vulkan loader here"
    const why = ready ? "asked for" : `asked for, but ${lacks}: it will not be used`
    return { extra: [`${base}-${gpu}`], why }
  }
  if (nvidia && cuda) return { extra: [`${base}-cuda`], why: `${nvidia} with CUDA's libraries` }
  const name = nvidia ?? "a GPU"
  if (!vulkan)
    return { extra: [], why: nvidia ? `${name}, but neither CUDA's libraries nor a Vulkan loader` : "no GPU found" }
  // Windows has the loader only from a GPU's driver; Linux distributions install it, and drivers for every maker, anywhere.
  if (machine.platform === "win32") return { extra: [`${base}-vulkan`], why: `${name} with Vulkan` }
  const real = drivers.filter((driver) => !/^(?:lvp|lavapipe|swrast|.*swiftshader)/.test(driver))
  if (devices.length === 0 || real.length === 0) {
    const missing = devices.length === 0 ? "no GPU device" : "only a software driver"
    return { extra: [], why: `Vulkan is there, but ${missing}` }
  }
  return { extra: [`${base}-vulkan`], why: `${name} with Vulkan (${real.join(", ")})` }
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split(".").map(Number)
  return a < major || (a === major && b < minor)
}

function unsupported(what: string, expected: string): SetupError {
  const instead = 'digests without a model work everywhere, and so does a local server: digest.backend "openai"'
  return new SetupError("UNSUPPORTED", `there is no prebuilt engine ${what}; ${expected}. ${instead}`)
}
