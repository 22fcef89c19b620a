// The TUI's half of the plugin, for OpenCode's terminal: the panel, the prompt's line and the commands. Wiring only.

import type { TuiPluginModule } from "@opencode-ai/plugin/tui"
import { createSignal, ErrorBoundary, type JSX } from "solid-js"
import { statusFolder } from "../status/files.ts"
import { dataFolder } from "../system/data-folder.ts"
import { registerCommands } from "./commands.ts"
import { createGuard } from "./guard.ts"
import { Panel } from "./panel.tsx"
import { PromptLine } from "./prompt-line.tsx"
import { refreshOnEvents } from "./refresh.ts"
import { watchSessions } from "./watch.ts"

const plugin: TuiPluginModule = {
  id: "opencode-hudfold",
  tui: async (api) => {
    const guard = createGuard(api)
    const folder = statusFolder(dataFolder())
    const watch = watchSessions(folder, (cause) => guard.report("the panel", cause))
    api.lifecycle.onDispose(() => watch.close())
    refreshOnEvents(api, watch)
    registerCommands(api, guard, watch, folder)

    // the sidebar has rules of its own for when it shows; that the panel is there is the sign that holds
    const [panels, setPanels] = createSignal(0)
    const mounted = () => {
      setPanels((count) => count + 1)
      return () => void setPanels((count) => count - 1)
    }
    // A box that stays: OpenCode draws a slot anew, component and all, whenever what the slot answers is another value.
    const safely = (what: string, draw: () => JSX.Element) => (
      <box>
        <ErrorBoundary
          fallback={(cause: unknown) => {
            guard.report(what, cause)
            return null
          }}
        >
          {draw()}
        </ErrorBoundary>
      </box>
    )
    api.slots.register({
      order: 110,
      slots: {
        sidebar_content: (_, props) =>
          safely("the panel", () => <Panel api={api} watch={watch} sessionID={props.session_id} mounted={mounted} />),
        session_prompt_right: (_, props) =>
          safely("the prompt's line", () => (
            <PromptLine api={api} watch={watch} sessionID={props.session_id} hidden={panels() > 0} />
          )),
      },
    })
  },
}

export default plugin
