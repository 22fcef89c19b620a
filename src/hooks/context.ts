// What every hook is given: the options, the closure state and the ways out. Made once per directory by the plugin.

import type { Options } from "../options.ts"
import type { Store } from "../store/record.ts"
import type { Log } from "./log.ts"
import type { Models } from "./models.ts"
import type { Sessions } from "./sessions.ts"

export type HookContext = {
  options: Options
  log: Log
  sessions: Sessions
  models: Models
  /** undefined until it is open; a hook does not wait for it */
  store(): Store | undefined
  /** the project's folder; the ledger's relative paths are in it */
  directory: string
  /** prompts of OpenCode's own helper agents, as far as it named them */
  helperPrompts: string[]
}
