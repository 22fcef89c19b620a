// The plugin's half for the terminal of OpenCode 1 (`tui`) and OpenCode 2 (`setup`): the panel, the line next to the prompt,
// and the commands. Wiring only.

import type { TuiPluginApi, TuiPluginModule } from "@opencode-ai/plugin/tui"
import { createSignal, ErrorBoundary, type JSX, Show } from "solid-js"
import { statusFolder } from "../status/files.ts"
import { readPanelRows } from "../status/words.ts"
import { dataFolder } from "../system/data-folder.ts"
import { apiOfV2, isTerminalV2 } from "./api-v2.ts"
import { registerCommands } from "./commands.ts"
import { Panel, PromptLine } from "./panel.tsx"
import { createReporter } from "./reporter.ts"
import { watchSessions } from "./watch.ts"

/** Starts everything except the slots on the screen, and returns what to draw in them. */
function start(api: TuiPluginApi, options: unknown) {
  const reporter = createReporter(api)
  const { rows, problem } = readPanelRows(options)
  if (problem) reporter.report("the panel's options", problem)
  const folder = statusFolder(dataFolder())
  const watch = watchSessions(folder, (cause) => reporter.report("the panel", cause))
  api.lifecycle.onDispose(() => watch.close())
  registerCommands(api, reporter, folder)

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
  return {
    panel: (sessionID: () => string) =>
      safely("the panel", () => (
        <Panel api={api} watch={watch} sessionID={sessionID()} rows={rows} mounted={mounted} />
      )),
    line: (sessionID: () => string) =>
      safely("the prompt's line", () => (
        <PromptLine api={api} watch={watch} sessionID={sessionID()} hidden={panels() > 0} />
      )),
  }
}

const tui: TuiPluginModule["tui"] = async (api, options) => {
  const { panel, line } = start(api, options)
  api.slots.register({
    order: 110,
    slots: {
      sidebar_content: (_, props) => panel(() => props.session_id),
      session_prompt_right: (_, props) => line(() => props.session_id),
    },
  })
}

/** OpenCode 2 removes slots and commands itself; the cleanup ends the rest. */
async function setup(context: unknown): Promise<(() => void) | undefined> {
  if (!isTerminalV2(context)) return
  const { api, dispose } = apiOfV2(context)
  const { panel, line } = start(api, context.options)
  context.ui.slot({ append: "sidebar.content", render: (input) => panel(() => input.sessionID ?? "") })
  // on the home screen there is no session
  context.ui.slot({
    append: "prompt.footer.status",
    render: (input) => <Show when={input.sessionID}>{(id: () => string) => line(id)}</Show>,
  })
  return dispose
}

export default { id: "opencode-hudfold", tui, setup } satisfies TuiPluginModule & { setup: unknown }
