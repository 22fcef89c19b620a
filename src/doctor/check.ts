// What the doctor says of one thing it looked at.

export type Level = "ok" | "warn" | "fail"

export type Check = {
  /** a word: what was looked at */
  name: string
  level: Level
  /** what was found, one sentence */
  found: string
  /** a command or an edit that puts it right; never there when it is `ok` */
  fix?: string
}

export function ok(name: string, found: string): Check {
  return { name, level: "ok", found }
}

export function warn(name: string, found: string, fix: string): Check {
  return { name, level: "warn", found, fix }
}

export function fail(name: string, found: string, fix: string): Check {
  return { name, level: "fail", found, fix }
}

const LEVELS: readonly Level[] = ["ok", "warn", "fail"]

export function worst(checks: readonly Check[]): Level {
  return LEVELS[Math.max(0, ...checks.map(({ level }) => LEVELS.indexOf(level)))] ?? "ok"
}

/** The doctor's exit code. */
export function exitCodeOf(level: Level): number {
  return LEVELS.indexOf(level)
}

/** A path as a shell takes it. */
export function inShell(path: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
