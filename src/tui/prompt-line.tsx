// The short word beside the prompt, while the sidebar with the panel in it is not there.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createMemo, Show } from "solid-js"
import { followSession } from "./follow.ts"
import { Spans } from "./spans.tsx"
import { summaryOf } from "./view.ts"
import type { Watch } from "./watch.ts"

export function PromptLine(props: { api: TuiPluginApi; watch: Watch; sessionID: string; hidden: boolean }) {
  const terminal = useTerminalDimensions()
  const seen = followSession(props.watch, () => props.sessionID)
  const line = createMemo(() => (props.hidden ? [] : summaryOf(seen(), terminal().width)), undefined, {
    equals: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  })
  return (
    <Show when={line().length > 0}>
      <Spans line={line()} theme={props.api.theme.current} />
    </Show>
  )
}
