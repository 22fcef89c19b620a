// Reads a session from a file written by `opencode export`. Such files come cut off, empty or mixed up with other JSON
// more often than not, so most of this is saying which.
import { readFile, stat } from "node:fs/promises"
import * as z from "zod/mini"
import { reasonOf, StoreError, type StoreErrorCode } from "./errors.ts"
import { asMessage, type Recording, sessionShape } from "./recording.ts"

const remedy = "opencode export <session id> > session.json"

const exportShape = z.looseObject({
  info: sessionShape,
  messages: z.array(z.looseObject({ info: z.unknown(), parts: z.array(z.unknown()) })),
})

/** Throws StoreError: EXPORT_NOT_FOUND, EXPORT_UNREADABLE, EXPORT_TRUNCATED, NOT_AN_EXPORT, NO_MESSAGES. */
export async function readExport(path: string): Promise<Recording> {
  return parseExport(await readText(path), path)
}

/** `name` stands for the file in messages. */
export function parseExport(text: string, name: string): Recording {
  const fail = (code: StoreErrorCode, what: string) => new StoreError(code, `${name} ${what}`)
  // OpenCode announces the export on stderr; `> file 2>&1` puts that line first. PowerShell's `>` writes a mark.
  const json = text
    .replace(/^\ufeff/, "")
    .replace(/^\s*Exporting session[^\n]*\n/, "")
    .trim()
  if (json === "") throw fail("NOT_AN_EXPORT", `is empty, expected an export of a session; write one with: ${remedy}`)
  const parsed = exportShape.safeParse(parseJson(json, fail))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.length ? `${issue.path.join(".")} is missing or of another type` : "it is another value"
    const what = `is no OpenCode export, expected {info, messages} (${where})`
    throw fail("NOT_AN_EXPORT", `${what}; write one with: ${remedy}`)
  }
  const { info, messages } = parsed.data
  if (messages.length === 0) throw fail("NO_MESSAGES", "is a session without messages, so there is nothing to show")
  return { info: info as Recording["info"], ...readMessages(messages) }
}

function readMessages(messages: readonly { info: unknown; parts: readonly unknown[] }[]) {
  const read = messages.map(({ info, parts }) => asMessage(info, parts))
  return {
    messages: read.flatMap(({ message }) => message ?? []),
    skipped: read.reduce((sum, one) => sum + one.skipped, 0),
  }
}

async function readText(path: string): Promise<string> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) {
      throw new StoreError("EXPORT_UNREADABLE", `${path} is a folder, expected a file written by: ${remedy}`)
    }
    return decode(await readFile(path))
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      throw new StoreError("EXPORT_NOT_FOUND", `${path} does not exist; write an export with: ${remedy}`, { cause })
    }
    throw new StoreError("EXPORT_UNREADABLE", `${path} cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

// Windows PowerShell 5 redirects into UTF-16.
function decode(bytes: Buffer): string {
  return bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString("utf16le") : bytes.toString("utf8")
}

function parseJson(json: string, fail: (code: StoreErrorCode, what: string) => StoreError): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    if (json.startsWith("{") && !isClosed(json)) {
      const cut = `ends in the middle of the session (${json.length.toLocaleString("en")} characters)`
      throw fail("EXPORT_TRUNCATED", `${cut}; OpenCode cuts exports sent through a pipe, redirect to a file: ${remedy}`)
    }
    const what = `is not JSON (${reasonOf(cause)}), expected an export of a session`
    throw fail("NOT_AN_EXPORT", `${what}; write one with: ${remedy}`)
  }
}

/** Whether every bracket outside a string is closed: what the parsers say about cut-off JSON differs by runtime. */
function isClosed(json: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '"') quoted = !quoted
    else if (quoted && char === "\\") at++
    else if (!quoted && (char === "{" || char === "[")) depth++
    else if (!quoted && (char === "}" || char === "]")) depth--
  }
  return !quoted && depth <= 0
}
