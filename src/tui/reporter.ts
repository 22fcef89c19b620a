// Keeps the plugin's errors away from OpenCode's screen: each becomes one notice, and everything else continues.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"

export type Reporter = {
  /** Shows the error as a notice, the same error once. Never throws. */
  report(what: string, cause: unknown): void
  /** Runs `body` now and reports what it throws or rejects with. */
  run(what: string, body: () => unknown): void
}

export function createReporter(api: Pick<TuiPluginApi, "ui">): Reporter {
  const reported = new Set<string>()
  const report = (what: string, cause: unknown) => {
    const message = `${what}: ${cause instanceof Error ? cause.message : String(cause)}`
    if (reported.has(message)) return
    reported.add(message)
    try {
      api.ui.toast({ variant: "error", title: "opencode-hudfold", message })
    } catch {
      // the screen is being torn down
    }
  }
  return {
    report,
    run: (what, body) => {
      void (async () => body())().catch((cause) => report(what, cause))
    },
  }
}
