// When two commands are the same attempt: `cd app && CI=1 npm test 2>&1 | tail -20` is `npm test` in `app` again, and a run
// that covers more settles the failures of one that covered less.

import { pathFrom, relativeTo } from "../text/paths.ts"
import { hasTrait, isViewer, namesWith, type Program, VIEWS } from "./programs.ts"
import { programsOf } from "./shell.ts"

/** Programs that change the folder. */
const MOVES = /^(?:cd|pushd|popd|set-location)$/i

/**
 * What a command attempts. Its key leaves out what only changes how it runs or how its output is shown. If it runs several
 * programs, the last check counts, with the checks that must pass before it: `npm run format && npm run check` is
 * `npm run check`, and `npm run lint && npm test` may fail in either. `cwd`: the absolute folder that commands run in;
 * `workdir`: the folder this one was given. Any other folder than `cwd` is part of the key.
 */
export function attemptOf(command: string, cwd = "", workdir = "") {
  const programs = programsOf(command)
  const keyOf = (counted: readonly Program[]) => {
    const folder = folderOf(counted[0], programs, pathFrom(cwd, workdir))
    const where = folder === pathFrom(cwd, "") ? "" : relativeTo(cwd, folder)
    const key = counted.map(spelled).join(" && ") || command.trim()
    return where === "" || where === "." || key === "" ? key : `cd ${where} && ${key}`
  }
  const counting = countingIn(programs)
  // what `&&` or a pipe joins is one group: behind `&&`, a program runs only if those before it have passed
  const groupOf = (one: Program) =>
    programs.slice(0, programs.indexOf(one)).filter(({ next }) => !/&&|^\|$/.test(next)).length
  const isPiped = ({ next }: Program) =>
    next === "|" && !programs.some(({ name, args }) => name === "set" && args.includes("pipefail"))
  const last = counting.find(isCheck)
  const group = last && groupOf(last)
  const chain = programs.filter((one) => isCheck(one) && groupOf(one) === group && (one === last || !isPiped(one)))
  return {
    /** equal for retries; for comparison and display only: quotes are removed */
    key: chain.map((one) => keyOf([one])).join(" && ") || keyOf(counting),
    /** it tests, builds, lints or checks types; its failure stays open until a run passes */
    isCheck: chain.length > 0,
    /** the command's exit code is not that of what is attempted */
    hidesExit: hidesExit(programs, counting),
    /** of a command with checks, the programs that may fail: the checks, and others such as `git push`; else empty */
    parts: (last ? ownIn(programs) : []).map((one) => ({
      key: keyOf([one]),
      /** of `npm run lint || npm test`, lint may have failed where the command passes, and else the tests have not run */
      isOptional: (one.next === "||" && one !== last) || programs[programs.indexOf(one) - 1]?.next === "||",
      isCheck: isCheck(one),
      // the words behind `mypy` are targets
      isTests: isCheck(one) && TESTS.test(hasTrait(one, "check") && !hasTrait(one, "script") ? one.name : spelled(one)),
      /** equal for what `&&` joins */
      group: groupOf(one),
      isPiped: isPiped(one),
      hidesExit: hidesExit(programs, [one]),
    })),
  }
}

/** The folder that a program of a command runs in. The command begins in `start`. */
function folderOf(program: Program | undefined, programs: readonly Program[], start: string): string {
  const before = program ? programs.slice(0, programs.indexOf(program)) : []
  // in parentheses, a change counts only for what stands in the same parentheses
  const moves = before.filter((one) => MOVES.test(one.name) && program?.subshell.startsWith(one.subshell))
  const targets = moves.map(({ name, args }) => args.at(-1) ?? (name === "popd" ? "-" : "~"))
  // `-` is the folder before the last change
  const [folder] = targets.reduce(([at, last], to) => [to === "-" ? last : pathFrom(at, to), at], [start, start])
  return folder
}

export type CheckPart = ReturnType<typeof attemptOf>["parts"][number]

/** The checks in the key of one or several, each with its folder. */
export function checksIn(key: string): string[] {
  return key.split(/(?<!(?:^| && )cd [^&]*) && /)
}

/**
 * A script as its runner announces it: npm's and pnpm's `> vitest run` below a line with the script's name, Yarn's and Bun's
 * `$ jest`, mise's `[test] $ go test ./...`, Task's `task: [test] go test ./...`. What ends in `…` was cut.
 */
