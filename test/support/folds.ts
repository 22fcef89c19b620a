// For the end-to-end tests of folding: files whose outputs fill a context, and the folds in a request. The planner decides when
// an output is folded; the tests wait for it.

import { type Caller, type ModelRequest, resultsOf } from "../opencode/request.ts"
import type { Reply, ToolCall } from "../opencode/wire.ts"
import { FOLDED, idIn } from "./records.ts"
import { bash, PLUGIN, read, say, use } from "./world.ts"

/** With no cache to lose, an output is folded as soon as possible. */
export const EAGER = [PLUGIN, { fold: { price: { read: 1, write: 1 } } }] as const

const LOGS = 24
const LINES = 250

/** Each shown whole is some 4,000 tokens, with what is easily lost on the way. */
export const FILES: Readonly<Record<string, string>> = {
  "README.md": "# A project\n",
  ...Object.fromEntries(Array.from({ length: LOGS }, (_, at) => [`logs/${at + 1}.log`, logOf(at + 1)])),
}

function logOf(number: number): string {
  const lines = Array.from({ length: LINES }, (_, at) => {
    const name = `step-${number}-${at + 1}`
    return `12:00:${String(at % 60).padStart(2, "0")} ${name} took ${(number * 7919 + at * 104729) % 9973} ms of what was planned for it`
  })
  lines[7] = `  naïve — 試験 🙂\t"quoted" \\n <b>&amp;</b> of ${number}  `
  return `${lines.join("\n")}\n`
}

/** Looks at one of the logs, by turns with a command and with the read tool. */
export function look(number: number): ToolCall {
  return number % 2 === 1 ? bash(`cat logs/${number}.log`) : read(`logs/${number}.log`)
}

/** Its answer is found in later requests under a call id of its own. */
export function recall(id: string): ToolCall {
  return { name: "hud_recall", arguments: { ids: id }, id: recallCall(id) }
}

export function recallCall(id: string): string {
  return `recall_${id}`
}

/** An agent of this kind looks at logs until two outputs are folded, asks for both of them back, and is done. */
export function lookAndRecall(caller: Caller): (request: ModelRequest) => Reply | undefined {
  let looks = 0
  const asked: string[] = []
  return (request) => {
    if (request.caller !== caller) return undefined
    const ids = [...foldsIn(request).values()].map(recallID)
    const next = ids.find((id) => !asked.includes(id))
    if (ids.length < 2 && looks < LOGS) return use(look(++looks))
    if (asked.length === 2 || next === undefined) return say("Done.")
    asked.push(next)
    return use(recall(next))
  }
}

/** The lines that stand in the place of folded outputs, by the id of the tool call. */
export function foldsIn(request: ModelRequest | undefined): Map<string, string> {
  const results = request ? [...resultsOf(request)] : []
  return new Map(results.filter(([, text]) => FOLDED.test(text)))
}

/** The id that a folded output can be had back by. */
export function recallID(fold: string): string {
  return idIn(fold)
}

/** How many steps stand in the request's records. */
export function recordedIn(request: ModelRequest | undefined): number {
  const heads = request?.raw.matchAll(/Steps? (\d+)(?:-(\d+))? of this session, kept by hudfold as a record/g) ?? []
  return [...heads].reduce((sum, [, from, to = from]) => sum + Number(to) - Number(from) + 1, 0)
}

/** How many outputs and steps the request has folded. */
export function countFolded(request: ModelRequest | undefined): number {
  return foldsIn(request).size + recordedIn(request)
}

/** What was asked back in these requests: the answer, and the output as it was first sent, which is unfolded. */
export function recalledIn(requests: readonly ModelRequest[]): { id: string; answer: string; original: string }[] {
  const first = new Map(requests.toReversed().flatMap((request) => [...resultsOf(request)]))
  const folds = new Map(requests.flatMap((request) => [...foldsIn(request)]))
  return [...folds].flatMap(([call, fold]) => {
    const id = recallID(fold)
    const answer = first.get(recallCall(id))
    return answer === undefined ? [] : [{ id, answer, original: first.get(call) ?? "" }]
  })
}
