// The commands of the palette, which are slash commands too. Each acts on the session that is open.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { showFolds } from "./folds-dialog.tsx"
import type { Guard } from "./guard.ts"
import { createSetup } from "./setup-dialog.tsx"
import { type Switch, turn } from "./switch.ts"
import { showText } from "./text-dialog.tsx"
import { hudText, statusText } from "./texts.ts"
import { statusNow } from "./view.ts"
import { look, type Seen, type Watch } from "./watch.ts"

type Command = {
  name: string
  title: string
  slash: string
  /** of a session that is open; absent = anywhere */
  act?: (sessionID: string, seen: Seen) => unknown
  run?: () => unknown
  enabled?: () => boolean
}

/** Registers them; they go with the plugin. */
export function registerCommands(api: TuiPluginApi, guard: Guard, watch: Watch, folder: string): void {
  const setup = createSetup(api, guard)
  api.lifecycle.onDispose(() => setup.stop())

  const open = () => {
    const { current } = api.route
    const id = current.name === "session" ? current.params?.sessionID : undefined
    return typeof id === "string" ? id : undefined
  }
  const isPaused = (one: Switch) => {
    const id = open()
    return id !== undefined && watch.peek(id)?.switches[one] === "paused"
  }
  const switching = (one: Switch, to: "on" | "paused", slash: string, title: string): Command => ({
    name: `opencode-hudfold.${one}.${to === "on" ? "resume" : "pause"}`,
    title,
    slash,
    enabled: () => open() !== undefined && isPaused(one) === (to === "on"),
    act: async (sessionID, seen) => {
      const message = await turn(folder, sessionID, one, to, statusNow(seen)?.[one].activity)
      watch.refresh(sessionID)
      api.ui.toast({ variant: "info", title: "opencode-hudfold", message })
    },
  })

  const commands: Command[] = [
    {
      name: "opencode-hudfold.show",
      title: "HUD of the next request",
      slash: "hud",
      act: (_, seen) => showText(api, hudText(seen)),
    },
    {
      name: "opencode-hudfold.folds",
      title: "HUD: list folds, recall one",
      slash: "hud-folds",
      act: (_, { status }) => {
        if (status?.folding.newest.length) showFolds(api, guard, status)
        else showText(api, { title: "Folds", note: "Nothing is folded in this session." })
      },
    },
    {
      name: "opencode-hudfold.status",
      title: "HUD: status, and the local model's",
      slash: "hud-status",
      act: (_, seen) => showText(api, statusText(seen)),
    },
    switching("hud", "paused", "hud-pause", "HUD: pause it for this session"),
    switching("hud", "on", "hud-resume", "HUD: resume it for this session"),
    switching("folding", "paused", "hud-fold-pause", "HUD: pause folding for this session"),
    switching("folding", "on", "hud-fold-resume", "HUD: resume folding for this session"),
    {
      name: "opencode-hudfold.setup",
      title: "HUD: set up the local model",
      slash: "hud-setup",
      run: () => setup.show(),
    },
  ]

  const run = async ({ act, run }: Command) => {
    api.ui.dialog.clear()
    if (!act) return run?.()
    const sessionID = open()
    if (sessionID === undefined) {
      api.ui.toast({ variant: "info", title: "opencode-hudfold", message: "Open a session first." })
      return
    }
    return act(sessionID, await look(folder, sessionID))
  }
  const unregister = api.keymap.registerLayer({
    commands: commands.map((command) => ({
      namespace: "palette",
      name: command.name,
      title: command.title,
      category: "opencode-hudfold",
      slashName: command.slash,
      ...(command.enabled ? { enabled: command.enabled } : {}),
      run: () => guard.run(`/${command.slash}`, () => run(command)),
    })),
  })
  api.lifecycle.onDispose(unregister)
}
