// When two commands are the same attempt: `cd app && CI=1 npm test 2>&1 | tail -20` is `npm test` again, and a run
// that covers more settles the failures of one that covered less.

/**
 * A command without what only changes where it runs or how its output is shown. Of a chain that ends in a check the
 * check is what counts: `npm run format && npm run check` is `npm run check`.
 */
export function commandKey(command: string): string {
  const whole = bare(command)
  const steps = whole.split(STEP)
  const check = steps.length > 1 ? steps.map(bare).findLast(isCheck) : undefined
  return check ?? whole
}

/** Between the steps of a chain, outside quotes. */
const STEP = /\s*(?:&&|;)\s*(?=(?:[^"']*(?:"[^"]*"|'[^']*'))*[^"']*$)/

function bare(command: string): string {
  let key = command.replace(/\s+/g, " ").trim()
  for (;;) {
    const less = key
      .replace(/^\(?\s*(?:cd|pushd) (?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*/, "")
      .replace(/^(?:export )?[A-Za-z_][A-Za-z0-9_]*=(?:"[^"]*"|'[^']*'|[^\s;&|]*)\s*(?:(?:&&|;)\s*)?(?=\S)/, "")
      .replace(/^(?:timeout(?: -\S+)* \d+\w?|time|nice|env|sudo) (?=\S)/, "")
      .replace(
        /\s*\|&?\s*(?:tail|head|grep|egrep|rg|sed|awk|tee|less|cat|sort|uniq|wc|cut|tr)\b(?:"[^"]*"|'[^']*'|[^|;&"'])*$/,
        "",
      )
      .replace(/\s*(?:\d?>&\d|&>\s*\S+|\d?>>?\s*\S+)\s*$/, "")
      .replace(/\s*(?:;|&&|\|\|)\s*(?:echo\b[^;&|]*|true)\s*$/, "")
      .trim()
    if (less === key) return key
    key = less
  }
}

/** Whether a passing `run` also settles `other`: the same command, or the same with fewer restrictions. */
export function covers(run: string, other: string): boolean {
  return run === other || other.startsWith(`${run} `)
}

/** Commands that only look; what they look at may well be called `test`. */
const LOOKS =
  /^(?:cat|ls|ll|grep|egrep|rg|ag|find|fd|head|tail|less|sed|awk|echo|wc|tree|stat|file|which|git|gh|cp|mv|rm|mkdir|touch|curl|wget)\b/

/** Whether a command checks the project: tests, builds, types, lint. Their failures stay open until a run passes. */
export function isCheck(key: string): boolean {
  if (LOOKS.test(key)) return false
  return /(?:^|[\s/;&|_-])(?:test|tests|check|build|lint|typecheck|tsc|eslint|biome|ruff|mypy|pyright|pytest|unittest|tox|jest|vitest|mocha|ava|playwright|cypress|rspec|phpunit|ctest|make|ninja|cmake|clippy|vet|gradlew?|mvn|javac|gcc|g\+\+|clang|swiftc?|dotnet|compile)(?:$|[\s:;&|._-])/.test(
    key,
  )
}
