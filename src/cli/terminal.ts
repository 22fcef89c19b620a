// What the commands write to: stdout and stderr, with text from sessions and arguments made harmless first.

import { ACTIVE } from "../text/text.ts"

/** A mistake of the caller's. The message is one line: what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/**
 * Text as a terminal may see it: control characters, and the marks that turn the direction of writing, are shown by
 * their code. A session's title is written by a model that has read strangers' files.
 */
export function harmless(text: string): string {
  return text.replace(ACTIVE, showCode)
}

export function oneLine(text: string): string {
  return harmless(text.replace(/\s+/g, " ").trim())
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

/** Whether stdout is looked at by somebody who wants colours. */
export function colours(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb"
}

export function complain(text: string): void {
  process.stderr.write(`hudfold: ${oneLine(text)}\n`)
}

/** A reader that has seen enough (`| head -1`) closes the pipe: the end of the work, not a failure. */
export function endQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      process.exit(error.code === "EPIPE" ? 0 : 1)
    })
  }
}

function showCode(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`
}
