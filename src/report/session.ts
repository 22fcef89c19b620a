// A stored session replayed into what the report shows of it.

import { record, text } from "../fields.ts"
import type { Fold } from "../fold/fold.ts"
import type { Tariff } from "../fold/tariff.ts"
import type { HostMessage } from "../host/v1/message.ts"
import type { ReplayOptions } from "../replay/calls.ts"
import { partsAt } from "../replay/pruned.ts"
import { type CallReplayed, type Replay, replaySession } from "../replay/replay.ts"
import { readUsage } from "../session/entry.ts"
import { nameOf } from "../session/event.ts"
import { type Env, normalize } from "../session/normalize.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line } from "../text/text.ts"
import { newToolCount } from "./count-tools.ts"
import { deltasOf } from "./deltas.ts"
import type { CallColumns, FoldRow, SessionReport } from "./report.ts"

export type Stored = { id: string; title: string; skipped: number; messages: readonly HostMessage[] }

/** Longest title and name shown, in characters. */
const TITLE = 200
const NAME = 110
/** Tool calls shown of one call. */
const USED = 40

/** `tariffs` takes those that were reckoned with, by name; `onCall` hears of every call that is done. */
export function reportSession(
  { id, title, skipped, messages }: Stored,
  options: ReplayOptions,
  env: Env,
  tariffs: Map<string, Tariff>,
  onCall?: (done: CallReplayed) => void,
): SessionReport {
  const calls: CallColumns & { savedMicroUsd: number[] } = {
    ...{ seconds: [], without: [], withoutCached: [], with: [], withCached: [], saved: [], savedMicroUsd: [] },
    ...{ hudTokens: [], reported: [], reportedCached: [] },
  }
  const huds: (string | undefined)[] = []
  const folds: FoldRow[] = []
  const compactions: SessionReport["compactions"] = []
  const used: number[][] = []
  const names = new Map<string, number>()
  const models = new Set<string>()
  const tools = newToolCount()
  let startMs = 0
  let seconds = 0

  const replay = replaySession(messages, options, env, (done) => {
    const { number, nowMs, wrote, price, without, with: sent, pieces, call, recallCost, compaction } = done
    if (isTime(nowMs)) {
      startMs ||= nowMs
      seconds = Math.max(0, Math.round((nowMs - startMs) / 1000))
    }
    tariffs.set(price.tariff.row, price.tariff)
    if (price.name !== "") models.add(clean(price.name, NAME))
    const usage = readUsage(wrote.info.tokens)
    const saved = without.cost - sent.cost - recallCost
    calls.seconds.push(seconds)
    calls.without.push(without.tokens)
    calls.withoutCached.push(without.cachedTokens)
    calls.with.push(sent.tokens)
    calls.withCached.push(sent.cachedTokens)
    calls.saved.push(Math.round(saved))
    calls.savedMicroUsd.push(Math.round(saved * (price.usdPerToken ?? 0) * 1e6))
    calls.hudTokens.push(Math.round(call?.hud?.tokens ?? 0))
    calls.reported.push(usage ? usage.input + usage.cacheRead + usage.cacheWrite : null)
    calls.reportedCached.push(usage ? usage.cacheRead : null)
    huds.push(call?.hud && cleanLines(call.hud.text))
    folds.push(...(call?.folded ?? []).map(rowOf))
    if (compaction) compactions.push([number, compaction])
    tools.sent("withoutTokens", pieces.without)
    tools.sent("withTokens", pieces.with)
    const then = { ...wrote, parts: partsAt(wrote.parts, nowMs) }
    tools.wrote(then)
    used.push(usedIn(then, number, names, env))
    onCall?.(done)
  })
  const { savedMicroUsd, ...columns } = calls
  return {
    id: clean(id, NAME),
    title: clean(title, TITLE) || clean(id, NAME),
    models: [...models],
    replay: withoutNames(replay),
    ...{ skipped, startMs, folds, compactions, used },
    calls: replay.without.usd === undefined || replay.recorded.usd === 0 ? columns : calls,
    huds: deltasOf(huds),
    tools: tools.list().map((cost) => ({ ...cost, tool: clean(cost.tool, NAME) })),
    names: [...names.keys()],
  }
}

/** Whether a calendar has it: an export may hold anything in its place. */
function isTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms > 0 && !Number.isNaN(new Date(ms).getTime())
}

/** Without the names of tools and outputs: the report has them in places of their own. */
export function withoutNames(replay: Replay): Replay {
  const subagents = replay.subagents.map((id) => clean(id, NAME))
  return { ...replay, subagents, folds: { ...replay.folds, byTool: {}, largest: [] } }
}

function rowOf({ id, call, what, because, reason, tokens, textTokens }: Fold): FoldRow {
  const sizes = { tokens: Math.round(tokens), textTokens: Math.round(textTokens) }
  return { id, call, what: clean(what, NAME), because: clean(because, 2 * NAME), reason, ...sizes }
}

/** The tool calls in a message by their names, which are added to `names`. */
function usedIn(message: HostMessage, call: number, names: Map<string, number>, env: Env): number[] {
  const path = record(message.info.path)
  const root = [text(path?.root), text(path?.cwd)].find((folder) => folder && folder !== "/") ?? env.root
  const place = { messageID: "", call, root, wantsGist: () => false }
  return message.parts
    .flatMap((part) => {
      const event = part ? normalize(part, place, env) : undefined
      if (!event) return []
      const name = clean(nameOf(event), NAME)
      const at = names.get(name) ?? names.size
      names.set(name, at)
      return [event.error !== undefined || event.failure !== undefined ? ~at : at]
    })
    .slice(0, USED)
}

function clean(text: string, most: number): string {
  return cut(redact(line(text)), most)
}

/** The HUD is clean as it is sent; what is written to a file for good is looked at once more. */
function cleanLines(text: string): string {
  return text.split("\n").map(redact).join("\n")
}
