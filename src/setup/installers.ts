// The programs that can install npm packages here: npm, else bun, else OpenCode's own binary, which is a Bun when told
// to be. All three keep to package-lock.json and its checksums, and to the user's registry, proxy and cache settings.

import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { findCommand } from "../engine/find.ts"
import { SetupError } from "./errors.ts"

export type Installer = {
  name: "npm" | "bun" | "opencode"
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

// What the user's settings may not change: it is one private folder, and no package's script is run.
const NPM_ARGS = [
  ...["ci", "--omit=optional", "--ignore-scripts", "--no-bin-links", "--location=project", "--no-global"],
  ...["--no-audit", "--no-fund", "--no-progress", "--no-update-notifier", "--loglevel=error"],
  // npm's own pauses between attempts let an offline machine wait for more than a minute
  ...["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=3000"],
]
const BUN_ARGS = [
  ...["install", "--frozen-lockfile", "--no-save", "--omit=optional", "--ignore-scripts", "--no-progress"],
  // not links to files in Bun's cache, which others of its programs share
  "--backend=copyfile",
]

/**
 * Below the folder that is installed into: the cache of OpenCode's Bun. Somebody who has no Bun need not find 84 MB of one
 * in their home afterwards. The caller removes it.
 */
export const OWN_CACHE = ".bun-cache"

/** Those that are here, in the order to try them. */
export function findInstallers(env: Environment = process.env): Installer[] {
  const found: Installer[] = []
  const npm = findNpm(env)
  if (npm) found.push({ name: "npm", command: npm.command, args: [...npm.args, ...NPM_ARGS], env: {} })
  const addBun = (name: "bun" | "opencode", command: string | undefined) => {
    if (command) found.push({ name, command, args: BUN_ARGS, env: { BUN_BE_BUN: "1" } })
  }
  addBun("bun", findCommand("bun", env))
  addBun("opencode", findCommand("opencode", env))
  if (process.versions.bun && !found.length) addBun("bun", process.execPath)
  return found
}

/** By name: API keys, tokens, passwords, agents that hold keys. By value: an address with a password in it. */
const CREDENTIAL =
  /KEY|TOKEN|SECRET|PASS|CRED|AUTH|COOKIE|PRIVATE|(?:^|_)(?:PAT|PWD|DSN|SID|JWT)(?:_|$)|^AWS_|^OPENCODE_|_(?:URL|URI)$/i
const WITH_PASSWORD = /^[a-z][\w+.-]*:\/\/[^/\s]*:[^/\s]*@/i
/** What an installer's own settings may be, some of them secret: registries, proxies, and what vouches for them. */
const SETTING = /^(?:npm_|BUN_|NODE_|(?:https?|all|no)_proxy$|SSL_CERT_)|^PWD$/i

/**
 * The environment without what is a credential, but for the settings of npm and Bun, the proxies, and what the user's own
 * .npmrc or bunfig.toml names. No package's script is run, so that this is a second line and not the first.
 */
function withoutCredentials(env: Environment): Record<string, string> {
  const named = namedInSettings(env)
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => {
      if (value === undefined) return []
      const isSecret = CREDENTIAL.test(name) || WITH_PASSWORD.test(value)
      return !isSecret || SETTING.test(name) || named.has(name) ? [[name, value]] : []
    }),
  )
}

/** Names that stand as `${NAME}` or `$NAME` in the settings below the home folder. */
function namedInSettings(env: Environment): ReadonlySet<string> {
  const home = env.HOME ?? env.USERPROFILE
  const files = [home, env.XDG_CONFIG_HOME].flatMap((folder) =>
    folder ? [".npmrc", ".bunfig.toml"].map((name) => join(folder, name)) : [],
  )
  const all = [...files, ...[env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ?? []].flat()]
  return new Set(all.flatMap((path) => [...readText(path).matchAll(/\$\{?(\w+)/g)].map(([, name = ""]) => name)))
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function findNpm(env: Environment): { command: string; args: string[] } | undefined {
  if (process.platform !== "win32") {
    const command = findCommand("npm", env)
    return command === undefined ? undefined : { command, args: [] }
  }
  // npm is a .cmd there, which cannot be started without a shell; what it starts lies beside node.
  const node = findCommand("node", env)
  const script = node && join(dirname(node), "node_modules", "npm", "bin", "npm-cli.js")
  return node && script && existsSync(script) ? { command: node, args: [script] } : undefined
}

/**
 * Installs what the package.json and package-lock.json of the folder say. Rejects with a SetupError, or with the
 * signal's reason once the program has ended.
 */
export async function runInstaller(
  { name, command, args, env }: Installer,
  folder: string,
  environment: Environment = process.env,
  signal?: AbortSignal,
): Promise<void> {
  const cache = name === "opencode" ? { BUN_INSTALL_CACHE_DIR: join(folder, OWN_CACHE) } : {}
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...withoutCredentials(environment), ...cache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  })
  let said = ""
  const listen = (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-20_000)
  }
  child.stdout.on("data", listen)
  child.stderr.on("data", listen)
  const stop = () => {
    child.kill("SIGTERM")
    setTimeout(() => child.kill("SIGKILL"), 2_000).unref()
  }
  if (signal?.aborted) stop()
  signal?.addEventListener("abort", stop, { once: true })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", resolve)
    })
    signal?.throwIfAborted()
    if (code !== 0) throw failure(name, said, code)
  } catch (cause) {
    if (cause instanceof SetupError || signal?.aborted) throw cause
    throw new SetupError("INSTALL_FAILED", `${name} could not be started: ${String(cause)}`, { cause })
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}

const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ConnectionRefused|ConnectionClosed|FailedToOpenSocket|DNSResolveFailed|Timeout)\b/
const OUT_OF_ROOM = /\b(?:ENOSPC|EDQUOT|NoSpaceLeft)\b/
const NOT_AS_LOCKED = /\bEINTEGRITY\b|\bIntegrity ?Check/i

function failure(name: string, said: string, code: number | null): SetupError {
  const lines = said.split("\n").map((line) => line.trim())
  const unlabelled = (line: string) => line.replace(/^(?:npm )?err(?:or)?[!:]? /i, "")
  const told = (pattern: RegExp) => {
    const line = lines.find((one) => pattern.test(one))
    return line && unlabelled(line)
  }
  const room = told(OUT_OF_ROOM)
  if (room)
    return new SetupError("DISK_FULL", `no room left while ${name} installed (${room}); free some and run it again`)
  const wrong = told(NOT_AS_LOCKED)
  if (wrong) {
    const what = `the registry sent a package that is not the one pinned by its checksum (${wrong})`
    return new SetupError("CHECKSUM", `${what}; nothing was installed. Clear ${name}'s cache or use another registry`)
  }
  const unreachable = told(UNREACHABLE)
  if (unreachable) {
    const what = `${name} could not reach the package registry (${unreachable})`
    return new SetupError("OFFLINE", `${what}; check the network, the proxy and the registry in your npm settings`)
  }
  const errors = lines.filter((line) => /\berr(?:or)?\b/i.test(line)).slice(0, 2)
  const words = (errors.length ? errors : lines.filter(Boolean).slice(-2)).map(unlabelled).join(", ")
  return new SetupError("INSTALL_FAILED", `${name} ended with exit code ${code}: ${words || "it said nothing"}`)
}
