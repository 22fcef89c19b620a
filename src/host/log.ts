// Where the plugin speaks: OpenCode's own log, and a toast for what the user should act on. Never stdout or stderr,
// which belong to the host's screen and to `run --format json`.

import type { PluginInput } from "@opencode-ai/plugin"
import { redact } from "../text/redact/redact.ts"
import { ACTIVE, cut } from "../text/sanitize.ts"

export type Level = "debug" | "info" | "warn" | "error"

export type Log = {
  /** One line into OpenCode's log. The same line is said once in the plugin's life. */
  say(level: Level, message: string): void
  /** A warning in the log at once, and on the screen as soon as somebody is there to see it; once. */
  warnUser(message: string): void
  /** Somebody is there: a session is at work. A toast before that is lost, the screen does not listen yet. */
  attend(): void
}

const LONGEST = 1000
/** Different lines remembered; past it the plugin falls silent rather than grow. */
const MOST = 500
const LONGEST_TOAST = 600
const TOAST_MS = 12_000

export function createLog(client: PluginInput["client"] | undefined): Log {
  const said = new Set<string>()
  const waiting: string[] = []
  let attended = false
  const once = (level: Level, message: string): boolean => {
    // a line feed would begin a line that nobody wrote
    const line = cut(redact(message.replace(ACTIVE, " ").replaceAll("\n", " ")), LONGEST)
    if (said.has(line) || said.size >= MOST) return false
    said.add(line)
    // OpenCode 1.18 leaves the service out of its log file, so the line has to name us itself
    send(() => client?.app?.log({ body: { service: "opencode-hudfold", level, message: `hudfold: ${line}` } }))
    return true
  }
  const toast = () => {
    // one toast for all: a second one would take the first one's place
    const message = cut(redact(waiting.splice(0).join("\n").replace(ACTIVE, " ")), LONGEST_TOAST)
    const body = { title: "opencode-hudfold", message, variant: "warning" as const, duration: TOAST_MS }
    if (message) send(() => client?.tui?.showToast({ body }))
  }
  return {
    say: (level, message) => void once(level, message),
    warnUser(message) {
      if (!once("warn", message)) return
      waiting.push(message)
      if (attended) toast()
    },
    attend() {
      if (attended) return
      attended = true
      toast()
    },
  }
}

/** A log that fails has nowhere to say so. */
function send(call: () => Promise<unknown> | undefined): void {
  try {
    void call()?.catch(() => {})
  } catch {}
}
