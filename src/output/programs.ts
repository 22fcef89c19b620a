// What is known about shell programs, by name: which show files, search, list, run checks or change things. Everything that
// interprets a command reads this table.

/** One program of a command line. `name` is the program itself, without wrappers such as `sudo`, `npx` or `uv run`. */
export type Program = {
  readonly name: string
  readonly args: readonly string[]
  /** the operator after it, `;` for a line break as well; "" at the end and where it cannot be told */
  readonly next: "|" | "&&" | "||" | "&" | ";" | ""
  /** the numbers of the parentheses around it: where one closes, its `cd` ends */
  readonly subshell: string
}

/**
 * - `wrapper`: runs the program named after it; `delegate`: runs the program that its arguments name
 * - `setup`: prepares the shell or announces something; `pause`: waits
 * - `file`: prints the text of files; `search`: prints matching lines; `list`: prints the names of files
 * - `shape`: reorders or cuts its input
 * - `look`: prints other information, or little or nothing; `remote`: talks to a server or a database
 * - `answer`: exit code 1 is an answer (no match, different, absent), not a failure
 * - `check`: tests, builds, lints or checks types; `silent`: such a program that prints nothing when all is well
 * - `script`: runs scripts or tasks of the project
 */
type Trait =
  | ("wrapper" | "delegate" | "setup" | "pause")
  | ("file" | "search" | "list" | "shape" | "look" | "remote" | "answer")
  | ("check" | "silent" | "script")

/** Every program appears in exactly one row, and in lower case, since case does not count in PowerShell. */
export const PROGRAMS: readonly (readonly [names: string, ...traits: Trait[]])[] = [
  ["sudo env nohup exec nice builtin time timeout stdbuf npx bunx uvx cross-env xvfb-run", "wrapper"],
  ["command", "wrapper", "look", "answer"],
  ["cd pushd popd export set source . echo printf true set-location write-host write-output", "setup"],
  ["sleep start-sleep wait", "pause"],
  ["mkdir rmdir touch chmod chown cp mv rm ln tar zip unzip", "look"],
  ["new-item copy-item move-item remove-item rename-item set-content add-content out-file", "look"],
  [": pwd date exit unset umask ulimit read trap", "look"],
  ["cat bat nl less more head tail sed awk gawk get-content gc", "file"],
  ["grep egrep fgrep rg ag ack zgrep findstr select-string sls", "search", "answer"],
  ["ls ll dir find fd eza tree get-childitem gci", "list"],
  ["sort uniq cut tr tac column wc out-string format-table", "shape"],
  ["select-object where-object foreach-object sort-object measure-object", "shape"],
  ["xargs", "delegate"],
  ["file stat du df xxd od basename dirname realpath readlink tee jq yq", "look"],
  ["whoami uname hostname ps kill history clear", "look"],
  ["test [ [[ diff colordiff cmp which type pgrep pidof pkill killall lsof expr fc false", "look", "answer"],
  ["gh curl wget kubectl psql mysql sqlite3 redis-cli mongosh createdb dropdb", "remote"],
  ["make ninja gradle gradlew mvn", "check", "script"],
  ["tsc vue-tsc eslint oxlint biome stylelint flake8 shellcheck mypy pylint", "check", "silent"],
  ["rustc gcc g++ clang clang++ cc javac", "check", "silent"],
  ["tsgo gofmt gofumpt", "silent"],
  ["ruff pyright pytest unittest tox jest vitest mocha ava playwright cypress rspec phpunit ctest", "check"],
  ["cmake swiftc rubocop phpstan staticcheck hadolint pre-commit lefthook prove busted bats nox", "check"],
  ["jasmine uvu nose2 behave basedpyright bandit yamllint phpcs standard xo webpack rollup esbuild tsup", "check"],
  ["pest psalm swiftlint ktlint tflint luacheck credo dialyzer markdownlint markdownlint-cli2 cspell knip", "check"],
  ["npm pnpm yarn bun deno just task mise moon nx turbo", "script"],
]

const GIT_SUBCOMMANDS: typeof PROGRAMS = [
  ["log show status blame ls-files branch tag remote stash shortlog reflog cat-file", "look"],
  ["diff config", "look", "answer"],
  ["grep", "search", "answer"],
  ["merge-base show-ref check-ignore", "answer"],
]

/** Pairs of words that run the program named after them. */
const WRAPPING_PAIRS =
  /^(?:(?:npm|pnpm|yarn|bundle) exec|(?:npm|bun) x|(?:pnpm|yarn) dlx|(?:uv|poetry|pipenv|pdm|hatch) run)$/

const TRAITS = traitsByName(PROGRAMS)
const GIT_TRAITS = traitsByName(GIT_SUBCOMMANDS)

/** Whether a program has any of the traits; of `git`, whether its subcommand has. */
export function hasTrait({ name, args }: Pick<Program, "name" | "args">, ...traits: readonly Trait[]): boolean {
  const own = name === "git" ? GIT_TRAITS.get(gitSubcommand(args)) : TRAITS.get(name.toLowerCase())
  return own !== undefined && traits.some((trait) => own.includes(trait))
}

/** The names of all programs with a trait. */
export function namesWith(trait: Trait): string[] {
  return [...TRAITS].filter(([, traits]) => traits.includes(trait)).map(([name]) => name)
}

/** `git -C dir status`: the first word that is neither an option nor an option's value. */
function gitSubcommand(args: readonly string[]): string {
  return args.find((word, at) => !word.startsWith("-") && !/^-[Cc]$/.test(args[at - 1] ?? "")) ?? ""
}

/** How many words at the start of a command only run the program named after them: `npx`, `uv run`. */
export function wrapperWords(word: string, next: string | undefined): number {
  if (TRAITS.get(word)?.includes("wrapper")) return 1
  return WRAPPING_PAIRS.test(`${word} ${next}`) ? 2 : 0
}

/** Traits of programs that print only what others wrote, or nothing. */
export const VIEWS = ["file", "search", "list", "shape", "look", "setup"] as const

/** Whether a test report in a program's output is no verdict on anything. */
export function isViewer(program: Program): boolean {
  return hasTrait(program, ...VIEWS, "pause", "delegate")
}

function traitsByName(rows: typeof PROGRAMS): ReadonlyMap<string, readonly Trait[]> {
  return new Map(rows.flatMap(([names, ...traits]) => names.split(" ").map((name) => [name, traits] as const)))
}
