// The plugin's real wiring and guard with every hook's body replaced by one that does not work: OpenCode loads this file
// like any plugin. Option `fault` says how the bodies fail.

import type { PluginModule } from "@opencode-ai/plugin"
import type { HookContext } from "../../src/host/context.ts"
import type { Commit } from "../../src/host/guard.ts"
import { createLog } from "../../src/host/log.ts"
import { createHooks } from "../../src/host/v1/hooks.ts"
import { readOptions } from "../../src/options.ts"

export const FAULTS = ["throws", "rejects", "hangs", "commits late", "throws in its commit"] as const
export type Fault = (typeof FAULTS)[number]

const LATE_MS = 300

const server: PluginModule["server"] = async (input, given) => {
  const fail = failing((given as { fault?: Fault } | undefined)?.fault ?? "throws")
  // The wiring itself reads no more of the context, and the bodies that do are not there.
  const context = { options: readOptions({}).options, log: createLog(input.client) } as HookContext
  return createHooks(context, async () => {}, fail)
}

function failing(fault: Fault): () => Commit | undefined | Promise<Commit | undefined> {
  const broken = (): never => {
    throw new Error(`this hook ${fault}`)
  }
  switch (fault) {
    case "throws":
      return broken
    case "rejects":
      return async () => broken()
    case "hangs":
      return () => new Promise(() => {})
    case "commits late":
      return () => new Promise((resolve) => setTimeout(() => resolve(broken), LATE_MS))
    case "throws in its commit":
      return () => broken
  }
}

export default { id: "faulty-plugin", server } satisfies PluginModule
