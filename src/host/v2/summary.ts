// The summary of a compaction when no model writes it: the user's words verbatim, a record of every step, and the facts. The
// steps can still be recalled by their numbers.

import { foldsOf } from "../../fold/cut.ts"
import { stepFold, withEpisodes } from "../../fold/fold.ts"
import { addFolds, type Folding, SUMMARISED } from "../../fold/folding.ts"
import { type Decision, unfoldedSteps } from "../../fold/plan.ts"
import { recordOf } from "../../fold/record.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message } from "../../session/conversation.ts"
import type { Reading } from "../../session/ledger.ts"
import type { Env } from "../../session/tool-event.ts"
import { redact } from "../../text/redact/redact.ts"
import { cut, oneLine } from "../../text/sanitize.ts"
import { estimateTokens } from "../../text/tokens.ts"

const HEAD = `Put together by hudfold, a plugin the user installed, when the session was compacted: the user's words verbatim, and records of the steps. ${RECALL_TOOL} returns the steps verbatim.`
/**
 * The facts stand between these lines, directly after HEAD. There they cannot be confused with the user's words, and can be
 * removed without what OpenCode puts around the summary.
 */
const [FACTS, END] = ["<facts>", "</facts>"]

/** `messages`: those that the compaction removes. Undefined when a step has no record, or an earlier summary no text. */
export function recordSummary(
  messages: readonly Message[],
  { entries, facts }: Pick<Reading, "entries" | "facts">,
  folding: Folding,
  factsText: string | undefined,
  env: Env,
) {
  const steps = unfoldedSteps(entries, facts, folding.folds, 0)
  const decisions = steps.map((step): Decision => ({ kind: "step", step, because: "a step", settledFor: 0 })).reverse()
  const place = { messages, folds: folding.folds, call: facts.calls + 1 }
  const folded = foldsOf({ decisions, reason: "must", because: SUMMARISED }, place, env)
  const folds = new Map([...folding.folds, ...folded.map((fold) => [fold.partID, fold] as const)])
  if (entries.some(({ kind, id, blocks }) => kind === "step" && blocks > 0 && !stepFold(folds, id))) return
  if (entries.some(({ kind, tokens }) => kind === "summary" && tokens === 0)) return
  const pieces = withEpisodes(messages, folds).flatMap((piece) =>
    Array.isArray(piece) ? recordOf(piece) : saidIn(piece),
  )
  const known = factsText === undefined ? [] : [`${FACTS}\n${factsText}\n${END}`]
  const text = [HEAD, ...known, ...pieces].join("\n\n")
  return { text, tokens: estimateTokens(text), folded, folding: addFolds(folding, folded) }
}

/** Length of a text that OpenCode put among the user's, such as an attached file. */
const MAX_HOST_CHARS = 200

/** The user's words, and what an earlier compaction left. */
function saidIn({ kind, parts }: Message): string[] {
  const texts = parts.flatMap((part) => (part.type === "text" && !part.ignored && part.text.trim() !== "" ? part : []))
  if (kind === "summary")
    return texts.map(({ text }) => withoutHead(text.replace(/<\/?conversation-checkpoint>\n?/g, "")))
  if (kind !== "user") return []
  return texts.map(({ text, by }) =>
    by === "user" ? `The user: ${text}` : `OpenCode: ${cut(oneLine(redact(text)), MAX_HOST_CHARS)}`,
  )
}

/** An earlier summary without its head, which is written again, and its facts, which may have changed. */
function withoutHead(text: string): string {
  const at = text.indexOf(HEAD)
  if (at < 0) return text
  const rest = text.slice(at + HEAD.length).trimStart()
  const end = rest.startsWith(`${FACTS}\n`) ? rest.indexOf(`\n${END}`) : -1
  return text.slice(0, at) + (end < 0 ? rest : rest.slice(end + END.length + 1).trimStart())
}
