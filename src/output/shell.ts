// Which programs a shell command runs. Not a full shell parser: it knows enough to distinguish a test run from a `cat`
// and to tell whose exit code the command returns, and leaves out what it cannot read.

import { type Program, wrapperWords } from "./programs.ts"

const MAX_COMMAND_CHARS = 4000
/** Shell syntax that a program may follow. */
const KEYWORDS = new Set("! { if then else elif while until do".split(" "))
/** Words that start something other than a program. */
const NOT_PROGRAMS = new Set(["for", "case", "fi", "done", "esac", "}", "function", "select", ""])
/** Those of them that end a loop, a condition or a group. */
const CLOSING = new Set(["fi", "done", "esac", "}"])

/** The programs of a command in order. Empty if the command is empty or unreadable. */
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
  const endProgram = (next: Program["next"]) => {
    endWord()
    skipWord = false
    const program = toProgram(words, next)
    const last = programs.at(-1)
    if (program) programs.push(program)
    // an operator after `)` or `done` follows the last program before it
    else if (last && (last.next === "" || CLOSING.has(words[0] ?? ""))) programs.splice(-1, 1, { ...last, next })
    words = []
  }

  const end = Math.min(command.length, MAX_COMMAND_CHARS)
  for (let at = 0; at < end; at++) {
    const char = command[at] as string
    const next = command[at + 1]
    if (char === "'" || char === '"') {
      const close = closing(command, at, char)
      word += command.slice(at + 1, close)
      inWord = true
      at = close
    } else if (char === "\\" && !/\w/.test(next ?? "")) {
      // before a letter it separates the names of a Windows path
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
      endProgram(";")
      if (heredoc === "") continue
      const body = command.indexOf(`\n${heredoc}`, at)
      if (body < 0) break
      at = body + heredoc.length
      heredoc = ""
    } else if (char === " " || char === "\t" || char === "\r") {
      endWord()
    } else if (char === "<" && next === "<" && command[at + 2] !== "<") {
      const found = /^<<-?\s*\\?(["']?)([\w.-]+)\1/.exec(command.slice(at, at + 80))
      endWord()
      if (found?.[2]) heredoc = found[2]
      at += (found?.[0].length ?? 2) - 1
    } else if (char === ">" || char === "<" || (char === "&" && next === ">")) {
      // in `2>&1` and `&>file` the digit before and the word after belong to the redirection
      if (/^\d$/.test(word)) inWord = false
      endWord()
      while (/[<>&]/.test(command[at + 1] ?? "")) at++
      skipWord = true
    } else if (char === "|" && next !== "|") {
      if (next === "&") at++
      endProgram("|")
    } else if (char === "&" || char === "|") {
      if (next === char) at++
      endProgram(next !== char ? "&" : char === "&" ? "&&" : "||")
    } else if (char === ";" || char === "(" || char === ")") {
      endProgram(char === ";" ? ";" : "")
    } else {
      word += char
      inWord = true
    }
  }
  endProgram("")
  return programs
}

function toProgram(words: readonly string[], next: Program["next"]): Program | undefined {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return undefined
    const sub = words[at + 1]
    const last = words[at - 1] ?? ""
    if (word === "command" && /^-[vV]$/.test(sub ?? "")) break
    const wrapping = wrapperWords(word, sub)
    if (/^\w+\+?=/.test(word) || KEYWORDS.has(word)) at++
    else if (wrapping > 0) at += wrapping
    // options after such a word belong to it rather than to the program: `sudo -E npm test`
    else if (word.startsWith("-") && (KEYWORDS.has(last) || wrapperWords(last, undefined) > 0)) at++
    else if (word === "timeout") at += /^-/.test(sub ?? "") ? 3 : 2
    else if (/^python[\d.]*$/.test(word) && sub === "-m") at += 2
    else break
  }
  const name = (words[at] as string).replace(/^.*[\\/]/, "").replace(/\.(exe|cmd|bat)$/i, "")
  return NOT_PROGRAMS.has(name) ? undefined : { name, args: words.slice(at + 1), next }
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
