// A session's status, as the panel and `hudfold status` show it, made from the session's state without changing it.

import manifest from "../../package.json" with { type: "json" }
import { cachedByStart, type Fold, type Folds, outputFold, savedTokens, withEpisodes } from "../fold/fold.ts"
import { keptSteps } from "../fold/kept.ts"
import { recordOf } from "../fold/record.ts"
import { paidUsd, savedOfBill } from "../fold/saving.ts"
import { currentHud, type HudSource } from "../hud/hud.ts"
import { openFailures } from "../hud/sections.ts"
import { isDisabledFor } from "../request/request.ts"
import { modelKey, type Usage } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { contextNow, contextTokens, stateOf } from "../session/facts.ts"
import { type EpisodeStatus, type FoldStatus, STATUS_VERSION, type Status } from "../status/status.ts"
import { redact, redactLine } from "../text/redact/redact.ts"
import { line } from "../text/sanitize.ts"
import { sessionSaving } from "./accounting.ts"
import type { HookContext } from "./context.ts"
import { modelOf } from "./models.ts"
import type { Session } from "./sessions.ts"

export const MAX_STATUS_FOLDS = 200
const MAX_EPISODES = 50
/** Steps listed in all episodes together. */
export const MAX_STATUS_STEPS = 300
/** Size of one record, and of all together, in characters. */
export const MAX_STATUS_RECORD = 20_000
const MAX_RECORDS = 100_000
const MAX_FAILURES = 20
const MAX_STALE = 20

export function statusOf(session: Session, context: HookContext): Status {
  const { options, requestOptions, directory, digests, models, publisher } = context
  const { facts: read, entries } = session.ledger
  const unread = unreadOf(session)
  const facts = unread ? { ...read, usage: unread, unreported: unread.output / read.ratio } : read
  const calls = facts.calls + (unread ? 1 : 0)
  const last = unread ?? entries.findLast(({ kind, usage }) => kind === "step" && usage)?.usage
  const now = contextNow(facts, session.shown) ?? { tokens: 0, estimated: true }
  const nowMs = Date.now()
  const switches = publisher.switches(session.id)
  const { model, contextLimit, compactsAt, pricing } = models.circumstances(modelOf(session), nowMs)
  const { turn, finished, subagents } = session.account
  const saving = sessionSaving(session.account, pricing, models.pricing)
  const paid = paidUsd(saving, pricing)
  const savedUsd = pricing.freeReads ? ((saving.costWithout - saving.cost) * pricing.usdPerMillion) / 1e6 : saving.usd
  const isLeftAlone = isDisabledFor(facts.agent, options)
  const activity = options.hud.enabled && !isLeftAlone ? switches.hud : "off"
  const { shown: folded, early } = session
  const { folds } = session.folding
  // the folded start ends before a step that is not folded, so no episode is in both
  const [ofStart, rest] = episodesOfStart(entries, folds)
  const sentTokens = sum(entries, ({ tokens }) => tokens) - folded.savedTokens
  const source = { ...session, facts, context: { contextLimit, early, folded, sentTokens }, options: options.hud }
  return {
    version: STATUS_VERSION,
    plugin: manifest.version,
    sessionID: session.id,
    parentID: session.parentID,
    directory,
    pid: process.pid,
    writtenMs: nowMs,
    calls,
    model: model && line(modelKey(model)),
    context: {
      ...now,
      limit: contextLimit,
      compactsAt,
      cachedShare: last?.cacheRead ? last.cacheRead / contextTokens(last) : undefined,
      compactions: facts.compactions,
    },
    saved: {
      tokens: Math.round(saving.tokens),
      share: savedOfBill(saving, pricing),
      usd: paid === undefined ? undefined : savedUsd,
      paidUsd: paid,
      freeReads: pricing.freeReads,
      calls: saving.calls,
      subagentCalls: sum(subagents, ({ calls }) => calls) || undefined,
      billing: pricing.billing,
    },
    // a paused one is what there is to show as soon as it is resumed
    hud: { activity, ...(activity === "off" ? { tokens: 0 } : shownHud(source, calls + 1)) },
    folding: {
      activity: options.fold.enabled && !isLeftAlone ? switches.folding : "off",
      stopped: session.folding.calibration.stopped,
      ...session.shown,
      recalls: turn.recalls + sum(finished, ({ recalls }) => recalls),
      newest: newestOutputs(rest, folds),
      episodes: newestEpisodes([...ofStart, ...episodesIn(rest, folds)]),
      kept: keptSteps({ ...session, entries, facts, isProtected: requestOptions.isProtected }),
    },
    failures: openFailures(facts, session.signals)
      .slice(0, MAX_FAILURES)
      .map(({ key, detail, since, times }) => ({ what: line(key), detail, since, times })),
    stale: staleOf(session),
    writer: digests.writer(),
  }
}

function sum<T>(values: readonly T[], numberOf: (value: T) => number): number {
  return values.reduce((total, value) => total + numberOf(value), 0)
}

/** The newest report, if the ledger has not read it yet: the ledger reads before a call, not after it. */
function unreadOf({ account: { reported }, ledger }: Session): Usage | undefined {
  if (!reported || reported.isRead) return
  return ledger.entries.some(({ id, usage }) => id === reported.id && usage) ? undefined : reported.usage
}

function shownHud(source: HudSource, call: number) {
  const hud = currentHud(source, call)
  // the agent has seen these file names, but a secret in one must not end up in a file on disk
  const text = hud?.text.split("\n").map(redact).join("\n")
  return { text, tokens: hud?.tokens ?? 0 }
}

/** Those of messages that a compaction or an undo removed have no effect. */
function newestOutputs(entries: readonly Entry[], folds: Folds): FoldStatus[] {
  return entries
    .flatMap(({ id, events }) => events.flatMap((event) => outputFold(folds, id, event) ?? []))
    .reverse()
    .sort((a, b) => b.call - a.call)
    .slice(0, MAX_STATUS_FOLDS)
    .map(shownFold)
}

function episodesIn(entries: readonly Entry[], folds: Folds): Fold[][] {
  const sent = entries.filter(({ blocks }) => blocks > 0)
  return withEpisodes(sent, folds).filter((item) => Array.isArray(item))
}

const episodesOfStart = cachedByStart(episodesIn)

function newestEpisodes(episodes: readonly Fold[][]): EpisodeStatus[] {
  let left = MAX_STATUS_STEPS
  let leftChars = MAX_RECORDS
  return episodes
    .slice(-MAX_EPISODES)
    .reverse()
    .map((steps) => {
      const listed = left > 0 ? steps.slice(-left) : []
      left -= listed.length
      const record = recordOf(steps).slice(0, Math.min(MAX_STATUS_RECORD, leftChars))
      leftChars -= record.length
      return {
        from: steps[0]?.step ?? 0,
        to: steps.at(-1)?.step ?? 0,
        count: steps.length,
        savedTokens: sum(steps, savedTokens),
        record,
        steps: listed.map(shownFold),
      }
    })
}

function shownFold({ hash: _, text: __, ...shown }: Fold): FoldStatus {
  return shown
}

/** Stale files, those used last first. */
function staleOf({ ledger: { facts }, signals }: Session): Status["stale"] {
  const stale = [...facts.files.values()].reverse().flatMap((file) => {
    const state = stateOf(file, signals)
    const why = state === "edited" && file.editedAt > file.readAt ? "edited since read" : state
    return why === "edited since read" || why === "changed on disk since read"
      ? [{ path: file.path, why } as const]
      : []
  })
  return stale.slice(0, MAX_STALE).map(({ path, why }) => ({ path: redactLine(path), why }))
}
