// How the sidecar process is started: which program, with what arguments, environment and folder.

import { basename, dirname } from "node:path"
import type { Environment } from "../system/data-folder.ts"
import { AS_BUN, findCommand } from "../system/process.ts"

/** `auto`: the host's own program if it is a Bun, as OpenCode's is; else bun, node or opencode from PATH. */
export type RuntimeChoice = "auto" | "opencode" | "bun" | "node"

export type LaunchSpec = {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

const HERE = {
  /** the host's own program */
  execPath: process.execPath,
  /** whether that program is a Bun: OpenCode's binary is one */
  isBun: process.versions.bun !== undefined,
  platform: process.platform,
  find: findCommand,
}
type Host = typeof HERE

/** The spec that runs `main`, an absolute path, or one sentence that says why there is none and what to do. */
export function launchSpec(
  runtime: RuntimeChoice,
  main: string,
  env: Environment = process.env,
  host: Host = HERE,
): LaunchSpec | { reason: string } {
  const program = chooseProgram(runtime, env, host)
  if ("reason" in program) return program
  return {
    command: program.command,
    // Without node_modules Bun installs missing imports from the network. A damaged installation must fail instead of
    // being completed with whatever the registry has today.
    args: [...(program.isBun ? ["--no-install"] : []), main],
    env: { ...allowed(env, host.platform), ...(program.isBun ? BUN_ENV : {}) },
    // Bun reads .env and the preloads of bunfig.toml from its working directory, which must not be the project's. It
    // ignores preloads in the home folder's bunfig.toml (tested with 1.3.14 and 1.4.5).
    cwd: dirname(main),
  }
}

const BUN_ENV = {
  ...AS_BUN,
  /** no crash reports are sent */
  BUN_ENABLE_CRASH_REPORTING: "0",
}

function chooseProgram(
  runtime: RuntimeChoice,
  env: Environment,
  { execPath, isBun: hostIsBun, find }: Host,
): { command: string; isBun: boolean } | { reason: string } {
  const isHost = runtime === "auto" || (runtime === "opencode" && /^opencode/i.test(basename(execPath)))
  if (hostIsBun && isHost) return { command: execPath, isBun: true }
  for (const name of runtime === "auto" ? ["bun", "node", "opencode"] : [runtime]) {
    const command = find(name, env)
    if (command !== undefined) return { command, isBun: name !== "node" }
  }
  if (runtime === "auto") return { reason: "the sidecar runs on bun or node, and neither is on PATH; install one" }
  const what = `the option digest.runtime is "${runtime}", and no ${runtime} is on PATH`
  return { reason: `${what}; put one there or use "auto"` }
}

/**
 * Variables that the sidecar inherits. An allowlist, because an OpenCode process holds API keys under any name, and the
 * sidecar needs none of them.
 */
const NAMES = new Set([
  "PATH",
  "HOME",
  // the locale; not all of LC_*, which ssh forwards with any content
  ..."LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME".split(" "),
  "TMPDIR",
  // libraries of the GPU driver outside the standard folders (CUDA, NixOS)
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "DYLD_FALLBACK_LIBRARY_PATH",
  // the shader cache, and where the Vulkan loader looks for drivers
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_HOME",
  "XDG_DATA_DIRS",
  // selects one of a laptop's two GPUs
  "DRI_PRIME",
])
/**
 * Device selection and tuning of the GPU interfaces, without credentials: NVIDIA_API_KEY belongs to a provider, VK_TOKEN
 * to a social network.
 */
const PREFIXES = /^(?:CUDA|NVIDIA|GGML|VK|HIP|HSA|ROCR|MESA|__NV)_(?!.*(?:KEY|TOKEN|SECRET|PASS|CRED|AUTH))/i
/** Windows programs need SystemRoot for sockets and random numbers; the others locate drivers and caches. */
const WINDOWS_NAMES = new Set(
  "PATH PATHEXT SystemRoot windir SystemDrive ProgramFiles ProgramData APPDATA LOCALAPPDATA USERPROFILE TEMP TMP"
    .split(" ")
    .map((name) => name.toUpperCase()),
)

function allowed(env: Environment, platform: NodeJS.Platform): Record<string, string> {
  const windows = platform === "win32"
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      const known = windows ? WINDOWS_NAMES.has(name.toUpperCase()) : NAMES.has(name)
      return value !== undefined && (known || PREFIXES.test(name)) ? [[name, value]] : []
    }),
  )
}
