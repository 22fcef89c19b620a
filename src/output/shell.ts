// Which programs a shell command runs, as far as one can tell without a shell: enough to know a test run from a `cat`,
// and whose exit code the command ends with. Not a shell parser: what it cannot read it leaves out.

/** `name` is the program itself, past `sudo`, `npx`, `uv run`, `python -m` and the like. */
export type Program = {
  readonly name: string
  readonly args: readonly string[]
  /** its output goes into the next program, so its exit code is lost */
  readonly piped: boolean
}

const MAX_CHARS = 4000
const PREFIXES = new Set(
  "! { if then else elif while until do time sudo env nohup exec command nice builtin npx bunx xvfb-run".split(" "),
)
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x"],
  uv: ["run"],
  poetry: ["run"],
  pipenv: ["run"],
  pdm: ["run"],
  hatch: ["run"],
  bundle: ["exec"],
}
const NO_PROGRAM = new Set(["for", "case", "fi", "done", "esac", "}", "function", "select", ""])

const VIEWERS = new Set(
  (
    "cat bat head tail less more sed awk gawk grep egrep fgrep rg ag ack find fd ls eza tree wc sort uniq cut tr echo " +
    "printf cd pushd popd pwd which type file stat du df jq yq xxd od nl tac column date env export unset source . " +
    "basename dirname realpath readlink mkdir rmdir touch chmod chown cp mv rm ln tee true sleep set diff cmp xargs " +
    "test [ [[ whoami uname hostname ps kill pgrep history clear read exit"
  ).split(" "),
)
const GIT_LOOKS = new Set(
  "log show diff status blame grep ls-files branch tag remote stash shortlog reflog cat-file config".split(" "),
)

/** The programs of a command in order; empty for an empty or unreadable one. */
export function programsOf(command: string): Program[] {
  const programs: Program[] = []
  let words: string[] = []
  let word = ""
  let inWord = false
  let skipWord = false
  let heredoc = ""

  const endWord = () => {
    if (inWord && !skipWord) words.push(word)
    if (inWord) skipWord = false
    word = ""
    inWord = false
  }
  const endProgram = (piped: boolean) => {
    endWord()
    skipWord = false
    const program = toProgram(words, piped)
    if (program) programs.push(program)
    words = []
  }

  const end = Math.min(command.length, MAX_CHARS)
  for (let at = 0; at < end; at++) {
    const char = command[at] as string
    const next = command[at + 1]
    if (char === "'" || char === '"') {
      const close = closing(command, at, char)
      word += command.slice(at + 1, close)
      inWord = true
      at = close
    } else if (char === "\\") {
      if (next !== "\n") word += next ?? ""
      inWord ||= next !== "\n"
      at++
    } else if (char === "$" && next === "(") {
      const close = closingParen(command, at + 1)
      word += command.slice(at, close + 1)
      inWord = true
      at = close
    } else if (char === "#" && !inWord) {
      const eol = command.indexOf("\n", at)
      at = eol < 0 ? end : eol - 1
    } else if (char === "\n") {
      endProgram(false)
      if (heredoc === "") continue
      const body = command.indexOf(`\n${heredoc}`, at)
      if (body < 0) break
      at = body + heredoc.length
      heredoc = ""
    } else if (char === " " || char === "\t") {
      endWord()
    } else if (char === "<" && next === "<" && command[at + 2] !== "<") {
      const found = /^<<-?\s*\\?(["']?)([\w.-]+)\1/.exec(command.slice(at, at + 80))
      endWord()
      if (found?.[2]) heredoc = found[2]
      at += (found?.[0].length ?? 2) - 1
    } else if (char === ">" || char === "<" || (char === "&" && next === ">")) {
      // `2>&1` and `&>file`: the digits before and the word after belong to the redirection
      if (/^\d$/.test(word)) inWord = false
      endWord()
      while (/[<>&]/.test(command[at + 1] ?? "")) at++
      skipWord = true
    } else if (char === "|" && next !== "|") {
      if (next === "&") at++
      endProgram(true)
    } else if (char === ";" || char === "&" || char === "|" || char === "(" || char === ")") {
      endProgram(false)
    } else {
      word += char
      inWord = true
    }
  }
  endProgram(false)
  return programs
}

/** A program that shows what others wrote: what looks like a test report in its output is somebody's text. */
export function isViewer({ name, args }: Program): boolean {
  return VIEWERS.has(name) || (name === "git" && GIT_LOOKS.has(args.find((word) => !word.startsWith("-")) ?? ""))
}

function toProgram(words: readonly string[], piped: boolean): Program | undefined {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return undefined
    const sub = words[at + 1]
    if (word === "command" && /^-[vV]$/.test(sub ?? "")) break
    if (/^\w+\+?=/.test(word) || PREFIXES.has(word)) at++
    else if (at > 0 && word.startsWith("-") && PREFIXES.has(words[at - 1] ?? "")) at++
    else if (word === "timeout") at += /^-/.test(sub ?? "") ? 3 : 2
    else if (sub !== undefined && Object.hasOwn(RUNNERS, word) && RUNNERS[word]?.includes(sub)) at += 2
    else if (/^python[\d.]*$/.test(word) && sub === "-m") at += 2
    else break
  }
  const name = (words[at] as string).replace(/^.*[\\/]/, "").replace(/\.(exe|cmd)$/i, "")
  return NO_PROGRAM.has(name) ? undefined : { name, args: words.slice(at + 1), piped }
}

function closing(command: string, open: number, quote: string): number {
  for (let at = open + 1; at < command.length; at++) {
    if (command[at] === quote) return at
    if (command[at] === "\\" && quote === '"') at++
  }
  return command.length
}

function closingParen(command: string, open: number): number {
  let depth = 0
  for (let at = open; at < command.length; at++) {
    if (command[at] === "(") depth++
    if (command[at] === ")" && --depth === 0) return at
  }
  return command.length
}
