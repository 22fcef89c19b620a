// A dialog that shows a text as it is, however long, and scrolls.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { ScrollBoxRenderable } from "@opentui/core"
import { useTerminalDimensions } from "@opentui/solid"
import { onCleanup, onMount, Show } from "solid-js"
import { fit } from "./width.ts"

export type Text = {
  title: string
  /** said above the text */
  note?: string
  /** without anything that a terminal would act on, see `visible` */
  text?: string
}

/** Of a large dialog of OpenCode's, where the terminal has them. */
const COLUMNS = 88
/** Columns of a row that are margins or the word "esc", at most. */
const BESIDE = 14
/** Rows of a dialog that are not the text's, at most: margins, title, note. */
const FRAME = 10

export function showText(api: TuiPluginApi, text: Text): void {
  api.ui.dialog.replace(() => <TextDialog api={api} {...text} />)
  // `replace` sets it back
  api.ui.dialog.setSize("large")
}

/** Columns of a large dialog on a terminal this wide. */
export function dialogWidth(terminalWidth: number): number {
  return Math.min(COLUMNS, terminalWidth - 2)
}

function TextDialog(props: Text & { api: TuiPluginApi }) {
  const theme = () => props.api.theme.current
  const terminal = useTerminalDimensions()
  // OpenCode begins a dialog a quarter down the screen
  const most = () => Math.max(3, Math.floor((terminal().height * 3) / 4) - FRAME)
  let scroll: ScrollBoxRenderable | undefined
  onMount(() => {
    // OpenCode gives the focus back to the prompt a millisecond after another dialog was closed, so ours is later
    const timer = setTimeout(() => {
      if (scroll && !scroll.isDestroyed) scroll.focus()
    }, 2)
    onCleanup(() => clearTimeout(timer))
  })
  // OpenCode has bound these keys to the conversation and would close the dialog
  const keys: Record<string, (box: ScrollBoxRenderable) => void> = {
    up: (box) => box.scrollBy(-1),
    down: (box) => box.scrollBy(1),
    pageup: (box) => box.scrollBy(-1, "viewport"),
    pagedown: (box) => box.scrollBy(1, "viewport"),
    home: (box) => box.scrollTo(0),
    end: (box) => box.scrollTo(box.scrollHeight),
  }
  const bindings = Object.entries(keys).map(([key, move]) => ({ key, cmd: () => scroll && move(scroll) }))
  onMount(() => onCleanup(props.api.keymap.registerLayer({ bindings })))
  return (
    <box paddingLeft={4} paddingRight={4} paddingBottom={1} gap={1}>
      <box flexDirection="row" justifyContent="space-between">
        <text fg={theme().text} wrapMode="none">
          <b>{fit(props.title, dialogWidth(terminal().width) - BESIDE)}</b>
        </text>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a terminal has no roles */}
        <text fg={theme().textMuted} flexShrink={0} onMouseUp={() => props.api.ui.dialog.clear()}>
          {" "}
          esc
        </text>
      </box>
      <Show when={props.note}>
        <text fg={theme().textMuted}>{props.note}</text>
      </Show>
      <Show when={props.text}>
        <scrollbox
          ref={(box: ScrollBoxRenderable) => {
            scroll = box
          }}
          maxHeight={most()}
          verticalScrollbarOptions={{
            trackOptions: { backgroundColor: theme().backgroundPanel, foregroundColor: theme().borderActive },
          }}
        >
          <text fg={theme().text} wrapMode="char">
            {props.text}
          </text>
        </scrollbox>
      </Show>
    </box>
  )
}
