// Reads a session from a file written by `opencode export`. Such files are often truncated, empty or other JSON, so most of
// this reports what is wrong with one.
import { readFile } from "node:fs/promises"
import * as z from "zod/mini"
import { innermostReason, StoreError, type StoreErrorCode } from "./errors.ts"
import { type Recording, readMessages, sessionShape } from "./recording.ts"

export const EXPORT_COMMAND = "opencode export <session id> > session.json"

const exportShape = z.looseObject({
  info: sessionShape,
  messages: z.array(z.looseObject({ info: z.unknown(), parts: z.array(z.unknown()) })),
})

/** Throws StoreError: EXPORT_NOT_FOUND, EXPORT_UNREADABLE, EXPORT_TRUNCATED, NOT_AN_EXPORT, NO_MESSAGES. */
export async function readExport(path: string): Promise<Recording> {
  return parseExport(await readText(path), path)
}

/** `name` is how messages refer to the file. */
export function parseExport(text: string, name: string): Recording {
  // OpenCode announces the export on stderr, and `> file 2>&1` puts that line first. PowerShell's `>` writes a byte order mark.
  const json = text
    .replace(/^\ufeff/, "")
    .replace(/^\s*Exporting session[^\n]*\n/, "")
    .trim()
  if (json === "") throw notAnExport(name, "is empty, expected an exported session")
  const parsed = exportShape.safeParse(readJson(json, name))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.length ? `${issue.path.join(".")} is missing or of the wrong type` : "it is another value"
    throw notAnExport(name, `is not an OpenCode export, expected {info, messages} (${where})`)
  }
  const { info, messages } = parsed.data
  if (messages.length === 0)
    throw new StoreError("NO_MESSAGES", `${name} is a session without messages, so there is nothing to show`)
  return { info, ...readMessages(messages) }
}

function notAnExport(name: string, what: string): StoreError {
  return new StoreError("NOT_AN_EXPORT", `${name} ${what}; create one with: ${EXPORT_COMMAND}`)
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path)
    // Windows PowerShell 5 writes redirected output as UTF-16.
    return bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf16le" : "utf8")
  } catch (cause) {
    const fail = (code: StoreErrorCode, what: string) => new StoreError(code, `${path} ${what}`, { cause })
    const { code } = cause as NodeJS.ErrnoException
    if (code === "ENOENT") throw fail("EXPORT_NOT_FOUND", `does not exist; create an export with: ${EXPORT_COMMAND}`)
    if (code === "EISDIR") throw fail("EXPORT_UNREADABLE", `is a folder, expected a file written by: ${EXPORT_COMMAND}`)
    throw fail("EXPORT_UNREADABLE", `cannot be read: ${innermostReason(cause)}`)
  }
}

function readJson(json: string, name: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    // OpenCode indents what is in the object, so that its last bracket begins a line
    if (json.startsWith("{") && !json.endsWith(json.includes("\n") ? "\n}" : "}")) {
      const cut = `${name} ends in the middle of the session (${json.length.toLocaleString("en")} characters)`
      const why = "OpenCode truncates exports written to a pipe; redirect to a file"
      throw new StoreError("EXPORT_TRUNCATED", `${cut}; ${why}: ${EXPORT_COMMAND}`)
    }
    throw notAnExport(name, `is not JSON (${innermostReason(cause)}), expected an exported session`)
  }
}
