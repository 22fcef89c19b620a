// Turns a tool part into a tool event: one small, bounded record per tool part, the same for all tools and OpenCode versions. It
// holds no reference to a part or an output, so that a session's outputs can be garbage-collected. Also the events' labels.

import { failureOf } from "../output/checks/report.ts"
import { announcedChecks, attemptOf, type CheckPart, isMistyped } from "../output/commands.ts"
import type { DigestSource } from "../output/digest.ts"
import { judgeParts } from "../output/parts.ts"
import { showsOf } from "../output/shows.ts"
import { isRunner } from "../output/tools.ts"
import { ABORTED, isOpen, type Outcome, runsOn, verdictOf } from "../output/verdict.ts"
import { asString, defined, lazy } from "../system/values.ts"
import { mentionsSecrets, redact, redactLine } from "../text/redact/redact.ts"
import { cut, cutMiddle, own, wellFormed } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { canonical, filesUsed, folderOf, type Place, summarize } from "./arguments.ts"
import type { ToolPart } from "./conversation.ts"
import { redactArguments, redactOutput, showsSecrets, sourceOf } from "./source.ts"

/** What the pure rooms need from outside. */
export type Env = {
  /** a content hash, hex, for which no tool output can be crafted to collide */
  hash(text: string): string
  /** the digest of an output; `key` is equal for equal sources */
  digest(key: string, source: DigestSource): string
  /** the project's folder, for short paths; a message's own root takes precedence */
  root?: string | undefined
}

/** What a file counts for: Claude takes at most about 1,600 tokens for an image, and nearly as many for a screenshot. */
export const FILE_CHARS = 6_000
const MAX_TOOL_CHARS = 60
const MAX_FAILURE_CHARS = 160
const MAX_ATTEMPT_CHARS = 200
const MAX_LABEL_CHARS = 100
/** How much of an error is read, from its beginning. */
const MAX_ERROR_CHARS = 16 * 1024
/** How much of a failed output is searched for the failure, from its end. */
const MAX_FAILED_CHARS = 64 * 1024
/** Longest output whose paths are shortened before it is judged. */
const MAX_SHORTENED_CHARS = 200_000

export type ToolEvent = ReturnType<typeof toolEventOf>

/** The tool event of a call. Throws if its arguments nest too deeply, or another plugin left a getter in it that throws. */
export function toolEventOf(part: ToolPart, place: Place, env: Env) {
  const { tool, status, endMs, removed } = part
  const source = sourceOf(part)
  const { kind, input, output, failed } = source
  const done = status === "completed" || status === "error"
  const clean = lazy(() => redactArguments(source))
  const error = failed ? errorOf(part, source, clean) : undefined
  const summary = summarize(kind, input, place, clean)
  const run: Run =
    kind === "command" ? runOf(source, done, error, place) : { ...NO_COMMAND, ...callOf(source, done, error, place) }
  const { key, failure, beside } = run
  const attempt = key ? redactLine(key) : `${redactLine(tool)} ${summary}`.trimEnd()
  const inputHash = env.hash(`${tool}\n${canonical(kind, input)}`)
  const outputHash = done && !removed ? env.hash(wellFormed(part.output)) : undefined
  const files = done && !failed ? filesUsed(kind, part, place) : []
  return {
    callID: part.callID,
    partID: part.id,
    messageID: place.messageID,
    /** the tool's name as the model called it */
    tool: short(tool, MAX_TOOL_CHARS),
    kind,
    status,
    /** a short summary of the arguments, one line, redacted */
    summary: own(summary),
    /** what is attempted, or of it what may have failed, reduced to its essentials: equal for retries of the same thing, at most 200 characters */
    attempt: own(cut(attempt, MAX_ATTEMPT_CHARS)),
    /** the attempt of what failed beside tests that failed, and what it said */
    beside: beside && {
      attempt: short(beside.key, MAX_ATTEMPT_CHARS),
      failure: short(beside.failure, MAX_FAILURE_CHARS),
    },
    /** it checked the project: its failure stays open until a run passes. False if it was rejected, aborted or mistyped, or still runs */
    isCheck: run.isCheck,
    /** what the output shows, finer than `kind` */
    shows: showsOf(tool, kind, files, asString(input.command) ?? ""),
    /** hash of the tool and its canonical arguments: equal for equal calls */
    inputHash,
    /** estimated size of the output or error text */
    outputTokens: tokensOfLength(output.length),
    /** the same of the files in its result, which stay when the output alone is folded */
    fileTokens: tokensOfLength(FILE_CHARS * (part.attached?.length ?? 0)),
    /** whether the call is known to have succeeded; unknown if the command hides the exit code */
    ok: run.ok,
    /** it was a test run in which no test ran */
    ranNothing: run.ranNothing,
    /** the attempts of each of the command's checks that is known to have passed, also where another one failed */
    passed: run.passed.map((key) => short(key, MAX_ATTEMPT_CHARS)),
    /** the attempts of those that ran and of which no failure is shown */
    unseen: run.unseen.map((key) => short(key, MAX_ATTEMPT_CHARS)),
    files,
    /** the model gets a placeholder instead of the output, from OpenCode's pruning or another plugin */
    cleared: removed || part.clearedMs !== undefined,
    ...defined({
      /** hash of the output or error text; absent while the call runs */
      outputHash,
      /** the error the tool ended in, one line, redacted, at most 160 characters; empty when it ended without a message */
      error: error === undefined ? undefined : short(error, MAX_FAILURE_CHARS),
      /** what went wrong, by the output of a command or else by the error; in the same form, never empty */
      failure: failure ? short(failure, MAX_FAILURE_CHARS) : undefined,
      /** epoch ms, by the host's clock */
      endedMs: endMs,
    }),
  }
}