const ANNOUNCED = /^(?:> .*\n> |(?:\[[\w:.-]+\] )?\$ |task: \[[\w:.-]+\] )(\S.*[^\s…])$/gm
const RUNS_SCRIPT = new RegExp(`(?:^|&& )(?:${namesWith("script").join("|")})(?: |$)`)
/** What runs in another folder, or in several. Its pass says nothing of the folder that the command names. */
const ELSEWHERE =
  /\b(?:cd|pushd|workspaces?) | (?:-[wrCF]|--(?:workspaces?|prefix|filter|dir|cwd|recursive))(?=[ =]|$)|(?:^|&& )(?:nx|turbo|moon|lerna) /

/** The keys of the checks that a command's scripts ran, as its output announces them. The command passed; `key` is its own. */
export function announcedChecks(command: string, key: string, output: string): string[] {
  if (!RUNS_SCRIPT.test(key)) return []
  const commands = Array.from(output.matchAll(ANNOUNCED), ([, announced = ""]) => announced)
  const [folder = ""] = /^cd .*? && /.exec(key) ?? []
  if ([key.slice(folder.length), ...commands].some((one) => ELSEWHERE.test(one))) return []
  // in `npm run lint; npm test`, what the first announces may have failed
  const programs = programsOf(command)
  const scripts = commands.flatMap((one) => programsOf(one).slice(0, -1))
  const before = [...programs.slice(0, programs.findLastIndex(isCheck)), ...scripts]
  if (before.some((program) => program.next !== "&&" && !hasTrait(program, "setup"))) return []
  const parts = commands.flatMap((one) => attemptOf(one).parts)
  return parts.filter(({ isCheck, hidesExit }) => isCheck && !hidesExit).map((one) => folder + one.key)
}

/** All programs but those that only prepare or show. */
function ownIn(programs: readonly Program[]): Program[] {
  return programs.filter(
    (program, at) => !hasTrait(program, "setup", "pause") && !(isViewer(program) && programs[at - 1]?.next === "|"),
  )
}

/** The last check; without one, all programs of its own. */
function countingIn(programs: readonly Program[]): readonly Program[] {
  const own = ownIn(programs)
  const check = own.findLast(isCheck)
  return check ? [check] : own.length > 0 ? own : programs
}

/**
 * Whether an exit code of 0 says nothing about the program that counts: `npm test | tail` and `npm test; echo done` exit 0
 * whatever the tests do.
 */
export function hidesExit(programs: readonly Program[], counting = countingIn(programs)): boolean {
  const last = counting.at(-1)
  const rest = last ? programs.slice(programs.indexOf(last)) : []
  if (rest.at(-1)?.next === "&") return true
  // of `bash -c` and `ssh` the last argument is a script
  const [script = "", ...words] = last ? [last.name, ...last.args].reverse() : []
  const isShell = words.some((word) => /(?:^|\/)(?:ssh|(?:ba|da|k|z)?sh)$/.test(word))
  if (isShell && hidesExit(programsOf(script))) return true
  return rest.slice(0, -1).some(({ next }) => next !== "&&")
}

