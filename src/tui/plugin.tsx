// The plugin's half for OpenCode's terminal: the panel, the line beside the prompt, and the commands. Wiring only.

import type { TuiPluginModule } from "@opencode-ai/plugin/tui"
import { createSignal, ErrorBoundary, type JSX } from "solid-js"
import { statusFolder } from "../status/files.ts"
import { dataFolder } from "../system/data-folder.ts"
import { registerCommands } from "./commands.ts"
import { Panel, PromptLine } from "./panel.tsx"
import { createReporter } from "./reporter.ts"
import { refreshOnEvents, watchSessions } from "./watch.ts"

const plugin: TuiPluginModule = {
  id: "opencode-hudfold",
  tui: async (api) => {
    const reporter = createReporter(api)
    const folder = statusFolder(dataFolder())
    const watch = watchSessions(folder, (cause) => reporter.report("the panel", cause))
    api.lifecycle.onDispose(() => watch.close())
    refreshOnEvents(api, watch)
    registerCommands(api, reporter, watch, folder)

    // OpenCode decides when its sidebar is visible; a mounted panel is the reliable sign that it is
    const [panels, setPanels] = createSignal(0)
    const mounted = () => {
      setPanels((count) => count + 1)
      return () => void setPanels((count) => count - 1)
    }
    // The box is constant: OpenCode rebuilds a slot, component and all, whenever the slot returns another value.
    const safely = (what: string, draw: () => JSX.Element) => (
      <box>
        <ErrorBoundary
          fallback={(cause: unknown) => {
            reporter.report(what, cause)
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
