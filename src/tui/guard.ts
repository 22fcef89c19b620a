// Nothing of ours may break OpenCode's screen: whatever fails here becomes one notice, and the rest goes on.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"

export type Guard = {
  /** Tells the user of a fault, each once. Never throws. */
  report(what: string, cause: unknown): void
  /** Runs it now; what it throws or rejects with is reported. */
  run(what: string, body: () => unknown): void
}

const TITLE = "opencode-hudfold"

export function createGuard(api: Pick<TuiPluginApi, "ui">): Guard {
  const told = new Set<string>()
  const report = (what: string, cause: unknown) => {
    const message = `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
    if (told.has(message)) return
    told.add(message)
    try {
      api.ui.toast({ variant: "error", title: TITLE, message })
    } catch {
      // a screen that is going away has no place for it
    }
  }
  return {
    report,
    run: (what, body) => {
      void (async () => body())().catch((cause) => report(what, cause))
    },
  }
}
