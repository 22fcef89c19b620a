// When to look at the files again though nobody said that they have changed: at the end of a turn, in case a word of the
// watch was lost; and with every message where the folder cannot be watched at all.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { Watch } from "./watch.ts"

/** The server writes a moment after the event; messages come many a second. */
const AFTER_MS = 500

export function refreshOnEvents(api: Pick<TuiPluginApi, "event" | "lifecycle">, watch: Watch): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      watch.refresh()
    }, AFTER_MS)
    timer.unref()
  }
  api.lifecycle.onDispose(api.event.on("session.idle", soon))
  api.lifecycle.onDispose(
    api.event.on("message.updated", () => {
      if (!watch.isWatching()) soon()
    }),
  )
  api.lifecycle.onDispose(() => clearTimeout(timer))
}
