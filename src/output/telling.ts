// The one line of an output that says best why a command failed, for commands that are no check.

import { type Line, toLines } from "./lines.ts"

/** Tried in order: the first shape that any line has wins. */
const SHAPES: readonly RegExp[] = [
  /^(?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Fault)\b(?: \[\w+\])?:? |panic: |Uncaught |Unhandled |thread '.+' panicked)/,
  /^(?:[\w./-]+: )?(?:fatal|FATAL|fatal error): /,
  /^(?:[\w./-]+: )?(?:error|ERROR|Error)(?:\[\w+\])?:? \S/,
  /: (?:No such file or directory|[Cc]ommand not found|[Pp]ermission denied|[Nn]ot a directory|[Ii]s a directory|[Cc]annot \w+|not found|File exists|[Ii]nvalid \w+|unrecognized \w+|illegal option|[Nn]o matches found|[Uu]nknown \w+|syntax error|[Cc]onnection refused|unbound variable|No rule to make)/,
  /^\[?(?:✗|✘|✖|×|❌|ERR!?|E:|error|FAIL(?:ED)?|ERROR|CRITICAL)\]?[\s:!]/,
  /^npm (?:error|ERR!) (?!command|Lifecycle)/,
  /\b(?:cannot|could not|can't|unable to|failed to|failed with|refused|denied|timed out|terminated|aborted|rejected|conflict|missing required|not found|No such file)\b/i,
  /^npm (?:error|ERR!) command (?:sh|cmd|C:)/,
  /\b(?:errors?|failed|failures?|exception)\b/i,
]
const NOISE =
  /^\s*(?:$|at\s|\[?\d+\/\d+\]|Waiting for|Debugger |\.\.\.output truncated|Full output saved to|The tool call succeeded but|npm (?:error|ERR!)(?: *$| A complete log| (?:code|errno|path|syscall|location|workspace|command failed)\b)|<\/?\w+>|[-=_*#~─]+$|\^+|Node\.js v|Bun v)|^(?:Command exited with|Exit) code \d+|exited with (?:exit )?code \d+\.?$/
const SCAN_LINES = 400

/** Undefined when the output has no line but noise. */
export function tellingLine(lines: readonly Line[]): Line | undefined {
  const last = lines.slice(-SCAN_LINES).filter(({ text }) => !NOISE.test(text))
  for (const shape of SHAPES) {
    const found = last.find(({ text }) => shape.test(text.trimStart()))
    if (!found) continue
    // a heading says that, the line under it says what
    return (/:$/.test(found.text) ? last[last.indexOf(found) + 1] : undefined) ?? found
  }
  return last.at(-1)
}

/** The reason a host gives when it ended a command itself, from the note it puts after the output. */
export function hostNote(tail: string): string | undefined {
  const at = tail.search(/<(?:shell|bash)_metadata>/)
  const note =
    at < 0 ? "" : (toLines(tail.slice(at)).find(({ text }) => /terminated|timeout|aborted/i.test(text))?.text ?? "")
  const timeout = /exceeding timeout (\d+) ?ms|timed out after (\d+)/.exec(note)
  if (timeout) return `timed out after ${timeout[1] ?? timeout[2]} ms`
  if (/abort/i.test(note)) return "aborted by the user"
  return undefined
}
