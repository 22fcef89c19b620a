// Replays a recorded session and collects what the report shows of it.

import type { Fold } from "../fold/fold.ts"
import type { Pricing } from "../fold/pricing.ts"
import type { Saving } from "../fold/saving.ts"
import type { Charge } from "../replay/bill.ts"
import type { ReplayOptions } from "../replay/calls.ts"
import { type CallReplayed, replaySession } from "../replay/replay.ts"
import { isResult, type Piece, piecesByMessage, sumTokens } from "../replay/request.ts"
import type { Message } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import { type Env, nameOf, normalize } from "../session/normalize.ts"
import { messageAt } from "../session/recorded.ts"
import { defined } from "../system/values.ts"
import { redact, redactLine } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import type { ContentCost, ReportedCall, ReportedFold, SessionReport } from "./report.ts"

type ReplayedRecording = {
  id: string
  title: string
  /** the project's folder */
  directory?: string | undefined
  skipped: number
  messages: readonly Message[]
  /** what the plugin saved when it ran in the session */
  ran: Saving | undefined
}

const MAX_TITLE_CHARS = 200
const MAX_NAME_CHARS = 110
/** Length of one line of a record; few are longer than a third of this. */
const MAX_LINE_CHARS = 1000
/** Shown for one call of the model. */
const MAX_TOOL_CALLS = 40

/** `onCall` is called after each call. */
export function reportSession(
  { id, title, directory = "", skipped, messages, ran }: ReplayedRecording,
  options: ReplayOptions,
  env: Env,
  onCall?: (done: CallReplayed) => void,
): SessionReport {
  const calls: ReportedCall[] = []
  const folds: ReportedFold[] = []
  const models = new Set<string>()
  const costs = newCosts()
  let startMs = 0
  let seconds = 0

  const onReplayed = (done: CallReplayed) => {
    const { nowMs, wrote, price, without, with: sent, pieces, call } = done
    if (isTime(nowMs)) {
      startMs ||= nowMs
      seconds = Math.max(0, Math.round((nowMs - startMs) / 1000))
    }
    if (price.name !== "") models.add(clean(price.name, MAX_NAME_CHARS))
    calls.push({ seconds, ...reportedCall(done, env) })
    folds.push(...(call?.newFolds ?? []).map(reportedFold))
    costs.sent("without", pieces.without, without, price.pricing)
    costs.sent("with", pieces.with, sent, price.pricing)
    costs.wrote(messageAt(wrote, nowMs))
    onCall?.(done)
  }
  const replay = replaySession(messages, options, env, onReplayed, ran)
  return {
    id: clean(id, MAX_NAME_CHARS),
    title: clean(title, MAX_TITLE_CHARS) || clean(id, MAX_NAME_CHARS),
    project: clean(directory.split(/[/\\]/).findLast((name) => name !== "") ?? "", MAX_NAME_CHARS),
    models: [...models],
    replay: { ...replay, subagents: replay.subagents.map((one) => clean(one, MAX_NAME_CHARS)) },
    ...{ skipped, startMs, calls, folds },
    costs: costs.list().map(rounded),
  }
}

function reportedCall(
  { number, nowMs, wrote, price, call, recallCost, compaction, ...charges }: CallReplayed,
  env: Env,
): Omit<ReportedCall, "seconds"> {
  const { usage } = wrote
  const sizeOf = ({ tokens, cachedTokens }: Charge) => ({ tokens, cached: cachedTokens })
  const saved = charges.without.cost - charges.with.cost - recallCost
  return {
    without: sizeOf(charges.without),
    with: sizeOf(charges.with),
    saved: Math.round(saved),
    used: usedIn(messageAt(wrote, nowMs), number, env),
    ...defined({
      reported: usage && { tokens: contextTokens(usage), cached: usage.cacheRead },
      savedUsd: price.usdPerToken === undefined ? undefined : Number((saved * price.usdPerToken).toFixed(6)),
      // redacted when it was made; text that is written to a file is redacted once more
      hud: call?.hud && { text: call.hud.text.split("\n").map(redact).join("\n"), tokens: call.hud.tokens },
      compaction,
    }),
  }
}

function rounded(cost: ContentCost): ContentCost {
  const { tool, without, with: sent } = cost
  return { ...cost, tool: clean(tool, MAX_NAME_CHARS), without: Math.round(without), with: Math.round(sent) }
}

/** Whether it is a valid date; an export may contain anything. */
function isTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms > 0 && !Number.isNaN(new Date(ms).getTime())
}

function reportedFold(fold: Fold): ReportedFold {
  const { partID: _, messageID: __, hash: ___, ...shown } = fold
  const lines = shown.text.split("\n").map((one) => clean(one, MAX_LINE_CHARS))
  return {
    ...shown,
    what: clean(shown.what, MAX_NAME_CHARS),
    because: clean(shown.because, MAX_NAME_CHARS),
    cut: clean(shown.cut, MAX_NAME_CHARS),
    text: lines.join("\n"),
    tokens: Math.round(shown.tokens),
    textTokens: Math.round(shown.textTokens),
  }
}

function usedIn(message: Message, call: number, env: Env): ReportedCall["used"] {
  const place = { messageID: "", call, root: message.root ?? env.root }
  const tools = message.parts.filter((part) => part.type === "tool").slice(0, MAX_TOOL_CALLS)
  return tools.map((part) => {
    const event = normalize(part, place, env)
    const name = clean(nameOf(event), MAX_NAME_CHARS)
    return event.error === undefined && event.failure === undefined ? { name } : { name, failed: true }
  })
}

function clean(text: string, maxChars: number): string {
  return cut(redactLine(text), maxChars)
}

/** Adds up what each tool and each kind of text costs while a session is replayed. */
function newCosts() {
  const costs = new Map<string, ContentCost>()
  const of = (kind: ContentCost["kind"], tool = "") => {
    const key = `${kind} ${tool}`
    const cost = costs.get(key) ?? { kind, tool, calls: 0, inputTokens: 0, outputTokens: 0, without: 0, with: 0 }
    costs.set(key, cost)
    return cost
  }
  const ofPiece = (piece: Piece) => of(kindOf(piece), piece.tool)
  return {
    /** Counts a request. The cache holds its beginning; what comes before the pieces is the plugin's notice. */
    sent(side: "without" | "with", pieces: readonly Piece[], { tokens, cachedTokens }: Charge, pricing: Pricing): void {
      let cached = cachedTokens
      const add = (cost: ContentCost, tokens: number) => {
        const read = Math.min(cached, tokens)
        cached -= read
        cost[side] += read * pricing.read + (tokens - read) * pricing.write
      }
      const notice = tokens - sumTokens(pieces)
      if (notice > 0) add(of("hudfold"), notice)
      for (const piece of pieces) add(ofPiece(piece), piece.tokens)
    },
    /** Counts what a call wrote, as it was at that time. */
    wrote(message: Message): void {
      for (const piece of piecesByMessage([message]).flat()) {
        if (piece.tool === undefined) continue
        const cost = ofPiece(piece)
        if (!isResult(piece)) cost.calls++
        cost[isResult(piece) ? "outputTokens" : "inputTokens"] += piece.tokens
      }
    },
    list: () => [...costs.values()],
  }
}

function kindOf({ label, tool, isOwn }: Piece): ContentCost["kind"] {
  if (tool !== undefined) return "tool"
  if (isOwn) return "hudfold"
  if (label === "reasoning") return "reasoning"
  return label.startsWith("user") ? "user" : "text"
}
