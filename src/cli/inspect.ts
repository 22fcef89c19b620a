// `hudfold inspect`: the HUD of a recorded session, or a whole request with records and folds, as the model would see it at
// one of its calls.

import { hudAtCall, type Inspection } from "../replay/calls.ts"
import { callsOf } from "../session/recorded.ts"
import type { Recording } from "../store/recording.ts"
import { amount, stepsAndOutputs } from "../text/format.ts"
import { escapeControls } from "../text/sanitize.ts"
import { defineCommand } from "./command.ts"
import {
  measuredSessions,
  OPTIONS_ARGUMENT,
  readOptionsGiven,
  readSession,
  replayOptionsOf,
  SESSION,
} from "./sessions.ts"
import { escapedJson, escapedLine, print, readNumber, UsageError, wrapped } from "./terminal.ts"

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
    json: { type: "boolean", description: "Print JSON for programs" },
    options: OPTIONS_ARGUMENT,
  },
  async run(args) {
    const call = args.call === undefined ? undefined : readNumber("--call", args.call)
    const options = readOptionsGiven(args.options)
    const { messages, env, ...session } = await readSession(args.session)
    const ran = (await measuredSessions(options)).has(session.info.id)
    const inspected = hudAtCall(messages, call, replayOptionsOf(options), env, ran || undefined)
    if (!inspected) {
      const next = callsOf(messages).length + 1
      throw new UsageError(`--call must be from 1 to ${next} (the next call) in this session, got ${call}`)
    }
    const wanted = args.request === true
    const { request, hud = null, ...figures } = inspected
    const { info, skipped } = session
    const sent = wanted ? { request } : {}
    const json = { session: info.id, title: info.title, ...figures, hud, ...sent, skipped }
    print(args.json ? escapedJson(json) : forPeople(session, inspected, wanted))
    return 0
  },
})

type Session = Pick<Recording, "info" | "skipped">

function forPeople({ info, skipped }: Session, inspected: Inspection, wantsRequest: boolean): string {
  const { call, calls, hud, reason, tokens, folded, request } = inspected
  const title = escapedLine(info.title.trim() || info.id)
  const which = call > calls ? `the next call, after ${calls}` : `call ${call} of ${calls}`
  const unread = skipped > 0 ? `, ${skipped} unreadable messages or parts left out` : ""
  const size = hud === undefined ? "" : `, with a HUD of ${tokens} tokens`
  const header = `${title}: ${which}${size}${unread}`
  const counts = stepsAndOutputs(folded)
  const more = wantsRequest ? "" : "; --request prints the request with them"
  const shown = [
    wrapped(header, 2, 0),
    ...(hud === undefined ? [`no HUD at this call: ${escapedLine(reason ?? "there is nothing to say yet")}`] : []),
    ...(counts === "" ? [] : [wrapped(`folded: ${counts}, ${amount(folded.savedTokens)} tokens less${more}`, 2, 0)]),
  ].join("\n")
  if (wantsRequest)
    return [shown, ...request.map(({ label, body }) => `[${escapedLine(label)}]\n${escapeControls(body)}`)].join("\n\n")
  return hud === undefined ? shown : `${shown}\n\n${escapeControls(hud)}`
}
