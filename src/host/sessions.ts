// Everything the hooks remember: one record per session, created when the session is first seen. Their number and total size
// are bounded.

import { type AppliedFolds, NOTHING_FOLDED } from "../fold/fold.ts"
import type { HudContext } from "../hud/sections.ts"
import { newSessionState, type SessionState } from "../request/request.ts"
import type { ModelName } from "../session/conversation.ts"
import type { Env } from "../session/normalize.ts"
import { renew } from "../system/values.ts"
import { type Account, newAccount } from "./accounting.ts"

export type Session = SessionState & {
  id: string
  /** the model OpenCode last called for the session, and the model that its messages named at that time */
  called?: { named: string; model: ModelName }
  /** what an earlier process stored has been loaded, or there is nothing to load */
  restored: boolean
  /** loading has started */
  restoring: boolean
  /** how often the messages hook was called */
  requests: number
  /** OpenCode is about to compact: the next array is the transcript to be summarised */
  compacting: boolean
  /** steps and outputs that the last request sent folded, and the tokens saved by that */
  shown: AppliedFolds
  /** that request's `early`, as its HUD's context had it */
  early: HudContext["early"]
  /** the session that started this one as a subagent */
  parentID?: string
  /** when the user asked for the folds that were made last, in epoch ms */
  fulfilledMs?: number
  /** what the plugin cost and saved in the session */
  account: Account
}

export type Sessions = ReturnType<typeof createSessions>

/** Sessions kept in memory. The least recently used one is dropped; its facts can be derived from its messages again. */
const MAX_SESSIONS = 100
/**
 * Records of all sessions together, as `Ledger.size` counts them: about 50 MB. Beyond that idle sessions are dropped, but
 * never a busy one: reading a session of 20,000 tool parts again takes a second.
 */
const MAX_RECORDS = 100_000

export function createSessions(env: Env) {
  const sessions = new Map<string, Session>()
  const begin = (id: string): Session => ({
    ...newSessionState(env),
    id,
    restored: false,
    restoring: false,
    requests: 0,
    compacting: false,
    shown: NOTHING_FOLDED,
    early: undefined,
    account: newAccount(),
  })
  function makeRoom(spared: string): void {
    let kept = 0
    for (const { ledger } of sessions.values()) kept += ledger.size
    for (const [id, { ledger, account }] of sessions) {
      if (kept <= MAX_RECORDS) return
      if (id === spared || account.turn.startedMs > 0) continue
      sessions.delete(id)
      kept -= ledger.size
    }
  }

  return {
    /** The session's record, created if there is none. */
    get(id: string): Session {
      const session = sessions.get(id) ?? begin(id)
      renew(sessions, id, session, MAX_SESSIONS)
      makeRoom(id)
      return session
    },
    /** The record if there is one. */
    peek: (id: string): Session | undefined => sessions.get(id),
    delete: (id: string): void => void sessions.delete(id),
  }
}
