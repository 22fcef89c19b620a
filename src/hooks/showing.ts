// A session as people are shown it: the status made from the closure state. Looks only.

import manifest from "../../package.json" with { type: "json" }
import type { Circumstances } from "../core/call.ts"
import type { Fold } from "../core/fold/fold.ts"
import { hudNow } from "../core/hud/hud.ts"
import { contextNow, openFailures } from "../core/hud/sections.ts"
import type { Usage } from "../core/ledger/entry.ts"
import { contextTokens, heatRank, isStale } from "../core/ledger/facts.ts"
import { isChangedOutside } from "../core/ledger/signals.ts"
import { addSaving, savedShare } from "../core/saving.ts"
import { line } from "../core/text.ts"
import type { Options } from "../options.ts"
import {
  type Activity,
  type FoldStatus,
  MOST_FAILURES,
  MOST_FOLDS,
  MOST_STALE,
  STATUS_VERSION,
  type Status,
  TREND,
  type WriterStatus,
} from "../status/status.ts"
import type { Switches } from "../status/switches.ts"
import type { Session } from "./sessions.ts"
import { savingIn } from "./turn.ts"

export type Surroundings = {
  options: Options
  directory: string
  around: Circumstances
  switches: Switches
  writer: WriterStatus
  nowMs: number
}

export function statusOf(session: Session, surroundings: Surroundings): Status {
  const { options, directory, around, switches, writer, nowMs } = surroundings
  const { facts, entries } = session.ledger
  const reports = [...entries.flatMap(({ call, usage }) => (call && usage ? [usage] : [])), ...unread(session)]
  const last = reports.at(-1)
  const now = contextOf(session)
  const saving = addSaving(session.account.earlier, savingIn(session.turn))
  const { model, contextLimit, compactsAt, tariff } = around
  return {
    version: STATUS_VERSION,
    plugin: manifest.version,
    sessionID: session.id,
    directory,
    pid: process.pid,
    writtenMs: nowMs,
    calls: callsOf(session),
    ...(model ? { model: `${model.providerID}/${model.modelID}` } : {}),
    context: {
      tokens: now.tokens,
      estimated: now.estimated,
      ...(contextLimit === undefined ? {} : { limit: contextLimit }),
      ...(compactsAt === undefined ? {} : { compactsAt }),
      ...(last?.cacheRead ? { cachedShare: last.cacheRead / contextTokens(last) } : {}),
      trend: reports.slice(-TREND).map(contextTokens),
      compactions: facts.compactions,
    },
    saved: {
      tokens: Math.round(saving.tokens),
      share: savedShare(saving),
      ...(tariff.usdPerMillion > 0 ? { usd: saving.usd } : {}),
      calls: saving.calls,
    },
    hud: hudOf(session, surroundings),
    folding: {
      activity: activity(options.fold.enabled, switches.folding),
      ...(session.folding.account.stopped === undefined ? {} : { stopped: session.folding.account.stopped }),
      ...session.shown,
      recalls: session.account.earlierRecalls + session.turn.recalls,
      newest: newest(session.folding.folds),
    },
    failures: openFailures(facts)
      .slice(0, MOST_FAILURES)
      .map(({ key, detail, since, times }) => ({ what: line(key), detail, since, times })),
    stale: staleOf(session),
    writer,
  }
}

/** The newest report where the ledger has not read it yet: it reads before a call, not after. */
function unread({ account, ledger }: Session): Usage[] {
  const { reported } = account
  return reported && !ledger.entries.some(({ id, usage }) => id === reported.id && usage) ? [reported.usage] : []
}

function callsOf(session: Session): number {
  return session.ledger.facts.calls + unread(session).length
}

function contextOf(session: Session): { tokens: number; estimated: boolean } {
  const [newer] = unread(session)
  if (newer) return { tokens: contextTokens(newer) + newer.output, estimated: false }
  return contextNow(session.ledger.facts) ?? { tokens: 0, estimated: true }
}

function hudOf(session: Session, { options, around, switches }: Surroundings): Status["hud"] {
  const { agent } = session.ledger.facts
  const isOff = agent !== undefined && options.disabledAgents.includes(agent)
  const is = activity(options.hud.enabled && !isOff, switches.hud)
  if (is !== "on") return { activity: is, tokens: 0 }
  const hud = hudNow(
    session.ledger.facts,
    session.signals,
    {
      ...(around.contextLimit === undefined ? {} : { contextLimit: around.contextLimit }),
      folded: session.shown,
    },
    options.hud,
    session.hud,
    callsOf(session) + 1,
  )
  return { activity: is, ...(hud ? { text: hud.text } : {}), tokens: hud?.tokens ?? 0 }
}

function activity(isEnabled: boolean, switched: Switches["hud"]): Activity {
  return isEnabled ? switched : "off"
}

function newest(folds: ReadonlyMap<string, Fold>): FoldStatus[] {
  return [...folds.values()]
    .sort((a, b) => Number(b.id.slice(1)) - Number(a.id.slice(1)))
    .slice(0, MOST_FOLDS)
    .map(({ id, what, reason, because, call, tokens, textTokens, messageID, partID, side }) => ({
      ...{ id, what, reason, because, call, tokens, textTokens, messageID, partID, side },
    }))
}

/** The likeliest to be touched next first. */
function staleOf({ ledger: { facts }, signals }: Session): Status["stale"] {
  return [...facts.files.values()]
    .filter((file) => !file.deleted && (isStale(file) || isChangedOutside(file, signals)))
    .sort((a, b) => heatRank(b) - heatRank(a))
    .slice(0, MOST_STALE)
    .map((file) => ({
      path: line(file.path),
      why: isChangedOutside(file, signals) ? "changed on disk since read" : "edited since read",
    }))
}
