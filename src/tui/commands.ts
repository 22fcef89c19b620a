// The commands of the palette, which are slash commands too. All but setup act on the open session.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { readSwitches } from "../status/files.ts"
import { showFolds, showText } from "./dialogs.tsx"
import type { Reporter } from "./reporter.ts"
import { createSetup } from "./setup-dialog.tsx"
import { foldAll, type Switch, setSwitch } from "./switch.ts"
import { hudDialog, statusDialog, whyNoFolds } from "./view.ts"
import { readSessionSnapshot, type SessionSnapshot, withoutOutdated } from "./watch.ts"

/** Registers the commands until the plugin is disposed. */
export function registerCommands(api: TuiPluginApi, reporter: Reporter, folder: string): void {
  const setup = createSetup(api, reporter)
  api.lifecycle.onDispose(() => setup.stop())

  const openSession = () => {
    const { current } = api.route
    const id = current.name === "session" ? current.params?.sessionID : undefined
    return typeof id === "string" ? id : undefined
  }
  /** What a command does that needs an open session. */
  const inSession = (act: (sessionID: string, state: SessionSnapshot) => unknown) => async () => {
    const sessionID = openSession()
    if (sessionID === undefined) return reporter.say("Open a session first.")
    return act(sessionID, withoutOutdated(await readSessionSnapshot(folder, sessionID), sessionID, api))
  }
  const switchCommand = (target: Switch, to: "on" | "paused", slashName: string, title: string) => ({
    name: `opencode-hudfold.${target}.${to === "on" ? "resume" : "pause"}`,
    title,
    slashName,
    // offered where it changes something
    enabled: () => {
      const sessionID = openSession()
      return sessionID !== undefined && readSwitches(folder, sessionID)[target] !== to
    },
    run: inSession(async (sessionID, { status }) => {
      reporter.say(await setSwitch(folder, sessionID, target, to, status?.[target].activity))
    }),
  })

  const commands = [
    {
      name: "opencode-hudfold.show",
      title: "HUD of the next request",
      slashName: "hud",
      run: inSession((_, state) => showText(api, hudDialog(state))),
    },
    {
      name: "opencode-hudfold.folds",
      title: "HUD: list what is folded; open, unfold, pin, fold now",
      slashName: "hud-folds",
      run: inSession((_, { status, switches }) => {
        const note = whyNoFolds(status)
        if (status && note === undefined) showFolds({ api, reporter, folder, status, switches })
        else showText(api, { title: "Folds", note })
      }),
    },
    {
      name: "opencode-hudfold.compact",
      title: "HUD: fold all that is settled with the next request",
      slashName: "hud-compact",
      run: inSession(async (sessionID, { status }) => {
        reporter.say(await foldAll(folder, sessionID, status), true)
      }),
    },
    {
      name: "opencode-hudfold.status",
      title: "HUD: status of the session and the local model",
      slashName: "hud-status",
      run: inSession((_, state) => showText(api, statusDialog(state))),
    },
    switchCommand("hud", "paused", "hud-pause", "HUD: pause it for this session"),
    switchCommand("hud", "on", "hud-resume", "HUD: resume it for this session"),
    switchCommand("folding", "paused", "hud-fold-pause", "HUD: pause folding for this session"),
    switchCommand("folding", "on", "hud-fold-resume", "HUD: resume folding for this session"),
    {
      name: "opencode-hudfold.setup",
      title: "HUD: set up the local model",
      slashName: "hud-setup",
      run: () => setup.show(),
    },
  ]

  const unregister = api.keymap.registerLayer({
    commands: commands.map(({ run, ...command }) => ({
      ...command,
      namespace: "palette",
      category: "opencode-hudfold",
      run: () =>
        reporter.run(`/${command.slashName}`, () => {
          api.ui.dialog.clear()
          return run()
        }),
    })),
  })
  api.lifecycle.onDispose(unregister)
}