/** The beginning of the error that a call ended in; `clean` gives its arguments without secrets. */
function errorOf({ metadata }: ToolPart, source: DigestSource, clean: () => DigestSource["input"]): string {
  // what an interrupted call had printed is sent as its result, and does not say why it failed
  if (metadata.interrupted === true && typeof metadata.output === "string") return "interrupted"
  // what is written to a file is long, and no error repeats it
  const isWritten = /^(?:edit|write|patch|task|todo)$/.test(source.kind) && !showsSecrets(source)
  const begun = { ...source, output: source.output.slice(0, MAX_ERROR_CHARS) }
  return isWritten ? begun.output : redactOutput(begun, clean())
}

type Run = ReturnType<typeof runOf>

/** Of a call that ran no command. */
const NO_COMMAND = { key: "", beside: undefined, isCheck: false, ranNothing: false, passed: [], unseen: [] }

/** How a call went that ran no command, by the error that it ended in, or what a runner says of tests and builds. */
function callOf(source: DigestSource, done: boolean, error: string | undefined, { root }: Place) {
  // in a terminal that still runs, what failed may have passed since
  const isRun = done && source.kind === "other" && isRunner(source.tool, source.input) && !isOpen(source)
  const shown = isRun ? withoutRoot(source.output, root) : ""
  const outcome = isRun ? verdictOf({ ...source, output: shown }) : {}
  const ranNothing = outcome.report !== undefined && outcome.verdict === undefined
  const ok = done && !(source.failed || source.exit || outcome.failure || ranNothing || runsOn(source))
  const { failure: told } = outcome.failure === undefined ? outcome : judgedWithoutSecrets(source, shown, outcome)
  // a test may print a secret that it was given
  const failure = told === undefined ? error : redactOutput({ ...source, output: told }, redactArguments(source))
  return { ok, failure, isCheck: outcome.report !== undefined && !ranNothing, ranNothing }
}

