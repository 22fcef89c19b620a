// `hudfold inspect`: the HUD of a recorded session, or a whole request with records and folds, as the model would see it at
// one of its calls.

import { NOTHING_FOLDED } from "../fold/fold.ts"
import { slotFor } from "../hud/slots.ts"
import { type ReplayOptions, replayCalls, wasShortened } from "../replay/calls.ts"
import { piecesByMessage } from "../replay/pieces.ts"
import type { Message } from "../session/conversation.ts"
import { contextNow } from "../session/facts.ts"
import { callsOf } from "../session/recorded.ts"
import type { Env } from "../session/tool-event.ts"
import type { Recording } from "../store/recording.ts"
import { amount, stepsAndOutputs } from "../text/format.ts"
import { escapeControls } from "../text/sanitize.ts"
import { defineCommand, JSON_ARGUMENT, readNumber, UsageError } from "./command.ts"
import {
  measuredSessions,
  OPTIONS_ARGUMENT,
  readOptionsGiven,
  readSession,
  replayOptionsOf,
  SESSION,
} from "./sessions.ts"
import { escapedJson, escapedLine, print, wrapped } from "./terminal.ts"

export const inspect = defineCommand({
  description: "Print the HUD, or the whole request, as the model would see it at a call of a recorded session",
  args: {
    session: { type: "positional", required: true, description: SESSION },
    call: {
      type: "string",
      valueHint: "N",
      description: "Number of the call, from 1; by default the call that would come next",
    },
    request: { type: "boolean", description: "Print the request as it is sent, with records, folds, HUD and secrets" },
    json: JSON_ARGUMENT,
    options: OPTIONS_ARGUMENT,
  },
  async run(args) {
    const given = readNumber("--call", args.call)
    const options = readOptionsGiven(args.options)
    const { messages, env, ...session } = await readSession(args.session)
    const next = callsOf(messages).length + 1
    const call = given ?? next
    if (call > next)
      throw new UsageError(`--call must be from 1 to ${next} (the next call) in this session, got ${call}`)
    const ran = (await measuredSessions(options)).has(session.info.id) || wasShortened(messages)
    const inspected = inspectionOf(messages, call, replayOptionsOf(options), env, ran)
    const { request, hud = null, ...figures } = inspected
    const { info, skipped } = session
    const sent = args.request ? { request } : {}
    const json = { session: info.id, title: info.title, ...figures, hud, ...sent, skipped }
    print(args.json ? escapedJson(json) : forPeople(session, inspected, args.request ?? false))
    return 0
  },
})

/** What is shown of one call. Facts known only from live events (permissions, changes on disk) are missing. */
function inspectionOf(messages: readonly Message[], call: number, options: ReplayOptions, env: Env, ran: boolean) {
  for (const replayed of replayCalls(messages, options, env, ran)) {
    const sent = replayed.send()
    if (replayed.number < call) continue
    const { price, state, usage } = replayed
    const { facts } = state.ledger
    const { steps, outputs, savedTokens } = sent ?? NOTHING_FOLDED
    const whyNone = options.hud.enabled ? sent?.reason : "the options turn it off"
    return {
      /** the inspected call, 1-based; `calls` + 1 is the call that would come next */
      call,
      calls: callsOf(messages).length,
      /** estimated tokens of the HUD, 0 without one */
      tokens: sent?.hud?.tokens ?? 0,
      slot: sent?.slot ?? slotFor(options.hud.slot, price.model),
      /** steps and outputs sent folded with that call, and the tokens that saves */
      folded: { steps, outputs, savedTokens },
      /** the request as it is sent, records and HUD included, without system prompt and tool definitions */
      request: piecesByMessage(replayed.messages, sent?.change)
        .flat()
        .map(({ label, body }) => ({ label, body })),
      hud: sent?.hud?.text,
      /** why there is no HUD */
      reason: sent ? whyNone : "the options leave this agent alone",
      /** tokens in the context at that call, as the HUD says them */
      contextTokens: contextNow(usage ? { ...facts, usage } : facts)?.tokens,
    }
  }
  throw new RangeError(`no call ${call}`)
}

type Session = Pick<Recording, "info" | "skipped">
type Inspection = ReturnType<typeof inspectionOf>

function forPeople({ info, skipped }: Session, inspected: Inspection, wantsRequest: boolean): string {
  const { call, calls, hud, reason, tokens, folded, request } = inspected
  const title = escapedLine(info.title)
  const which = call > calls ? `the next call, after ${calls}` : `call ${call} of ${calls}`
  const unread = skipped > 0 ? `, ${skipped} unreadable messages or parts left out` : ""
  const size = hud === undefined ? "" : `, with a HUD of ${tokens} tokens`
  const header = `${title}: ${which}${size}${unread}`
  const counts = stepsAndOutputs(folded)
  const more = wantsRequest ? "" : "; --request prints the request with them"
  const lines = [
    header,
    ...(hud === undefined ? [`no HUD at this call: ${escapedLine(reason ?? "there is nothing to say yet")}`] : []),
    ...(counts === "" ? [] : [`folded: ${counts}, ${amount(folded.savedTokens)} tokens less${more}`]),
  ]
  const shown = lines.map((line) => wrapped(line, 2, 0)).join("\n")
  const pieces = request.map(({ label, body }) => `[${escapedLine(label)}]\n${escapeControls(body)}`)
  const huds = hud === undefined ? [] : [escapeControls(hud)]
  return [shown, ...(wantsRequest ? pieces : huds)].join("\n\n")
}
