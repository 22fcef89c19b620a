// The closure state: one record per session, made when a session is first seen and bounded in number. Everything the
// hooks remember lives here.

import { newSessionState, type SessionState } from "../request/request.ts"
import type { ModelName } from "../session/conversation.ts"
import type { Env } from "../session/normalize.ts"
import { renew } from "../system/values.ts"
import { newSessionAccount, type SessionAccount } from "./account.ts"
import { newTurn, type TurnCount } from "./turn.ts"

export type Session = SessionState & {
  id: string
  /** the model OpenCode last called for the session, and the one its messages named then */
  called?: { named: string; model: ModelName }
  /** what an earlier process left in the store was looked for */
  restored: boolean
  /** it is being looked for */
  restoring: boolean
  /** requests that the messages hook was called for */
  requests: number
  /** OpenCode is about to ask for a compaction: the next array is the summariser's */
  compacting: boolean
  /** the account of the turn that runs */
  turn: TurnCount
  /** outputs that went out folded with the last request, and the tokens that left out */
  shown: { outputs: number; savedTokens: number }
  /** what the plugin saved in it */
  account: SessionAccount
}

export type Sessions = {
  /** The session's record; a new one when it was never seen or was long forgotten. */
  get(id: string): Session
  /** The record if there is one. */
  peek(id: string): Session | undefined
  delete(id: string): void
}

/** Sessions kept in memory; the least recently used goes first. Its facts come back from its messages. */
const MOST = 100
/**
 * What they keep together, as `Ledger.size` counts it: some 50 MB. Beyond it sessions at rest go, since to read one of
 * 20,000 tool parts anew takes a second.
 */
const MOST_KEPT = 100_000

export function createSessions(env: Env): Sessions {
  const sessions = new Map<string, Session>()
  const begin = (id: string): Session => ({
    ...newSessionState(env),
    id,
    restored: false,
    restoring: false,
    requests: 0,
    compacting: false,
    turn: newTurn(),
    shown: { outputs: 0, savedTokens: 0 },
    account: newSessionAccount(),
  })
  function makeRoom(spared: string): void {
    let kept = 0
    for (const { ledger } of sessions.values()) kept += ledger.size
    for (const [id, { ledger, turn }] of sessions) {
      if (kept <= MOST_KEPT) return
      if (id === spared || turn.startedMs > 0) continue
      sessions.delete(id)
      kept -= ledger.size
    }
  }

  return {
    get(id) {
      const session = sessions.get(id) ?? begin(id)
      renew(sessions, id, session, MOST)
      makeRoom(id)
      return session
    },
    peek: (id) => sessions.get(id),
    delete: (id) => void sessions.delete(id),
  }
}
