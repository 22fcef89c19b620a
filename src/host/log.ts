// The plugin's messages: OpenCode's own log, on OpenCode 2 a file, and toasts for what the user should act on. Never stdout or
// stderr, which belong to OpenCode's screen and to `run --format json`.

import { errorMessage, renew } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { ACTIVE, cut } from "../text/sanitize.ts"

type Level = "info" | "warn"

export type Log = ReturnType<typeof createLog>

/** The part of OpenCode 1's client that logs. */
export type LogClient = {
  app?: { log(line: { body: { service: string; level: Level; message: string } }): Promise<unknown> }
  tui?: {
    showToast(toast: {
      body: { title: string; message: string; variant: "warning"; duration: number }
    }): Promise<unknown>
  }
}

const MAX_LINE_CHARS = 1000
/** Distinct lines that are remembered. After that many only what the user should act on is logged, so that all stays bounded. */
const MAX_LINES = 500
const MAX_TOAST_CHARS = 600
const TOAST_MS = 12_000

export function createLog(client: LogClient | undefined) {
  const said = new Map<string, true>()
  const waiting: string[] = []
  let canShow = false
  const once = (level: Level, message: string, isForUser = false): boolean => {
    // a line feed in a message would forge a log line
    const line = cut(redact(message.replace(ACTIVE, " ").replaceAll("\n", " ")), MAX_LINE_CHARS)
    if (said.has(line) || (said.size >= MAX_LINES && !isForUser)) return false
    renew(said, line, true, MAX_LINES)
    // OpenCode 1.18 does not write the service to its log file, so the line names the plugin itself
    send(() => client?.app?.log({ body: { service: "opencode-hudfold", level, message: `hudfold: ${line}` } }))
    return true
  }
  const toast = () => {
    // one toast for all, since a second one replaces the first
    const message = cut(redact(waiting.splice(0).join("\n").replace(ACTIVE, " ")), MAX_TOAST_CHARS)
    const body = { title: "opencode-hudfold", message, variant: "warning" as const, duration: TOAST_MS }
    if (message) send(() => client?.tui?.showToast({ body }))
  }
  return {
    /** Writes one line to OpenCode's log. The same line is written only once. */
    say: (level: Level, message: string): void => void once(level, message),
    /** Logs a problem in a hook, or in what a hook started. Never throws. */
    report(hook: string, problem: string, cause?: unknown): void {
      once("warn", `${hook} ${problem}${cause === undefined ? "" : `: ${errorMessage(cause)}`}`)
    },
    /** Logs a warning and shows it as a toast, as soon as toasts can be shown. The same warning is shown only once. */
    warnUser(message: string): void {
      if (!once("warn", message, true)) return
      waiting.push(message)
      if (canShow) toast()
    },
    /** Shows waiting toasts, and later ones at once. Call when a session is active: before that, toasts are lost. */
    showToasts(): void {
      canShow = true
      toast()
    },
  }
}

/** Errors are dropped: when the log fails there is nowhere to report it. */
function send(call: () => Promise<unknown> | undefined): void {
  try {
    void call()?.catch(() => {})
  } catch {}
}
