// Watches the status files. Listeners are called when a session's files are written; what they draw decides whether that is
// a change. The files are polled: events of a watched folder get lost, and some file systems have none. Not with watchFile:
// what is written before its first look is no change to it.

import { setTimeout as delay } from "node:timers/promises"
import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { filesOf, readStatus, readSwitches } from "../status/files.ts"
import type { Status, Switches } from "../status/status.ts"
import { withoutProcess, withSwitches } from "../status/words.ts"
import { fileStamp } from "../system/private-folder.ts"
import { isRunning } from "../system/process.ts"

/** `status`: with the switches applied */
export type SessionSnapshot = { status: Status | undefined; switches: Switches }

export type SessionWatch = ReturnType<typeof watchSessions>

const POLL_MS = 250

/** Watches nothing before the first session is followed. Never throws; `report` gets the errors of listeners. */
export function watchSessions(folder: string, report: (cause: unknown) => void) {
  const closed = new AbortController()

  async function poll(sessionID: string, listener: (state: SessionSnapshot) => void, end: AbortSignal): Promise<void> {
    for (let seen: string | undefined; !end.aborted; ) {
      const found = (await Promise.all(filesOf(folder, sessionID).map(fileStamp))).join()
      // what is written while it is read shows at the next look
      const state = found === seen ? undefined : await readSessionSnapshot(folder, sessionID)
      seen = found
      try {
        if (state && !end.aborted) listener(state)
      } catch (cause) {
        report(cause)
      }
      await delay(POLL_MS, undefined, { signal: end, ref: false }).catch(() => {})
    }
  }
  return {
    /** Calls the listener soon, and whenever the session's files were written. Returns what ends it. */
    follow: (sessionID: string, listener: (state: SessionSnapshot) => void): (() => void) => {
      const end = new AbortController()
      void poll(sessionID, listener, AbortSignal.any([end.signal, closed.signal]))
      return () => end.abort()
    },
    close: (): void => closed.abort(),
  }
}

/** What the files of a session say now. Never rejects. */
export async function readSessionSnapshot(folder: string, sessionID: string): Promise<SessionSnapshot> {
  const switches = readSwitches(folder, sessionID)
  const written = await readStatus(folder, sessionID)
  const status = written && withSwitches(written, switches)
  return { status: status && !isRunning(status.pid) ? withoutProcess(status) : status, switches }
}

/** Longer than a status can be behind the call it is about. */
const BEHIND_MS = 10_000

/** Leaves out the status of a process that had ended before the last call: the plugin was not there then. */
export function withoutOutdated(state: SessionSnapshot, sessionID: string, api: Pick<TuiPluginApi, "state">) {
  const { pid = process.pid, writtenMs = 0 } = state.status ?? {}
  if (isRunning(pid)) return state
  const calls = api.state.session.messages(sessionID).filter((one) => one.role === "assistant")
  const isMissed = calls.some(
    ({ summary, tokens, time }) => !summary && tokens?.output > 0 && Number(time?.completed) > writtenMs + BEHIND_MS,
  )
  return isMissed ? { ...state, status: undefined } : state
}
