// Which programs of a command with checks have failed and which have passed: of `npm test; npm run lint` that shows a failing
// test and exits 0, the tests have failed, and lint has passed.

import type { CheckPart } from "./commands.ts"
import type { Outcome } from "./verdict.ts"

/** `isSilenced`: the command throws away what one of its programs prints. */
type Told = { exit: number | undefined; ok: boolean; outcome: Outcome; isSilenced: boolean }

/**
 * `open`: the parts that failed, or all that may have failed where the output does not tell which; if it is not known whether the
 * command failed, all its checks. `beside`: the other checks that failed beside tests. `passed`: the checks that passed, even if
 * another one failed. `unseen`: those that ran and of which no failure is shown.
 */
export function judgeParts(parts: readonly CheckPart[], { exit, ok, outcome, isSilenced }: Told) {
  const checks = parts.filter((one) => one.isCheck)
  if (outcome.failure) {
    const open = failedIn(parts, exit, outcome)
    const others = outcome.both ? failedIn(parts, exit === 0 ? exit : undefined, { ...outcome, tests: "pass" }) : []
    const ran = checks.filter((one) => !open.includes(one) && !open.some((failed) => needs(parts, one, failed)))
    const beside = ran.filter((one) => others.includes(one))
    const failed = [...open, ...beside]
    const areOnly = outcome.tests === "pass" && parts.filter(({ isTests }) => isTests).length === 1
    const hasPassed = (one: CheckPart) =>
      failed.some((other) => needs(parts, other, one)) || (areOnly && one.isTests) || (exit === 0 && !one.hidesExit)
    const passed = checks.filter((one) => !failed.includes(one) && hasPassed(one))
    // where no tests are seen, the failure may be of each that ran
    const unseen = outcome.tests ? ran.filter((one) => !beside.includes(one) && !one.isOptional) : []
    return { open, beside, passed, unseen }
  }
  const ranNothing = outcome.report !== undefined && outcome.verdict === undefined
  // a check whose exit code is hidden, and that shows no failure, passes with what the command reports
  const isSeen = outcome.report !== undefined && !isSilenced
  const isKnown = (one: CheckPart) => !one.hidesExit || isSeen || (ok && one === checks.at(-1))
  const passed = checks.filter((one) => (ok || (ranNothing && !one.isTests)) && !one.isOptional && isKnown(one))
  return { open: ok ? [] : checks, beside: [], passed, unseen: checks }
}

/** Whether a part runs only if another one has passed, as with `&&`. */
function needs(parts: readonly CheckPart[], one: CheckPart, other: CheckPart): boolean {
  return one.group === other.group && !other.isPiped && parts.indexOf(other) < parts.indexOf(one)
}

function failedIn(parts: readonly CheckPart[], exit: number | undefined, { report, tests }: Outcome) {
  const last = parts.at(-1)?.group
  // each keeps the parts that may have failed, the surest first; one that would keep none is skipped
  const evidence: (false | ((part: CheckPart) => boolean))[] = [
    // `npm error` may be of `npm ci`
    report !== undefined && !report.vague && ((one) => one.isCheck),
    tests === "fail" && ((one) => one.isTests),
    exit === 0 && ((one) => one.hidesExit),
    Boolean(exit) && ((one) => one.group === last && !one.isPiped),
    // what stands before tests that ran has passed
    tests === "pass" && ((one) => !parts.some((next) => next.isTests && needs(parts, next, one))),
    tests === "pass" && ((one) => !one.isTests),
  ]
  return evidence.reduce<readonly CheckPart[]>((left, mayHaveFailed) => {
    const kept = mayHaveFailed ? left.filter(mayHaveFailed) : left
    return kept.length > 0 ? kept : left
  }, parts)
}
