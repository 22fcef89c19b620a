// A session resumed in a new process: what the message array cannot give back comes from the store, once.

import { addFolds } from "../fold/folding.ts"
import { isFoldText } from "../fold/words.ts"
import { isHud } from "../hud/render.ts"
import { readCarried } from "../session/carry.ts"
import { addEarlier } from "./account.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"

/** Past any number that folding comes to; from a larger one on ids would repeat, or not be understood. */
const HIGHEST = 1e14

/**
 * Takes back the folds, the sticky slot's texts and what a compaction carried. Undefined when there is nothing to wait
 * for; else the request waits: one that went out without its folds would be sent anew from the first of them on. It is
 * waited for once; when the store is later than that, so is what it gives back.
 */
export function restore(context: HookContext, session: Session): Promise<void> | undefined {
  const opening = session.restoring ? undefined : context.store.opening()
  if (session.restored || !opening) return
  session.restoring = true
  return opening.then(async (store) => {
    const folds = await store.loadFolds(session.id)
    const lastNumber = await store.lastFold(session.id)
    const turns = await store.turns(session.id)
    if (session.restored) return
    session.restored = true
    const folding = addFolds(session.folding, folds.filter(isFoldText))
    session.folding = { ...folding, lastNumber: Math.max(folding.lastNumber, Math.min(lastNumber, HIGHEST)) }
    addEarlier(session.account, turns)
    const anchors = store.loadAnchors().get(session.id)
    if (anchors?.length && anchors.every(({ text }) => isHud(text)) && !session.hud.shown)
      session.hud = { ...session.hud, shown: true, anchors }
    const carried = store.loadCarried().get(session.id)
    const facts = carried && readCarried(carried.data)
    if (facts) session.ledger.restore({ compactionID: carried.compactionID, facts })
  })
}
