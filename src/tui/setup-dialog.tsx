// Setup from the panel: what would be done, the question, then what is being done, and how it ended.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { createMemo, createSignal, For, onCleanup, onMount, Show } from "solid-js"
import type { Guard } from "./guard.ts"
import { type Ended, type Run, runCli } from "./setup-run.ts"
import { visible } from "./visible.ts"

type Step = "looking" | "asking" | "working" | "stopping" | "done" | "failed"

/** Lines kept on the screen; older ones have been read. */
const SHOWN = 16

const SAID: Record<Step, { title: string; keys: string }> = {
  looking: { title: "Local model: looking what is there", keys: "esc cancel" },
  asking: { title: "Local model: this would be done", keys: "enter do it   esc cancel" },
  working: { title: "Local model: setting up", keys: "esc stop" },
  stopping: { title: "Local model: stopping", keys: "" },
  done: { title: "Local model: done", keys: "esc close" },
  failed: { title: "Local model: not set up", keys: "esc close" },
}

/** One setup at a time: who leaves the dialog while it works stops it. `stop` is for when the plugin goes. */
export function createSetup(api: TuiPluginApi, guard: Guard): { show(): void; stop(): void } {
  const [step, setStep] = createSignal<Step>()
  const [lines, setLines] = createSignal<readonly string[]>([])
  let run: Run | undefined
  let shown = false

  const begin = (next: Step, args: readonly string[], then: (ended: Ended) => void) => {
    setStep(next)
    setLines([])
    guard.run("setup", async () => {
      run = runCli(args, (line) => setLines((before) => [...before, visible(line)].slice(-SHOWN)))
      const ended = await run.ended
      run = undefined
      then(ended)
    })
  }
  const end = (ended: Ended) => {
    setStep(ended.ok ? "done" : "failed")
    if (shown) return
    if (ended.ok) api.ui.toast({ variant: "success", message: "The local model is set up." })
    else if (ended.interrupted) api.ui.toast({ variant: "info", message: "Setup was stopped; run it again to go on." })
    else guard.report("setup", ended.reason)
  }
  const look = () =>
    begin("looking", ["setup", "--dry-run"], (ended) => {
      if (!shown) setStep(undefined)
      // left and opened again while the first look was still ending
      else if (!ended.ok && ended.interrupted) look()
      else setStep(ended.ok ? "asking" : "failed")
    })
  const accept = () => {
    if (step() === "asking") begin("working", ["setup"], end)
  }
  const leave = () => {
    shown = false
    if (!run) return
    if (step() === "working") setStep("stopping")
    run.stop()
  }

  return {
    show: () => {
      api.ui.dialog.replace(
        () => <SetupDialog api={api} step={step() ?? "looking"} lines={lines()} accept={accept} />,
        () => guard.run("setup", leave),
      )
      api.ui.dialog.setSize("large")
      shown = true
      if (!run) look()
    },
    stop: () => run?.stop(),
  }
}

function SetupDialog(props: { api: TuiPluginApi; step: Step; lines: readonly string[]; accept: () => void }) {
  const theme = () => props.api.theme.current
  const said = createMemo(() => SAID[props.step])
  onMount(() =>
    onCleanup(
      props.api.keymap.registerLayer({ bindings: [{ key: "return", desc: "Set up", cmd: () => props.accept() }] }),
    ),
  )
  return (
    <box paddingLeft={4} paddingRight={4} paddingBottom={1} gap={1}>
      <text fg={props.step === "failed" ? theme().error : theme().text} wrapMode="none">
        <b>{said().title}</b>
      </text>
      <Show when={props.lines.length > 0}>
        <box>
          <For each={props.lines}>{(line) => <text fg={theme().textMuted}>{line}</text>}</For>
        </box>
      </Show>
      <text fg={theme().text}>{said().keys}</text>
    </box>
  )
}
