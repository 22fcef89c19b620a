// Where a scenario is played: one OpenCode server, its scripted model, a client, and the events it got. The model reports the
// same usage whatever it was sent, so that tokens and costs can be compared.

import { fileURLToPath } from "node:url"
import type { ModelRequest } from "../../opencode/request.ts"
import type { Client, HostEvent } from "../../opencode/serve.ts"
import type { Reply } from "../../opencode/wire.ts"
import { FILES as LOGS } from "../../support/folds.ts"
import { LARGE } from "../../support/large.ts"
import { plantSidecar } from "../../support/sidecar.ts"
import { FILES, openWorld, PLUGIN, type ServedWorld } from "../../support/world.ts"
import { type Account, accountOf, type Rules } from "./account.ts"

/** A busy machine must not cause a warning. */
const PATIENT = { deadlineMs: 5_000 }

/** Who runs beside the client: nobody, the plugin as it is installed, the plugin with all it has and nothing to wait for. */
export const VARIANTS = {
  "without the plugin": null,
  "with the plugin": [PLUGIN, PATIENT],
  "with folds and a sidecar": [
    PLUGIN,
    { fold: { price: { read: 1, write: 1 } }, digest: { backend: "llama" }, ...PATIENT },
  ],
} as const

export type Variant = keyof typeof VARIANTS

/** One file in it may only be removed with the user's leave. */
const PROJECT: Readonly<Record<string, string>> = {
  ...FILES,
  ...LOGS,
  "opencode.json": JSON.stringify({ permission: { bash: { "*": "allow", "rm *": "ask" } } }),
}

export type Stage = {
  variant: Variant
  world: ServedWorld
  client: Client
  /** A prompt and all that follows until the session is idle. */
  turn(session: string, text: string): Promise<void>
  /** Answers the next permission that is asked for. */
  answer(reply: "once" | "always" | "reject"): void
  /** Has the model answer: the agent of top-level sessions, subagents and the compactor, each from a list of its own. */
  play(replies: Replies, session?: string): void
  /** all requests of a session's main agent */
  requests(session: string): ModelRequest[]
  /** words for what differs between stages by its nature */
  words: Record<string, string>
  close(): Promise<void>
}

export type Replies = { main: readonly Next[]; child?: readonly Next[]; compaction?: readonly Next[] }
/** An answer, or one that depends on what was asked. */
export type Next = Reply | ((request: ModelRequest) => Reply)

export async function openStage(variant: Variant): Promise<Stage> {
  const world = await openWorld({ plugin: VARIANTS[variant], files: PROJECT, snapshots: LARGE })
  const { host, provider } = world
  if (variant === "with folds and a sidecar") plantSidecar(host.root, { model: "/models/any.gguf", program: SIDECAR })
  const client = await host.serve()
  return {
    variant,
    world: { ...world, client },
    client,
    turn: async (session, text) => {
      const from = client.events.length
      await client.promptAsync(session, text)
      // an earlier idle belongs to the last turn: OpenCode sends it twice after an error or an abort
      const busy = await client.event((event) => isBusy(event, session), { from })
      await client.idle(session, client.events.indexOf(busy))
    },
    answer: (reply) => {
      const asked = client.event(({ type }) => type === "permission.asked", { from: client.events.length })
      void asked.then(({ properties: { id } }) =>
        client.call("POST", `/permission/${String(id)}/reply`, { body: { reply } }),
      )
    },
    play: (replies, session) => provider.play(scriptOf(replies), session),
    requests: (session) => provider.from("main", session),
    words: { [host.root]: "ROOT", [provider.url]: "PROVIDER", [client.url]: "SERVER" },
    close: world.close,
  }
}

function isBusy({ type, properties }: HostEvent, session: string): boolean {
  const said = properties.status as { type?: string } | undefined
  return type === "session.status" && properties.sessionID === session && said?.type === "busy"
}

const SIDECAR = fileURLToPath(new URL("../../engine/fixtures/plain.ts", import.meta.url))

/** What a provider reports of the n-th answer: a context that grows, most of it read from the cache. */
function usageOf(step: number) {
  return { input: 500 + step, output: 40, cacheRead: 10_000 + 700 * step, cacheWrite: 0 }
}

export function scriptOf({ main, child = [], compaction = [] }: Replies): (request: ModelRequest) => Reply | undefined {
  const lists: Record<string, Next[]> = { main: [...main], child: [...child], compaction: [...compaction] }
  let step = 0
  return (request) => {
    const next = lists[request.caller]?.shift() ?? {
      text: request.caller === "compaction" ? "## Goal\nDone." : "Done.",
    }
    const reply = typeof next === "function" ? next(request) : next
    return { usage: usageOf(step++), ...reply }
  }
}

export type Recording = { account: Account; stage: Stage; sessions: string[]; told: readonly HostEvent[] }

/** Plays a scenario and deletes its sessions, so that the last thing told is known. */
export async function record(
  stage: Stage,
  scenario: (stage: Stage) => Promise<readonly string[]>,
  byRight: Rules,
): Promise<Recording> {
  const { client, words } = stage
  const from = client.events.length
  const sessions = [...(await scenario(stage))]
  for (const session of sessions) {
    const at = client.events.length
    await client.remove(session)
    const isGone = ({ type, properties }: HostEvent) => type === "session.deleted" && properties.sessionID === session
    await client.event(isGone, { from: at })
  }
  const told = client.events.slice(from)
  return { account: accountOf(told, { ...byRight, words: { ...byRight.words, ...words } }), stage, sessions, told }
}
