// Keeps the plugin's errors away from OpenCode's screen: each becomes one notice, and everything else continues.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { errorMessage } from "../system/values.ts"

export type Reporter = ReturnType<typeof createReporter>

export function createReporter(api: Pick<TuiPluginApi, "ui">) {
  const reported = new Set<string>()
  /** Shows the error as a notice, the same error once. Never throws. */
  const report = (what: string, cause: unknown): void => {
    const message = `${what}: ${errorMessage(cause)}`
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
    /** Tells the user something, for longer than usual if it is long. */
    say: (message: string, isLong = false): void =>
      api.ui.toast({ variant: "info", title: "opencode-hudfold", message, ...(isLong ? { duration: 8000 } : {}) }),
    /** Runs `body` now and reports what it throws or rejects with. */
    run: (what: string, body: () => unknown): void => {
      void (async () => body())().catch((cause) => report(what, cause))
    },
  }
}
