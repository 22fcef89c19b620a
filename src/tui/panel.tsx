// The sidebar's section: a title that folds it up, and below it what is worth a line. Everything that is said and how
// long it may be is in `view.ts`.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { BoxRenderable } from "@opentui/core"
import { createMemo, createSignal, Index, onCleanup, onMount, Show } from "solid-js"
import { followSession } from "./follow.ts"
import { colourOf, Spans } from "./spans.tsx"
import { type Line, panelLines, titleOf } from "./view.ts"
import type { Watch } from "./watch.ts"

const OPEN = "opencode-hudfold.open"
/** Of OpenCode's sidebar, without its padding; measured once it is drawn. */
const COLUMNS = 37

type Props = {
  api: TuiPluginApi
  watch: Watch
  sessionID: string
  /** told when the panel comes; the answer is called when it goes */
  mounted: () => () => void
}

export function Panel(props: Props) {
  const theme = () => props.api.theme.current
  const [open, setOpen] = createSignal(props.api.kv.get(OPEN, true))
  const [columns, setColumns] = createSignal(COLUMNS)
  const seen = followSession(props.watch, () => props.sessionID)
  const lines = createMemo(() => panelLines(seen(), columns()), undefined, { equals: isEqual })
  const title = createMemo(() => titleOf(seen()), undefined, { equals: isEqual })
  onMount(() => onCleanup(props.mounted()))
  const toggle = () => {
    props.api.kv.set(OPEN, setOpen(!open()))
  }
  return (
    <box
      onSizeChange={function (this: BoxRenderable) {
        setColumns(this.width)
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a terminal has no roles */}
      <box flexDirection="row" gap={1} onMouseDown={toggle}>
        <text fg={theme().text}>{open() ? "▼" : "▶"}</text>
        <text fg={theme().text} wrapMode="none">
          <b>HUD</b>
          <span style={{ fg: colourOf(title().ink, theme()) }}> {title().text}</span>
        </text>
      </box>
      <Show when={open()}>
        <Index each={lines()}>{(line) => <Spans line={line()} theme={theme()} />}</Index>
      </Show>
    </box>
  )
}

function isEqual<T extends Line | readonly Line[] | object>(one: T, other: T): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
