// Setup from the panel: shows what would be done, asks, and then shows the progress and the result.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { createSignal } from "solid-js"
import { TextDialog } from "./dialogs.tsx"
import type { Reporter } from "./reporter.ts"
import { type CliResult, type CliRun, runCli } from "./setup-run.ts"
import { visible } from "./text.ts"

type Stage = "checking" | "asking" | "working" | "stopping" | "done" | "failed"

/** Lines of output shown when it failed, the newest. */
const MAX_LINES = 6

const OTHERS = "`hudfold model list` shows larger models, `hudfold model use` chooses one."

const WORDS: Record<Stage, { title: string; keys: string }> = {
  checking: { title: "Local model: checking what is installed", keys: "esc cancel" },
  asking: { title: "Local model: what setup would do", keys: "enter start   esc cancel" },
  working: { title: "Local model: setting up", keys: "esc stop" },
  stopping: { title: "Local model: stopping", keys: "" },
  done: { title: "Local model: done", keys: "esc close" },
  failed: { title: "Local model: not set up", keys: "esc close" },
}

/** One setup at a time; leaving the dialog stops it. `stop` is for when the plugin is disposed. */
export function createSetup(api: TuiPluginApi, reporter: Reporter): { show(): void; stop(): void } {
  const [stage, setStage] = createSignal<Stage>()
  const [lines, setLines] = createSignal<readonly string[]>([])
  let run: CliRun | undefined
  let shown = false

  const begin = (next: Stage, args: readonly string[], then: (result: CliResult) => void) => {
    setStage(next)
    setLines([])
    reporter.run("setup", async () => {
      try {
        run = runCli(args, (line) => setLines((before) => [...before, visible(line)]))
      } catch (cause) {
        setStage("failed")
        throw cause
      }
      const result = await run.result
      run = undefined
      then(result)
    })
  }
  const end = (result: CliResult) => {
    setStage(result.failure === undefined ? "done" : "failed")
    if (shown) return
    if (result.failure === undefined) api.ui.toast({ variant: "success", message: "The local model is set up." })
    else if (result.interrupted)
      api.ui.toast({ variant: "info", message: "Setup was stopped; run it again to continue." })
    else reporter.report("setup", result.failure)
  }
  const check = () =>
    begin("checking", ["setup", "--dry-run"], (result) => {
      if (!shown) setStage(undefined)
      // the dialog was closed and reopened while the first check was still stopping
      else if (result.failure !== undefined && result.interrupted) check()
      else setStage(result.failure === undefined ? "asking" : "failed")
    })
  const body = (): readonly string[] => {
    const now = stage()
    // without the last line, which says that nothing was changed
    if (now === "asking") return [...lines().slice(0, -1), OTHERS]
    return now === "checking" ? [] : lines().slice(now === "failed" ? -MAX_LINES : -1)
  }
  const accept = () => {
    if (stage() === "asking") begin("working", ["setup"], end)
  }
  const leave = () => {
    shown = false
    if (!run) return
    if (stage() === "working") setStage("stopping")
    run.stop()
  }

  const words = () => WORDS[stage() ?? "checking"]

  return {
    show: () => {
      api.ui.dialog.replace(
        () => (
          <TextDialog api={api} title={words().title} note={words().keys} text={body().join("\n")} onReturn={accept} />
        ),
        () => reporter.run("setup", leave),
      )
      api.ui.dialog.setSize("large")
      shown = true
      if (!run) check()
    },
    stop: () => run?.stop(),
  }
}
