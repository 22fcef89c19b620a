// How the sidecar process is started, as data: which program, with what arguments, environment and folder. Pure, so that
// a host, a CLI and a test on any platform can be asked what they would do.

import { basename, dirname } from "node:path"

/** `auto`: the host's own program when it is a Bun, as OpenCode's is, else bun, else node. */
export type Runtime = "auto" | "opencode" | "bun" | "node"

export type LaunchSpec = {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

export type LaunchInput = {
  runtime: Runtime
  /** the host's own program, `process.execPath` */
  execPath: string
  /** whether that program is a Bun: OpenCode's binary is one */
  hostIsBun: boolean
  /** the file to run, absolute */
  main: string
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** an absolute path for the name of a command, if there is one on PATH */
  find(name: string): string | undefined
}

/** The spec, or in one sentence why there is none and what to do. */
export function launchSpec(input: LaunchInput): LaunchSpec | { reason: string } {
  const program = chooseProgram(input)
  if ("reason" in program) return program
  return {
    command: program.command,
    // Bun installs what is imported and not there, over the network, when it finds no node_modules. A damaged
    // installation has to fail, not to be filled up with whatever the registry has today.
    args: [...(program.isBun ? ["--no-install"] : []), input.main],
    env: { ...allowed(input.env, input.platform), ...(program.isBun ? BUN_ENV : {}) },
    // Bun runs what a bunfig.toml in its working directory preloads and reads the .env there: not the project's. It
    // reads no preloads from the one in the home folder (tried with 1.3.14 and 1.4.5).
    cwd: dirname(input.main),
  }
}

const BUN_ENV = {
  /** OpenCode's binary is then Bun and nothing else; without effect on Bun itself */
  BUN_BE_BUN: "1",
  /** a native crash stays on this machine */
  BUN_ENABLE_CRASH_REPORTING: "0",
}

function chooseProgram(input: LaunchInput): { command: string; isBun: boolean } | { reason: string } {
  const { runtime, execPath, hostIsBun, find } = input
  const onPath = (name: string, isBun: boolean) => {
    const command = find(name)
    return command === undefined ? undefined : { command, isBun }
  }
  const missing = (name: string) => ({
    reason: `the option digest.runtime is "${name}", and no ${name} is on PATH; put one there or use "auto"`,
  })
  switch (runtime) {
    case "auto":
      if (hostIsBun) return { command: execPath, isBun: true }
      return (
        onPath("bun", true) ??
        onPath("node", false) ??
        onPath("opencode", true) ?? { reason: "the sidecar runs on bun or node, and neither is on PATH; install one" }
      )
    case "opencode":
      if (hostIsBun && /^opencode/i.test(basename(execPath))) return { command: execPath, isBun: true }
      return onPath("opencode", true) ?? missing("opencode")
    case "bun":
      return onPath("bun", true) ?? missing("bun")
    case "node":
      return onPath("node", false) ?? missing("node")
    default:
      throw new Error(`no such runtime: ${runtime satisfies never}`)
  }
}

/**
 * What of the host's environment the sidecar gets. A list of what is allowed and not of what is not: an OpenCode
 * process holds API keys under any name, and a model's process needs none of them.
 */
const NAMES = new Set([
  "PATH",
  "HOME",
  // the locale; not all that begins with LC_, which ssh passes on from wherever, whatever is in it
  ..."LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME".split(" "),
  "TMPDIR",
  // shared libraries of the GPU's driver, where they are in no standard place (CUDA, NixOS)
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "DYLD_FALLBACK_LIBRARY_PATH",
  // compiled shaders are kept in the cache; the Vulkan loader looks for drivers in the others
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_HOME",
  "XDG_DATA_DIRS",
  // which of two GPUs, on a laptop
  "DRI_PRIME",
])
/**
 * Device selection and tuning of the GPU interfaces; and not what is a credential by its name: NVIDIA_API_KEY is the key
 * of a provider, VK_TOKEN that of a social network.
 */
const PREFIXES = /^(?:CUDA|NVIDIA|GGML|VK|HIP|HSA|ROCR|MESA|__NV)_(?!.*(?:KEY|TOKEN|SECRET|PASS|CRED|AUTH))/i
/** Without SystemRoot no Windows program gets a socket or random numbers; drivers and caches lie in the others. */
const WINDOWS_NAMES = new Set(
  "PATH PATHEXT SystemRoot windir SystemDrive ProgramFiles ProgramData APPDATA LOCALAPPDATA USERPROFILE TEMP TMP"
    .split(" ")
    .map((name) => name.toUpperCase()),
)

function allowed(env: LaunchInput["env"], platform: NodeJS.Platform): Record<string, string> {
  const windows = platform === "win32"
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const known = windows ? WINDOWS_NAMES.has(name.toUpperCase()) : NAMES.has(name)
      return value !== undefined && (known || PREFIXES.test(name)) ? [[name, value]] : []
    }),
  )
}
