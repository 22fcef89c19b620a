// The doctor's result for one thing it looked at.

import { inShell } from "../text/format.ts"

export type CheckLevel = "ok" | "warn" | "fail"

export type CheckResult = {
  /** one word: what was looked at */
  name: string
  level: CheckLevel
  /** what was found, one sentence */
  found: string
  /** a command or an edit that fixes it; always absent if `ok` */
  fix?: string | undefined
}

export function ok(name: string, found: string): CheckResult {
  return { name, level: "ok", found }
}

export function warn(name: string, found: string, fix: string): CheckResult {
  return { name, level: "warn", found, fix }
}

export function fail(name: string, found: string, fix: string): CheckResult {
  return { name, level: "fail", found, fix }
}

/** An error's message as a failure: what is wrong and, after a semicolon, what to do; `fix` where it does not say that. */
export function failFrom(message: string, name: string, fix = ""): CheckResult {
  const [found = "", said = fix] = message.split(/; (.*)/s)
  return fail(name, found, said)
}

/** The worst level's index is the exit code. */
export const LEVELS: readonly CheckLevel[] = ["ok", "warn", "fail"]

export function worstLevel(checks: readonly CheckResult[]): CheckLevel {
  return LEVELS.findLast((level) => checks.some((check) => check.level === level)) ?? "ok"
}

export function moveCommand(path: string): string {
  return `mv ${inShell(path)} ${inShell(`${path}.old`)}`
}
