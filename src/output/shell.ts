// Which programs a shell command runs. Not a full shell parser: it knows enough to distinguish a test run from a `cat`
// and to tell whose exit code the command returns, and leaves out what it cannot read.

import { type Program, wrapperWords } from "./programs.ts"

const MAX_COMMAND_CHARS = 4000
/** Options that a word of their own follows. */
const VALUED =
  /^(?:timeout (?:-[ks]|--signal|--kill-after)|sudo -[ug]|env -u|nice -n|npx (?:-p|--package)|uv (?:-p|--(?:with\S*|group|extra|python|package|env-file)))$/
/** Shell syntax that a program may follow. */
const KEYWORDS = new Set("! { if then else elif while until do".split(" "))
/** Words that start something other than a program. */
const NOT_PROGRAMS = new Set(["for", "case", "fi", "done", "esac", "}", "function", "select", ""])
/** Those of them that end a loop, a condition or a group. */
const CLOSING = new Set(["fi", "done", "esac", "}"])

/**
 * A piece of a command: a quoted text, an escaped character (before a letter, a backslash separates the names of a Windows path),
 * blanks, the tag of a here document, a redirection, an operator, or any other text. A quoted text may begin with a here
 * document, which has quotes of its own: the message of a commit.
 */
const PIECE =
  /'(?<single>[^']*)'?|"(?<double>(?:\$\(cat <<-?\s*(?<mark>["']?)(?<end>[\w.-]+)\k<mark>\s.{0,20000}?\n[ \t]*\k<end>\s{0,9}\))?.*?)(?:(?=")(?<!(?<!\\)\\(?:\\\\){0,99})"|$)|\\(?!\w)(?<escaped>.?)|\$\(|[ \t\r]+|<<(?!<)(?:-?\s*\\?(?<quote>["']?)(?<tag>[\w.-]+)\k<quote>)?|(?:[<>]|&(?=>))[<>&]*|(?<operator>\|\||&&|\|&?|[&;()\n])|[^\s'"\\$<>&|;()#]+|./sy
const NEXT: Readonly<Record<string, Program["next"]>> = { "|&": "|", "\n": ";", "(": "", ")": "" }

/** The programs of a command in order. Empty if the command is empty or unreadable. */
export function programsOf(command: string): Program[] {
  const programs: Program[] = []
  let words: string[] = []
  let word: string | undefined
  let skipWord = false
  let heredoc = ""
  let subshell = ""

  const endWord = () => {
    if (word === undefined) return
    if (!skipWord) words.push(word)
    skipWord = false
    word = undefined
  }
  const endProgram = (next: Program["next"]) => {
    endWord()
    skipWord = false
    const program = toProgram(words, next, subshell)
    const last = programs.at(-1)
    if (program) programs.push(program)
    // an operator after `)` or `done` follows the last program before it
    // before `fi` or `done`, as before `&`, an exit code of 0 says neither that it ran nor that each run passed
    else if (last && (last.next === "" || CLOSING.has(words[0] ?? "")))
      programs.splice(-1, 1, { ...last, next: /^[fde]/.test(words[0] ?? "") && next !== "|" ? "&" : next })
    words = []
  }

  // what is written to a file does not count
  let end = Math.min(command.length, MAX_COMMAND_CHARS)
  for (PIECE.lastIndex = 0; PIECE.lastIndex < end; ) {
    const at = PIECE.lastIndex
    const { 0: piece, groups = {} } = PIECE.exec(command) as RegExpExecArray
    const { single, double, escaped, tag, operator } = groups
    if (piece === "$(") {
      PIECE.lastIndex = closingParen(command, at + 1) + 1
      word = (word ?? "") + command.slice(at, PIECE.lastIndex)
    } else if (piece === "#" && word === undefined) {
      const eol = command.indexOf("\n", at)
      PIECE.lastIndex = eol < 0 ? end : eol
    } else if (operator !== undefined) {
      endProgram(NEXT[operator] ?? (operator as Program["next"]))
      if (operator === "(") subshell += `${at} `
      if (operator === ")") subshell = subshell.replace(/\d+ $/, "")
      if (operator !== "\n" || heredoc === "") continue
      const close = new RegExp(`\n\t*${heredoc}(?=[ \t\r]*(?:\n|$))`, "g")
      close.lastIndex = at
      if (!close.test(command)) break
      PIECE.lastIndex = close.lastIndex
      end = Math.min(command.length, end + PIECE.lastIndex - at)
      heredoc = ""
    } else if (/^(?:[ \t\r]|<<(?!<))/.test(piece)) {
      endWord()
      heredoc = tag ?? heredoc
    } else if (/^(?:[<>]|&>)/.test(piece)) {
      // in `2>&1` and `&>file` the digit before and the word after belong to the redirection
      if (/^\d$/.test(word ?? "")) word = undefined
      endWord()
      skipWord = true
    } else if (piece !== "\\\n") {
      word = (word ?? "") + (single ?? double ?? escaped ?? piece)
    }
  }
  endProgram("")
  // with `set -e`, a program runs only if those before it have passed
  const stops = programs.some(({ name, args }) => name === "set" && /^-\w*e/.test(args[0] ?? ""))
  return stops ? programs.map((one) => (one.next === ";" ? { ...one, next: "&&" } : one)) : programs
}

function toProgram(words: readonly string[], next: Program["next"], subshell: string): Program | undefined {
  let at = 0
  let wrapper = ""
  for (;;) {
    const word = words[at]
    if (word === undefined) return undefined
    const sub = words[at + 1]
    if (word === "command" && /^-[vV]$/.test(sub ?? "")) break
    const wrapping = wrapperWords(word, sub)
    if (wrapping > 0) wrapper = word
    if (/^\w+\+?=/.test(word) || KEYWORDS.has(word)) at++
    else if (wrapping > 0) at += wrapping
    // options after such words belong to them rather than to the program: `sudo -E npm test`
    else if (word.startsWith("-") && at > 0) at += VALUED.test(`${wrapper} ${word}`) ? 2 : 1
    else if (wrapper === "timeout") [wrapper, at] = ["", at + 1]
    else if (/(?:^|\/)python[\d.]*$/.test(word) && sub === "-m") at += 2
    else break
  }
  const name = (words[at] as string).replace(/^.*[\\/]/, "").replace(/\.(exe|cmd|bat)$/i, "")
  return NOT_PROGRAMS.has(name) ? undefined : { name, args: words.slice(at + 1), next, subshell }
}

function closingParen(command: string, open: number): number {
  let depth = 0
  for (let at = open; at < command.length; at++) {
    if (command[at] === "(") depth++
    if (command[at] === ")" && --depth === 0) return at
  }
  return command.length
}
