// When two commands are the same attempt: `cd app && CI=1 npm test 2>&1 | tail -20` is `npm test` again, and a run
// that covers more settles the failures of one that covered less.

import { hasTrait, isViewer, namesWith, type Program } from "./programs.ts"
import { programsOf } from "./shell.ts"

/**
 * A command without the parts that only change where it runs or how its output is shown. If it runs several programs,
 * the last check counts: `npm run format && npm run check` is `npm run check`. For comparison only: quotes are removed.
 */
export function commandKey(command: string): string {
  const programs = programsOf(command)
  const own = programs.filter(
    (program, at) => !hasTrait(program, "setup", "pause") && !(isViewer(program) && programs[at - 1]?.piped),
  )
  const check = own.findLast((program) => isCheck(spelled(program)))
  const counting = check ? [check] : own.length > 0 ? own : programs
  return counting.map(spelled).join(" && ") || command.trim()
}

/** Whether a pipe hides the exit code of a program in the command: `npm test | tail` exits 0 whatever the tests do. */
export function hidesExit(command: string): boolean {
  return programsOf(command).some((program) => program.piped)
}

/** Whether a passing `run` also settles `other`: the same command, or the same with further restrictions. */
export function covers(run: string, other: string): boolean {
  return run === other || other.startsWith(`${run} `)
}

const CHECK_WORDS = [..."test tests check build lint typecheck compile clippy vet".split(" "), ...namesWith("check")]
const CHECK = new RegExp(`(?:^|[\\s/;&|_-])(?:${CHECK_WORDS.join("|").replaceAll("+", "\\+")})(?:$|[\\s:;&|._-])`)

/** Whether a command checks the project: tests, builds, types, lint. Its failures stay open until a run passes. */
export function isCheck(key: string): boolean {
  const name = /^\w*/.exec(key)?.[0] ?? ""
  // the arguments of such a program may well be called `test`
  const looks =
    name === "git" || hasTrait({ name, args: [] }, "file", "search", "list", "shape", "look", "remote", "change")
  return !looks && CHECK.test(key)
}

function spelled({ name, args }: Program): string {
  return [name, ...args].join(" ")
}
