// `hudfold replay`: recorded sessions run through the plugin, and what it would have saved and lost in them.
import { defineCommand } from "citty"
import { createEnv } from "../digest/env.ts"
import type { Options } from "../options.ts"
import type { NamedPrice } from "../replay/pricing.ts"
import { type CallReplayed, replaySession } from "../replay/replay.ts"
import { sumOf } from "../replay/sum.ts"
import { standing } from "../store/recording.ts"
import { eachSession } from "./each-session.ts"
import { asJson } from "./replay-json.ts"
import { forPeople, type Replayed } from "./replay-words.ts"
import { hasSqlite, runOnBun } from "./runtime.ts"
import {
  kindOf,
  readOptionsGiven,
  readPrice,
  readSession,
  replayOptionsOf,
  SESSION,
  standingAnywhere,
} from "./sessions-given.ts"
import { oneLine, print, UsageError } from "./terminal.ts"

export const replay = defineCommand({
  meta: {
    name: "replay",
    description: "Run recorded sessions through the plugin: what it would have saved, and what it would have lost",
  },
  args: {
    "session...": { type: "positional", required: true, description: `${SESSION}; several of them give a sum` },
    price: {
      type: "string",
      valueHint: "NAME",
      description: "Reckon with this provider, such as anthropic or openai, in place of the session's own",
    },
    json: { type: "boolean", description: "Print JSON for programs" },
    options: { type: "string", valueHint: "JSON", description: "The plugin's options, as in opencode.json" },
  },
  async run({ args }) {
    const options = readOptionsGiven(args.options)
    if (!options.enabled) throw new UsageError("--options: with enabled false there is nothing to replay")
    const price = args.price === undefined ? undefined : readPrice(args.price, options)
    const sessions = [...new Set(args._)]
    if (!hasSqlite() && sessions.some((session) => kindOf(session) === "id"))
      return runOnBun(["replay", ...argumentsAgain(sessions, args)])
    const { done: replayed, failed } = await eachSession(sessions, (session, onCall) =>
      replayOne(session, options, price, onCall),
    )
    if (replayed.length === 0 && !args.json) return 2
    const sum = sumOf(replayed.map((one) => one.replay))
    print(args.json ? JSON.stringify(asJson(replayed, sum, failed), null, 2) : forPeople(replayed, sum))
    return failed.length > 0 ? 2 : 0
  },
})

async function replayOne(
  session: string,
  options: Options,
  price: NamedPrice | undefined,
  onCall: (done: CallReplayed) => void,
): Promise<Replayed> {
  const recording = await readSession(session)
  const { info, skipped } = recording
  const replay = replaySession(
    standing(recording),
    { ...replayOptionsOf(options), ...(price ? { price } : {}) },
    createEnv(info.directory),
    onCall,
  )
  return { session: info.id, title: oneLine(info.title) || info.id, skipped, replay }
}

/** The same arguments for a process that runs in another folder. */
function argumentsAgain(
  sessions: readonly string[],
  { price, json, options }: { [name in "price" | "options"]?: string | undefined } & { json?: boolean | undefined },
) {
  return [
    ...(json ? ["--json"] : []),
    ...(price === undefined ? [] : [`--price=${price}`]),
    ...(options === undefined ? [] : [`--options=${options}`]),
    "--",
    ...standingAnywhere(sessions),
  ]
}
