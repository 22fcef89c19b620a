// When two commands are the same attempt: `cd app && CI=1 npm test 2>&1 | tail -20` is `npm test` again, and a run
// that covers more settles the failures of one that covered less.

import { isViewer, type Program, programsOf } from "./shell.ts"

/**
 * A command without what only changes where it runs or how its output is shown. Of several programs the last check is
 * what counts: `npm run format && npm run check` is `npm run check`. Quotes are gone; it is to be read, not run.
 */
export function commandKey(command: string): string {
  const programs = programsOf(command)
  const own = programs.filter((program, i) => !isAside(program) && !(isViewer(program) && programs[i - 1]?.piped))
  const check = own.findLast((program) => isCheck(textOf(program)))
  const counting = check ? [check] : own.length ? own : programs
  return counting.map(textOf).join(" && ") || command.trim()
}

/** Whether a pipe hides the exit code of a program in the command: `npm test | tail` exits 0 whatever the tests do. */
export function hidesExit(command: string): boolean {
  return programsOf(command).some((program) => program.piped)
}

/** Whether a passing `run` also settles `other`: the same command, or the same with fewer restrictions. */
export function covers(run: string, other: string): boolean {
  return run === other || other.startsWith(`${run} `)
}

/** Commands that only look; what they look at may well be called `test`. */
const LOOKS =
  /^(?:cat|ls|ll|grep|egrep|rg|ag|find|fd|head|tail|less|sed|awk|echo|wc|tree|stat|file|which|git|gh|cp|mv|rm|mkdir|touch|curl|wget)\b/
const CHECKS =
  /(?:^|[\s/;&|_-])(?:test|tests|check|build|lint|typecheck|tsc|eslint|biome|ruff|mypy|pyright|pytest|unittest|tox|jest|vitest|mocha|ava|playwright|cypress|rspec|phpunit|ctest|make|ninja|cmake|clippy|vet|gradlew?|mvn|javac|gcc|g\+\+|clang|swiftc?|dotnet|compile)(?:$|[\s:;&|._-])/

/** Whether a command checks the project: tests, builds, types, lint. Their failures stay open until a run passes. */
export function isCheck(key: string): boolean {
  return !LOOKS.test(key) && CHECKS.test(key)
}

/** Programs that set the stage for the others. */
function isAside({ name }: Program): boolean {
  return /^(?:cd|pushd|popd|export|set|source|\.|echo|printf|true|sleep|wait)$/.test(name)
}

function textOf({ name, args }: Program): string {
  return [name, ...args].join(" ")
}
