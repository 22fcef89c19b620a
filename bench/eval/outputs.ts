// Real tool outputs for the evaluation of digests, read from recorded sessions, each with the steps before and after it. The
// sample covers tools and sizes evenly and is the same in every run.

import { readdirSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { toolKindOf } from "../../src/output/tools.ts"
import { parseExport } from "../../src/store/export.ts"
import { wellFormed } from "../../src/text/sanitize.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { generator } from "../sessions.ts"

/** Smaller outputs are not worth a model's time. Estimated. */
const MIN_TOKENS = 300

/** One step of a session: a finished tool call, or text. */
export type Step = { text: string; source?: DigestSource }
export type Session = { name: string; root: string; steps: Step[] }
export type Sample = { session: Session; at: number; source: DigestSource; tokens: number }

/** The files in a folder that may be sessions. Throws when there are none. */
export function exportsIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
  if (names.length === 0) throw new Error(`${folder} has no session; expected files of \`opencode export\``)
  return names.sort().map((name) => join(folder, name))
}

/**
 * Reads files of `opencode export`, or arrays of messages. Other files are skipped with a line on stderr. Throws when none
 * is a session.
 */
export async function readSessions(paths: readonly string[]): Promise<Session[]> {
  const sessions: Session[] = []
  for (const path of paths)
    try {
      sessions.push(sessionOf(basename(path), await readFile(path, "utf8")))
    } catch (error) {
      process.stderr.write(`${path} is skipped: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  if (sessions.length === 0) throw new Error("no session could be read; expected files of `opencode export`")
  return sessions
}

function sessionOf(name: string, text: string): Session {
  const whole = text.trimStart().startsWith("[") ? `{"info":{"id":${JSON.stringify(name)}},"messages":${text}}` : text
  const { messages } = parseExport(whole, name)
  const steps = messages.flatMap((message) => message.parts.flatMap((part) => stepOf(message, part) ?? []))
  return { name, root: rootOf(messages), steps }
}

function rootOf(messages: readonly HostMessage[]): string {
  const paths = messages.map(({ info }) => info.path as { root?: unknown; cwd?: unknown } | undefined)
  return String(paths.map((path) => path?.cwd ?? path?.root).find((path) => typeof path === "string") ?? "")
}

function stepOf({ info }: HostMessage, part: HostPart): Step | undefined {
  if (part.type === "text" && typeof part.text === "string") return { text: part.text }
  const { tool, state } = part
  if (part.type !== "tool" || !state || typeof tool !== "string" || info.role === "user") return
  const input = state.input ?? {}
  const failed = state.status === "error"
  const output = failed ? state.error : state.output
  if (typeof output !== "string") return
  const exit = state.metadata?.exit
  return {
    text: JSON.stringify(input),
    source: {
      tool,
      kind: toolKindOf(tool),
      input,
      output: wellFormed(output),
      failed,
      ...(typeof exit === "number" ? { exit } : {}),
    },
  }
}

/** `count` different outputs, taken in turn from every tool and, within a tool, from every size. */
export function sampleOutputs(sessions: readonly Session[], count: number, seed: number): Sample[] {
  const random = generator(seed)
  const seen = new Set<string>()
  const byTool = new Map<string, Sample[]>()
  for (const session of sessions)
    for (const [at, { source }] of session.steps.entries()) {
      if (!source || seen.has(source.output)) continue
      const tokens = tokensOfLength(source.output.length)
      if (tokens < MIN_TOKENS) continue
      seen.add(source.output)
      byTool.set(source.tool, [...(byTool.get(source.tool) ?? []), { session, at, source, tokens }])
    }
  const queues = [...byTool].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, samples]) => spread(samples, random))
  const chosen: Sample[] = []
  while (chosen.length < count && queues.some((queue) => queue.length > 0))
    for (const queue of queues) {
      const next = queue.shift()
      if (next && chosen.length < count) chosen.push(next)
    }
  return chosen
}

/** The samples in an order in which every prefix has small, medium and large ones. */
function spread(samples: readonly Sample[], random: () => number): Sample[] {
  const shuffled = samples.map((sample) => ({ sample, rank: random() })).sort((a, b) => a.rank - b.rank)
  const sizes = [0, 800, 2000].map((from, size, all) =>
    shuffled.filter(({ sample }) => sample.tokens >= from && sample.tokens < (all[size + 1] ?? Infinity)),
  )
  const order: Sample[] = []
  while (order.length < samples.length)
    for (const size of sizes) {
      const next = size.shift()
      if (next) order.push(next.sample)
    }
  return order
}