/** How a command went, by its output, or else by the error that the call ended in. */
function runOf(source: DigestSource, done: boolean, error: string | undefined, { root, cwd }: Place) {
  const { input, output, exit, failed } = source
  const command = asString(input.command) ?? ""
  const attempted = attemptOf(redact(command), cwd, folderOf(input))
  // a command that was cut short has no exit code, but its output may still show how it went
  const shown = withoutRoot(output, root)
  const outcome = done ? verdictOf({ ...source, output: shown }) : {}
  const told = outcome.failure ? judgedWithoutSecrets(source, shown, outcome) : { failure: error }
  const isRun = outcome.verdict === "fail" || !(failed || runsOn(source))
  const isStated = outcome.verdict === "pass" || !(attempted.hidesExit || outcome.report)
  const ok = done && isRun && !outcome.failure && isStated
  const parts = isRun ? attempted.parts : []
  const judged = judgeParts(parts, { exit, ok, outcome, isSilenced: command.includes("/dev/null") })
  const { open, beside, passed, unseen } = judged
  const [failure, other] = saidOf(told, parts, judged)
  const keysOf = (checks: typeof open) => checks.map(({ key }) => key)
  const keyOf = (checks: typeof open) => keysOf(checks).join(" && ")
  const isCheck = attempted.isCheck && (open.length === 0 || open.some((one) => one.isCheck))
  // what a test said may read like the complaint of a program about its options
  const wasMistyped = !outcome.report?.failures.length && isMistyped(command, told.failure ?? "")
  return {
    failure,
    /** the checks that failed beside tests that failed, and what they said */
    beside: other === undefined ? undefined : { key: keyOf(beside), failure: other },
    ok,
    /** what may have failed, or all that was attempted; empty where there is no command */
    key: keyOf(open) || attempted.key,
    isCheck: isCheck && isRun && failure !== ABORTED && !wasMistyped,
    ranNothing: outcome.report !== undefined && outcome.verdict === undefined,
    passed: [...keysOf(passed), ...(ok ? announcedChecks(command, keyOf(passed), shown) : [])],
    unseen: keysOf(unseen),
  }
}

/** What is said of the parts that failed, and of those that failed beside tests. */
function saidOf(
  { failure, both, report }: Outcome,
  parts: readonly CheckPart[],
  { open, beside, passed }: ReturnType<typeof judgeParts>,
): readonly [failure: string | undefined, other?: string] {
  if (both && beside.length > 0) return both
  // of `lint; typecheck` that exits 2, lint may have failed too, and what it printed stands first
  const before = open[0] ? parts.slice(0, parts.indexOf(open[0])) : []
  const isBehind = before.some((one) => one.isCheck && !passed.includes(one))
  const isLast = isBehind && report && !report.isTests && report.failures.length > 1
  return [isLast ? failureOf({ ...report, failures: report.failures.slice(-1) }) : failure]
}

/** A copy of the beginning of a text, on one line and without secrets. */
export function short(text: string, maxChars: number): string {
  return own(cut(redactLine(text), maxChars))
}

/**
 * The outcome of a command that failed. If the output (`shown`) contains secrets, it is judged again without them, since
 * the failure's line could quote one line of a key.
 */
function judgedWithoutSecrets(source: DigestSource, shown: string, judged: Outcome): Outcome {
  const end = shown.slice(-MAX_FAILED_CHARS)
  // what a line shows by itself is removed from it later
  if (!showsSecrets(source) && !mentionsSecrets(end)) return judged
  const output = redactOutput({ ...source, output: end })
  return output === shown ? judged : { failure: "output withheld", ...verdictOf({ ...source, output }) }
}

/** Shortens the absolute paths that test runners print; a root such as `/app` is part of other paths too. */
function withoutRoot(output: string, root: string | undefined): string {
  if (!root || root === "/" || output.length > MAX_SHORTENED_CHARS) return output
  const folder = root + (root.includes("\\") ? "\\" : "/")
  const isWithin = (at: number) => /[\w.~-](?<!\x1b\[[\d;]*m)$/.test(output.slice(Math.max(0, at - 20), at))
  return output.replaceAll(folder, (found, at: number) => (isWithin(at) ? found : ""))
}

/** Whether it is sent with what the agent recalled. */
export function isRecall({ shows, cleared }: Pick<ToolEvent, "shows" | "cleared">): boolean {
  return shows === "recalled" && !cleared
}

/** A label for the call: a command itself, for other tools the name and the arguments. */
export function nameOf(event: Pick<ToolEvent, "kind" | "tool" | "summary">): string {
  return event.kind === "command" && event.summary !== "" ? event.summary : `${event.tool} ${event.summary}`.trim()
}

/** A label for a step: its first call, and how many more there are. */
export function stepLabel([first, ...more]: readonly ToolEvent[]): string {
  if (!first) return "a text"
  return more.length > 0 ? `${callLabel(first)} and ${more.length} more` : callLabel(first)
}

/** `nameOf`, short enough for a list. */
export function callLabel(event: ToolEvent): string {
  return cutMiddle(nameOf(event), MAX_LABEL_CHARS)
}