/** How a runner says that there is no such script or task, and below, a program of an option and a shell, in any language, of a program. */
const NO_SCRIPT =
  /missing script:? "?([^\s"]+)|(?:script not found|script named|command) "([^"]+)"|No rule to make target [`'‘]([^'’]+)['’]\.|no task (\S+) found|make: \*\*\* [^[`'‘]*?[„“«「"]\s?([^”“»」"]+?)\s?[”“»」"]|task not found: (\S+)|(?:does not contain recipe|no such command:|how to build task|unknown (?:target|lifecycle phase)) [`"']([^`"']+)[`"']|\btask ["']([^"']+)["'] (?:does not exist|not found)/i
const NO_OPTION =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|bad|no such)\b[\w -]{0,20} (?:flag|option|argument)s?:? ["'`]?(-[\w-]+)|flag provided but not defined: (-\S+)/i
const NO_PROGRAM =
  /command not found: (\S+)$|^(\S+): (?:(?:command )?not found|No such file or directory)$|'([^']+)' is not recognized as|^exit code 127: (\S+?)\s?[:：]/

/** How a test runner says that no test has the name that was given. */
const NO_TEST =
  /^(?:\d+ deselected|no tests ran) in |^(?:Error: )?No test(?:s| files) found\b|^ERROR: (?:file or directory )?not found: |^The following filters did not match any test files|" (?:matched 0 tests|had no matches)\b|^Could not find '[^']+'$/

/**
 * Whether a failure (a line of the output) says that the program, script, option or test named in the command is not there, so that
 * nothing was checked. A program that a script of the project does not find is a failure of that script.
 */
export function isMistyped(command: string, failure: string): boolean {
  if (NO_TEST.test(failure)) return true
  if (failure.includes("could not determine executable to run")) return /\bnp(?:x|m (?:x|exec))\s/.test(command)
  const words = command.split(/[\s"';&|()]+/)
  const missing = (pattern: RegExp) => pattern.exec(failure)?.slice(1).find(Boolean)
  const script = missing(NO_SCRIPT)
  if (script !== undefined) return words.includes(script)
  const option = missing(NO_OPTION)
  if (option !== undefined) return words.some((word) => word.replace(/=.*/, "") === option)
  const program = missing(NO_PROGRAM)
  if (program === undefined || !words.includes(program)) return false
  // `npm run vitest` may run a script that does not find `vitest`
  return !countingIn(programsOf(command)).some(({ args }) => args.includes(program))
}

/** A runner that is given no target. It runs a default one, which says nothing about the others. */
const DEFAULT_RUN = new RegExp(`^(?:cd .* && )?(?:${namesWith("script").join("|")}|(?:zig|dune) build)(?: -\\S*)*$`)
/** Options that change only what a run prints, how fast it is, when it stops or what it mends, and a dot for the project. */
const SHOWN =
  /(?:(?<=\b(?:pytest|go test|cargo \w+|mvn)(?: .*)?) -(?:[qsvx]+|r[aA]|count=1)|(?<=\b(?:npm|pnpm|make|ninja|cmake|ctest)(?: .*)?) -(?:s|j ?\d*)|(?<=\brubocop(?: .*)?) -[aA]|(?<=\b(?:jest|vitest|test)(?: .*)?) -u| --(?:quiet|silent|verbose|no-header|no-color|no-daemon|nologo|stacktrace|info|output-on-failure|fix|write|nocapture|show-output|runInBand|update(?:-?[sS]napshots?)?|pretty(?: false)?|(?:color|console|tb|reporter|durations|maxfail)=\S+)?| --?timeout[= ]\S+|\/|(?<! -\S*|\b(?:go|build)\b.*) \.)(?= |$)/g
/** Words that make a run check more, or more strictly. */
const WIDER =
  / (?:\S*\/\.{3}|-(?:D(?:warnings)?|W\S*|race|tags\S*|[wCFc])|--(?:workspaces?|prefix|all(?:-\w+)?|strict|release|configuration|\S*features|target[ =]\w+-\w+-\S*|max-warnings|warnings-as-errors|cov\w*|config))(?=[ =]|$)/

/** Options with which a compiler checks no more than without. */
const LENIENT = /(?<=\btsc(?: .*)?) --(?:noEmit|skipLibCheck|force)(?= |$)|(?<=\bgo build(?: .*)?) -o \S+/g

/** Whether a run that passed also settles one that failed: the same command, or the same with further restrictions. */
export function covers(passed: string, failed: string): boolean {
  // `./cart.test.ts` is `cart.test.ts`, but to Go a folder; twice, since a dot may follow such an option
  const dots = /\bgo |\/\.{3}/.test(`${passed} ${failed}`) ? /$^/ : / \.\/(?=\w)/g
  const plain = (key: string) => key.replace(SHOWN, "").replace(SHOWN, "").replace(dots, " ")
  let [run, given] = [plain(passed), plain(failed)]
  given = given.replace(LENIENT, (word) => (run.includes(word) ? word : ""))
  // with the race detector or build tags, Go tests what it tests without them, except files that a tag excludes
  run = run.replace(/(?<=\bgo test(?: .*)?) -(?:race|tags[= ]\S+)(?= |$)/g, (word) =>
    given.includes(word) ? word : "",
  )
  // Go takes the name behind `-run` for a pattern: `TestCart` runs `TestCartAdds` and `TestCartSums` too
  const [ran = "", wanted = ""] = [run, given].map((key) => / -run[= ](\S+)/.exec(key)?.[1])
  const isRun = (one: string) => ran.split("|").some((pattern) => one.startsWith(pattern))
  if (ran !== "" && wanted.split("|").every(isRun)) given = given.replace(wanted, ran)
  // Gradle runs a task in all modules unless one is named
  const other = / :/.test(run) ? given : given.replace(/^((?:cd .* && )?gradlew?) :[\w:-]+:/, "$1 ")
  // `go test ./cart ./user` settles `go test ./cart`; a word behind an option is no target
  const isMore = run.startsWith(other) && /^(?: [^\s-]\S*\/\S*)+$/.test(run.slice(other.length))
  if (isMore && / [^\s-]\S* \S*\/\S*$/.test(other)) return true
  // a target settles what is within: `eslint src` settles `eslint src/a.ts`; to Go it means one folder, except with `/...`
  const [target = ""] = /(?<!^|&&| -\S*|\bgo .*) [\w@\u00c0-\uffff][^\s:]*$| [./]\/\.\.\.$/.exec(run) ?? []
  const folder = target.replace("/...", "")
  // `test_cart.py::adds` and `cart_spec.rb:12` are parts of a file, and `test:18` is another script
  const isWithin = (word: string) => `${word.replace(/::.*|(?<=[/.]\S*):\d.*/, "")}/`.startsWith(`${folder}/`)
  const rest = other.replace(/ \.\/\S*|(?<! -[^\s=]*) \S+/g, (word) => (target !== "" && isWithin(word) ? "" : word))
  if (target !== "" && rest === other) return false
  const base = run.slice(0, run.length - target.length)
  const more = rest.slice(base.length)
  if (!`${rest} `.startsWith(`${base} `) || WIDER.test(more)) return false
  // an option gives tests fewer to run, and most other checks another thing to check: `tsc -p web`
  const isFewer = more.startsWith(" -") && (TESTS.test(run) || / --target /.test(more))
  const isFurther = isFewer || (/^ [^-]/.test(more) && !/[/.]/.test(target) && other.startsWith(`${run} `))
  return more === "" || (isFurther && !DEFAULT_RUN.test(run))
}

/** Words of programs and scripts that run tests. */
const TESTS =
  /(?:^|[\s:_-])(?:\w*(?<!la)tests?|e2e|\w*spec|jest|mocha|ava|playwright|cypress|phpunit|jasmine|uvu|nose2|behave|bats|busted|prove|tox|nox)(?=[\s:_-]|$)/

const CHECK_WORDS = [
  ..."test tests nextest e2e check build lint typecheck compile clippy vet".split(" "),
  ...namesWith("check"),
]
const CHECK = new RegExp(
  `(?:^|[\\s/;&|_-])(?:${CHECK_WORDS.join("|").replaceAll("+", "\\+")})(?:$|[\\s:;&|._-])|^(?:dart|flutter|terraform)(?: -\\S+)* (?:analyze|validate)\\b`,
)

/** `npm i -D vitest`: the rest names packages. */
const INSTALLS = /^(?:i|install|add|remove|rm|uninstall|update|upgrade)$/

/** What may well have arguments called `test`: Git, containers, formatters that write, and code given in a command. */
const NO_CHECK =
  /^(?:git\b|docker (?!.*\b(?:build|run|exec)\b)|(?:node|bun|tsx|ruby|perl) (?:-\S+ )*(?:-[ep]|--eval) |python[\d.]* (?:-\S+ )*-c |php -r |(?:gofmt|gofumpt|goimports|prettier) (?:\S+ )*--?w(?:rite)?\b)/

/** Whether a program tests, builds, lints or checks types. */
export function isCheck(program: Program): boolean {
  if (hasTrait(program, "check")) return true
  if (NO_CHECK.test(spelled(program)) || hasTrait(program, ...VIEWS, "remote")) return false
  const [first = "", second = ""] = program.args.filter((word) => !word.startsWith("-"))
  return !INSTALLS.test(/^(?:pip|global)$/.test(first) ? second : first) && CHECK.test(spelled(program))
}

/** A program with its arguments, quotes removed. */
export function spelled({ name, args }: Program): string {
  // `npm run test` is `npm test`
  const words = [name, ...args].join(" ").replace(/^(p?npm) t(?:st)?(?= |$)/, "$1 test")
  return words.replace(/^(npm|pnpm|yarn) run(?:-script)? (?:(?:-s|--silent) )*(?=test(?: |$))/, "$1 ")
}
