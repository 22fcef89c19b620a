// A line of spans in the theme's colours.

import type { TuiThemeCurrent } from "@opencode-ai/plugin/tui"
import { For } from "solid-js"
import type { Ink, Line, Span } from "./view.ts"

export function Spans(props: { line: Line; theme: TuiThemeCurrent }) {
  return (
    <text wrapMode="none" fg={props.theme.textMuted}>
      <For each={props.line}>{(span) => <span style={styleOf(span, props.theme)}>{span.text}</span>}</For>
    </text>
  )
}

function styleOf({ ink, on }: Span, theme: TuiThemeCurrent) {
  const fg = colourOf(ink, theme)
  if (on === undefined) return { fg }
  return { fg, bg: on === "track" ? theme.backgroundElement : theme.textMuted }
}

export function colourOf(ink: Ink, theme: TuiThemeCurrent) {
  switch (ink) {
    case "plain":
    case "mark":
      return theme.text
    case "good":
      return theme.success
    case "warn":
      return theme.warning
    case "bad":
      return theme.error
    case "muted":
    case "track":
      return theme.textMuted
  }
}
