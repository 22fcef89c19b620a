// The folds of one call: what is decided anew, what stays as it is, and what the next report is to be held against.

import type { ToolEvent } from "../event.ts"
import type { HostMessage } from "../host.ts"
import { contextNow } from "../hud/sections.ts"
import type { ModelName } from "../hud/slots.ts"
import type { Ledger } from "../ledger/ledger.ts"
import { digestKey, type Env } from "../normalize.ts"
import { knownTariff, newAccount, requestTokens, settleCall } from "./account.ts"
import { type Applied, both, planApply } from "./apply.ts"
import { cachedEntries } from "./cached.ts"
import { blocksOf } from "./candidates.ts"
import { type Fold, tokensSent } from "./fold.ts"
import { addFolds, type Folding, foldsOf, refuse } from "./folding.ts"
import { planFolds } from "./plan.ts"
import { quotedParts } from "./quotes.ts"
import type { Tariff } from "./tariff.ts"

export type FoldCircumstances = {
  nowMs: number
  /** the model the call goes to */
  model?: ModelName
  /** the size at which OpenCode compacts, in tokens; absent when it never does or the limits are unknown */
  compactsAt?: number
  tariff: Tariff
  /** the user paused folding: only what must be is folded */
  foldingPaused?: boolean
}

export type FoldPlan = {
  /** decided for this call */
  folded: readonly Fold[]
  /** keys of the digests that stand in them: a better one comes too late for this session */
  digested: readonly string[]
  applied: Applied
  /** Remembers what was sent, once it is. */
  remember(hudTokens: number): void
}

export function prepareFolds(
  messages: readonly HostMessage[],
  { ledger, folding }: { ledger: Ledger; folding: Folding },
  around: FoldCircumstances,
  options: { isProtected(event: ToolEvent): boolean },
  env: Env,
): FoldPlan {
  const { facts, entries } = ledger
  const model = around.model ? `${around.model.providerID}/${around.model.modelID}` : ""
  const last = entries.findLast(({ call }) => call)
  // what one provider's cache held says nothing of another's
  const before = folding.sent && folding.sent.model !== model ? newAccount() : folding.account
  const account = last?.usage ? settleCall(before, facts.calls, last.usage, facts.ratio, around.tariff) : before
  const tariff = knownTariff(around.tariff, account)
  const standing = planApply(messages, folding.folds)
  const quotedAt = quotes(messages, ledger, folding)
  const unfolded = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const sentTokens = unfolded - standing.savedTokens
  const contextTokens = requestTokens(account, contextNow(facts)?.tokens ?? 0, sentTokens)
  const isCached = contextTokens >= tariff.minimumTokens
  const cached = isCached ? cachedEntries(entries, folding, tariff, model, around.nowMs) : 0
  const decisions = planFolds({
    entries,
    facts,
    folds: folding.folds,
    tariff,
    cachedEntries: cached,
    sentTokens,
    contextTokens,
    ...(around.compactsAt === undefined ? {} : { compactsAt: around.compactsAt }),
    quotedAt,
    isProtected: (event) => folding.refused.has(event.partID) || options.isProtected(event),
    stopped: around.foldingPaused === true || account.stopped !== undefined,
  })
  const folded = foldsOf(decisions, messages, folding, facts.calls + 1, env)
  const applied = folded.length
    ? both(standing, planApply(messages, new Map(folded.map((fold) => [fold.partID, fold]))))
    : standing
  return {
    folded,
    digested: decisions.map(({ event }) => digestKey(event.inputHash, event.outputHash ?? "")),
    applied,
    remember(hudTokens) {
      const changed = new Set(folded.map(({ messageID }) => messageID))
      const broken = changed.size ? entries.findIndex(({ id }) => changed.has(id)) : -1
      addFolds(folding, folded)
      for (const { event } of decisions) if (!folding.folds.has(event.partID)) refuse(folding, event.partID)
      // a fold so far back that the prefix before it is not looked for was reckoned as all sent anew
      const isFound = blocksOf(entries.slice(broken)) <= (tariff.lookback ?? Number.POSITIVE_INFINITY)
      const from = broken < 0 ? cached : isFound ? Math.min(cached, broken) : 0
      const freshTokens = hudTokens + tokensFrom(ledger, folding, from)
      folding.quotedAt = quotedAt
      folding.account = {
        ...account,
        expected: {
          call: facts.calls + 1,
          sentTokens: unfolded - applied.savedTokens,
          freshTokens,
          folded: applied.outputs,
        },
      }
      folding.sent = { ids: entries.map(({ id }) => id), atMs: around.nowMs, model }
    },
  }
}

/** Estimated tokens of the entries from one on, as they go out. */
function tokensFrom({ entries }: Ledger, { folds }: Folding, from: number): number {
  return entries.slice(from).reduce((sum, entry) => sum + tokensSent(entry, folds), 0)
}

/** Quotes remembered; what was quoted long before was touched long ago. */
const MOST_QUOTED = 200

function quotes(messages: readonly HostMessage[], { facts, entries }: Ledger, folding: Folding): Map<string, number> {
  const first = entries[folding.sent?.ids.length ?? entries.length]
  const from = first ? messages.findLastIndex(({ info }) => info.id === first.id) : -1
  if (from < 0) return folding.quotedAt
  const quoted = quotedParts(messages, from, (partID) => !folding.folds.has(partID))
  if (quoted.length === 0) return folding.quotedAt
  const all = [...folding.quotedAt, ...quoted.map((partID) => [partID, facts.calls] as const)]
  return new Map(all.slice(-MOST_QUOTED))
}
