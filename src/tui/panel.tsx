// The two components on OpenCode's screen: the sidebar's section, and the short line beside the prompt while the sidebar is
// hidden. `view.ts` decides what they say and how wide it may be.

import type { TuiPluginApi, TuiThemeCurrent } from "@opencode-ai/plugin/tui"
import type { BoxRenderable } from "@opentui/core"
import { useTerminalDimensions } from "@opentui/solid"
import { type Accessor, createEffect, createMemo, createSignal, For, Index, onCleanup, onMount, Show } from "solid-js"
import { ALL_ON } from "../status/status.ts"
import type { PanelRow, Tone } from "../status/words.ts"
import { panelLines, type StyledLine, summaryOf, titleOf } from "./view.ts"
import { type SessionSnapshot, type SessionWatch, withoutOutdated } from "./watch.ts"

const OPEN_KEY = "opencode-hudfold.open"
/** Width of OpenCode's sidebar without its padding, until it has been drawn and measured. */
const SIDEBAR_COLUMNS = 37

/** Until the session's files are read. Of the panel only the title is drawn then, not that nothing is known. */
const UNREAD: SessionSnapshot = { status: undefined, switches: ALL_ON }

type PanelProps = {
  api: TuiPluginApi
  watch: SessionWatch
  sessionID: string
  rows: readonly PanelRow[]
  /** called when the panel is mounted; returns what to call when it is unmounted */
  mounted: () => () => void
}

/** A title that collapses the section, and the session's status below it. */
export function Panel(props: PanelProps) {
  const theme = () => props.api.theme.current
  const [open, setOpen] = createSignal(props.api.kv.get(OPEN_KEY, true))
  const [columns, setColumns] = createSignal(SIDEBAR_COLUMNS)
  const state = followSession(props, () => props.sessionID)
  const lines = memoOf(() => panelLines(state(), columns(), props.rows))
  const title = memoOf(() => titleOf(state()))
  onMount(() => onCleanup(props.mounted()))
  const toggle = () => props.api.kv.set(OPEN_KEY, setOpen(!open()))
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
          <span style={{ fg: theme()[COLOURS[title().tone]] }}> {title().text}</span>
        </text>
      </box>
      <Show when={open() && state() !== UNREAD}>
        <Index each={lines()}>{(line) => <Spans line={line()} theme={theme()} />}</Index>
      </Show>
    </box>
  )
}

export function PromptLine(props: { api: TuiPluginApi; watch: SessionWatch; sessionID: string; hidden: boolean }) {
  const terminal = useTerminalDimensions()
  const state = followSession(props, () => props.sessionID)
  const line = memoOf(() => (props.hidden ? [] : summaryOf(state(), terminal().width)))
  return (
    <Show when={line().length > 0}>
      <Spans line={line()} theme={props.api.theme.current} />
    </Show>
  )
}

/** The state of a session as a signal; switches to another session when the id changes. */
function followSession({ api, watch }: Pick<PanelProps, "api" | "watch">, sessionID: Accessor<string>) {
  const [state, setState] = createSignal(UNREAD)
  createEffect(() => {
    setState(UNREAD)
    onCleanup(watch.follow(sessionID(), setState))
  })
  return () => withoutOutdated(state(), sessionID(), api)
}

/** Draws again only what has changed. */
function memoOf<T extends object>(value: () => T): Accessor<T> {
  return createMemo(value, undefined, { equals: (one, other) => JSON.stringify(one) === JSON.stringify(other) })
}

function Spans(props: { line: StyledLine; theme: TuiThemeCurrent }) {
  return (
    <text wrapMode="none" fg={props.theme.textMuted}>
      <For each={props.line}>{(span) => <span style={{ fg: props.theme[COLOURS[span.tone]] }}>{span.text}</span>}</For>
    </text>
  )
}

const COLOURS = {
  plain: "text",
  muted: "textMuted",
  good: "success",
  warn: "warning",
  bad: "error",
} as const satisfies Record<Tone, keyof TuiThemeCurrent>
