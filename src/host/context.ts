// What every hook is given: the options, the closure state and the ways out. Made once per directory by the plugin.

import type { Digests } from "../digest/digests.ts"
import type { Options } from "../options.ts"
import type { RequestOptions } from "../request/request.ts"
import type { Env } from "../session/normalize.ts"
import type { Log } from "./log.ts"
import type { Models } from "./models.ts"
import type { Publisher } from "./publish.ts"
import type { Sessions } from "./sessions.ts"
import type { SharedStore } from "./store.ts"
import type { Agents } from "./v1/host.ts"

export type HookContext = {
  options: Options
  env: Env
  log: Log
  sessions: Sessions
  models: Models
  digests: Digests
  store: SharedStore
  /** what people are shown, and what they have switched off */
  publisher: Publisher
  /** the options as a request's preparation wants them */
  requestOptions: RequestOptions
  /** a session's stored messages, asked of the host; for what no array was handed over for */
  messages(sessionID: string): Promise<unknown>
  /** one stored message; undefined when there is none, rejects when the host will not say */
  message(sessionID: string, messageID: string): Promise<unknown>
  /** the project's folder; the ledger's relative paths are in it */
  directory: string
  agents: Agents
}
