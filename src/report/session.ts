// Replays a recorded session and collects what the report shows of it.

import type { Fold } from "../fold/fold.ts"
import type { Saving } from "../fold/saving.ts"
import type { ReplayOptions } from "../replay/calls.ts"
import { type ReplayedCall, replaySession } from "../replay/replay.ts"
import type { Charge } from "../replay/tally.ts"
import type { Message } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import { messageAt } from "../session/recorded.ts"
import { type Env, nameOf, toolEventOf } from "../session/tool-event.ts"
import { shortFolder } from "../system/data-folder.ts"
import { redact, redactLine } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import { newCosts } from "./costs.ts"

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

/** All text in it is redacted and one line each; none of it is trusted. */
export type SessionReport = ReturnType<typeof reportSession>
export type ReportedCall = ReturnType<typeof reportedCall>
export type ReportedFold = ReturnType<typeof reportedFold>

/** `onCall` is called after each call. */
export function reportSession(
  { id, title, directory = "", skipped, messages, ran }: ReplayedRecording,
  options: ReplayOptions,
  env: Env,
  onCall?: (done: ReplayedCall) => void,
) {
  const calls: ReportedCall[] = []
  const folds: ReportedFold[] = []
  const models = new Set<string>()
  const costs = newCosts()
  let startMs = 0
  let seconds = 0

  const onReplayed = (done: ReplayedCall) => {
    const { nowMs, answer, price, without, with: sent, pieces, prepared } = done
    if (isTime(nowMs)) {
      startMs ||= nowMs
      seconds = Math.max(0, Math.round((nowMs - startMs) / 1000))
    }
    if (price.name !== "") models.add(clean(price.name, MAX_NAME_CHARS))
    calls.push(reportedCall(done, seconds, env))
    // folds of earlier calls come again when their texts are shortened
    folds.push(...(prepared?.newFolds ?? []).filter(({ call }) => call === done.number).map(reportedFold))
    costs.sent("without", pieces.without, without, price)
    costs.sent("with", pieces.with, sent, price)
    costs.answered(messageAt(answer, nowMs))
    onCall?.(done)
  }
  const replay = replaySession(messages, options, env, onReplayed, ran)
  return {
    id: clean(id, MAX_NAME_CHARS),
    title: clean(title, MAX_TITLE_CHARS) || clean(id, MAX_NAME_CHARS),
    /** its folder; "" = unknown */
    project: clean(shortFolder(directory), MAX_TITLE_CHARS),
    models: [...models],
    /** the figures of `hudfold replay --json` */
    replay: { ...replay, subagents: replay.subagents.map((one) => clean(one, MAX_NAME_CHARS)) },
    /** messages and parts that could not be read */
    skipped,
    /** time of the first call, epoch ms; 0 = unknown */
    startMs,
    calls,
    folds,
    /** one for each tool, and one for each kind of text */
    costs: costs.list().map((cost) => ({
      ...cost,
      tool: clean(cost.tool, MAX_NAME_CHARS),
      without: Math.round(cost.without),
      with: Math.round(cost.with),
    })),
  }
}

/** One call; the first has the number 1. Tokens are estimated unless they are called reported. `seconds`: since the first. */
function reportedCall(
  { nowMs, answer, price, prepared, recallCost, compaction, ...charges }: ReplayedCall,
  seconds: number,
  env: Env,
) {
  const { usage } = answer
  const hud = prepared?.hud
  const sizeOf = ({ tokens, cachedTokens }: Charge) => ({ tokens, cached: cachedTokens })
  const saved = charges.without.cost - charges.with.cost - recallCost
  return {
    seconds,
    without: sizeOf(charges.without),
    with: sizeOf(charges.with),
    /** in fresh input tokens, including recalls; negative if the call costs more */
    saved: Math.round(saved),
    /** the tool calls it made */
    used: usedIn(messageAt(answer, nowMs), env),
    /** undefined if the provider reported nothing */
    reported: usage && { tokens: contextTokens(usage), cached: usage.cacheRead },
    /** `saved` in USD; undefined if the recording has no costs */
    savedUsd: price.usdPerToken === undefined ? undefined : Number((saved * price.usdPerToken).toFixed(6)),
    // redacted when it was made; text that is written to a file is redacted once more
    hud: hud && { text: hud.text.split("\n").map(redact).join("\n"), tokens: hud.tokens },
    /** the one that followed */
    compaction,
  }
}

/** Whether it is a valid date; an export may contain anything. */
function isTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms > 0 && !Number.isNaN(new Date(ms).getTime())
}

function reportedFold({ partID: _, messageID: __, hash: ___, ...shown }: Fold) {
  const lines = shown.text.split("\n").map((one) => clean(one, MAX_LINE_CHARS))
  return {
    ...shown,
    what: clean(shown.what, MAX_NAME_CHARS),
    because: clean(shown.because, MAX_NAME_CHARS),
    cutBecause: clean(shown.cutBecause, MAX_NAME_CHARS),
    text: lines.join("\n"),
    tokens: Math.round(shown.tokens),
    textTokens: Math.round(shown.textTokens),
  }
}

function usedIn(message: Message, env: Env): { name: string; failed?: true }[] {
  const place = { messageID: "", root: message.root ?? env.root, cwd: message.cwd }
  const tools = message.parts.filter((part) => part.type === "tool")
  return tools.map((part) => {
    const event = toolEventOf(part, place, env)
    const name = clean(nameOf(event), MAX_NAME_CHARS)
    return event.error === undefined && event.failure === undefined ? { name } : { name, failed: true }
  })
}

function clean(text: string, maxChars: number): string {
  return cut(redactLine(text), maxChars)
}
