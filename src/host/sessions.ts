// Everything the hooks remember: one record per session, created when the session is first seen. Their number and total size
// are bounded.

import { NOTHING_FOLDED } from "../fold/fold.ts"
import type { HudContext } from "../hud/sections.ts"
import { newSessionState } from "../request/request.ts"
import type { ModelName } from "../session/conversation.ts"
import type { Env } from "../session/tool-event.ts"
import { dropOldest, renew } from "../system/values.ts"
import { newAccount } from "./accounting.ts"

export type Session = ReturnType<typeof newSession>

function newSession(id: string, env: Env) {
  return {
    ...newSessionState(env),
    id,
    /** the model OpenCode last called for the session, and the model that its messages named at that time */
    called: undefined as { named: string; model: ModelName } | undefined,
    /** what an earlier process stored has been loaded, or there is nothing to load */
    restored: false,
    /** the loading, once it has started */
    restoring: undefined as Promise<unknown> | undefined,
    /** the user has deleted it: what still waits must write nothing of it */
    deleted: false,
    /** OpenCode is about to compact: the next array is the transcript to be summarised */
    compacting: false,
    /** steps and outputs that the last request sent folded, and the tokens saved by that */
    shown: NOTHING_FOLDED,
    /** that request's `early`, as its HUD's context had it */
    early: undefined as HudContext["early"],
    /** the session's own rules, which a client of OpenCode's API may give it, deny `hud_recall` */
    deniesRecall: false,
    /** the session that started this one as a subagent */
    parentID: undefined as string | undefined,
    /** when the user asked for the folds that were made last, in epoch ms */
    fulfilledMs: undefined as number | undefined,
    /** what the plugin cost and saved in the session */
    account: newAccount(),
  }
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
  return {
    /** The session's record, created if there is none. */
    get(id: string): Session {
      const session = sessions.get(id) ?? newSession(id, env)
      renew(sessions, id, session, MAX_SESSIONS)
      const isSpared = (one: Session) => one === session || one.account.turn.startedMs > 0
      dropOldest(sessions, MAX_RECORDS, ({ ledger }) => ledger.size, isSpared)
      return session
    },
    /** The record if there is one. */
    peek: (id: string): Session | undefined => sessions.get(id),
    delete(id: string): void {
      const session = sessions.get(id)
      if (session) session.deleted = true
      sessions.delete(id)
    },
  }
}
