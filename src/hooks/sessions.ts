// The closure state: one record per session, made when a session is first seen and bounded in number. Everything the
// hooks remember lives here.

import { renew } from "../core/bounded.ts"
import { type Conversation, newConversation } from "../core/call.ts"
import type { ModelName } from "../core/hud/slots.ts"
import type { Env } from "../core/normalize.ts"
import { newSessionAccount, type SessionAccount } from "./account.ts"
import { newTurn, type TurnCount } from "./turn.ts"

export type Session = Conversation & {
  id: string
  /** the model OpenCode last called for the session, and the one its messages named then */
  called?: { named: string; model: ModelName }
  /** what an earlier process left in the store was looked for */
  restored: boolean
  /** it is being looked for */
  restoring: boolean
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

export function createSessions(env: Env): Sessions {
  const sessions = new Map<string, Session>()
  const begin = (id: string): Session => ({
    ...newConversation(env),
    id,
    restored: false,
    restoring: false,
    compacting: false,
    turn: newTurn(),
    shown: { outputs: 0, savedTokens: 0 },
    account: newSessionAccount(),
  })
  return {
    get(id) {
      const session = sessions.get(id) ?? begin(id)
      renew(sessions, id, session, MOST)
      return session
    },
    peek: (id) => sessions.get(id),
    delete: (id) => void sessions.delete(id),
  }
}
