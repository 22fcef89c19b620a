// The programs around the plugin: OpenCode itself, and the runtime of this command.

import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findCommand } from "../engine/launch.ts"
import type { Environment } from "../system/data-folder.ts"
import { hasSqlite } from "../system/sqlite.ts"
import { type CheckResult, fail, ok } from "./check.ts"

const PATIENCE_MS = 15_000
const UPGRADE = "upgrade it: opencode upgrade"

/** `needs` is the manifest's `engines.opencode`, such as `>=1.18.0`. `version` is undefined if unknown. */
export async function checkOpencode(
  env: Environment,
  needs: string,
  signal: AbortSignal,
): Promise<{ check: CheckResult; version?: string }> {
  const command = findCommand("opencode", env)
  if (command === undefined) {
    const install = "install it (https://opencode.ai) or put it on PATH"
    return { check: fail("opencode", "opencode is not on PATH", install) }
  }
  let said: string
  try {
    said = (await promisify(execFile)(command, ["--version"], { env, timeout: PATIENCE_MS, signal })).stdout.trim()
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)
    return { check: fail("opencode", `${command} --version failed (${why})`, "reinstall OpenCode") }
  }
  const version = /\d+\.\d+\.\d+\S*/.exec(said)?.[0]
  if (version === undefined) {
    const found = `${command} --version prints ${JSON.stringify(said.slice(0, 60))}, which is not a version`
    return { check: fail("opencode", found, "put OpenCode's own program first on PATH") }
  }
  // the version of a development build, which OpenCode does not compare with a plugin's requirements either
  if (version.startsWith("0.0.0"))
    return { check: ok("opencode", `${version}, a development build, in ${command}`), version }
  if (isOlder(version, needs)) {
    return { check: fail("opencode", `version ${version} in ${command}; the plugin needs ${needs}`, UPGRADE), version }
  }
  return { check: ok("opencode", `version ${version} in ${command}`), version }
}

/** Compares only the three numbers. */
function isOlder(version: string, needs: string): boolean {
  const [have = "", want = ""] = [version, needs].map((text) => /\d+\.\d+\.\d+/.exec(text)?.[0])
  return have.localeCompare(want, "en", { numeric: true }) < 0
}

/** The runtime of this command, and the program that reads databases for it. */
export function checkRuntime(env: Environment): CheckResult {
  const { bun, node } = process.versions
  if (bun) return ok("runtime", `Bun ${bun}, which has SQLite`)
  if (hasSqlite()) return ok("runtime", `Node ${node}, which has SQLite`)
  const other = findCommand("bun", env) ?? findCommand("opencode", env)
  const reads = other === undefined ? "no Bun on PATH, so databases are not read" : `databases are read by ${other}`
  return ok("runtime", `Node ${node}; ${reads}`)
}
