// The dialogs: a scrolling text of any length, and the lists of a session's folds.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { ScrollBoxRenderable } from "@opentui/core"
import { useTerminalDimensions } from "@opentui/solid"
import { onCleanup, onMount, Show } from "solid-js"
import type { FoldStatus, Status, Switches } from "../status/status.ts"
import { stepRange } from "../text/format.ts"
import type { ListDialog, ListDialogs, ListRow } from "./api-v2.ts"
import { fetchOriginal } from "./recall.ts"
import type { Reporter } from "./reporter.ts"
import { type AskedStep, askFor, type Wish } from "./switch.ts"
import { fit } from "./text.ts"
import {
  type DialogText,
  episodeRows,
  type FoldedThing,
  fitRow,
  foldActions,
  foldRows,
  foldTitle,
  keptActions,
  keptRows,
  listTitle,
  originalDialog,
  recordDialog,
} from "./view.ts"

/** Width of OpenCode's large dialog on a terminal that has room for it. */
const DIALOG_COLUMNS = 88
/** Columns of a dialog's title row taken by margins and the word "esc", at most. */
const TITLE_MARGINS = 14
/** Rows of a dialog taken by margins, title and note, at most. */
const FRAME_ROWS = 10
/** Columns of a list row that are neither title, description nor footer. */
const LIST_MARGINS = 12

export function showText(api: TuiPluginApi, text: DialogText): void {
  api.ui.dialog.replace(() => <TextDialog api={api} {...text} />)
  // after `replace`, which resets the size
  api.ui.dialog.setSize("large")
}

type FoldsContext = {
  api: TuiPluginApi
  reporter: Reporter
  folder: string
  status: Status
  switches: Switches
}

/** What is folded in a session, the newest first, and what is not folded yet; each row opens a list of actions. */
export function showFolds(context: FoldsContext): void {
  const { folding } = context.status
  const rows = [...foldRows(folding), ...keptRows(folding)]
  showList(context, listTitle(folding), "Search; enter shows what can be done", rows)
}

const CHOOSE = "Search; enter chooses"

/** What can be done with a fold, an episode or a step that is not folded. */
function showActions(context: FoldsContext, thing: FoldedThing): void {
  const { api, status, switches } = context
  if ("record" in thing) {
    const title = `Episode: ${stepRange(thing.from, thing.to)}`
    showList(context, title, CHOOSE, episodeRows(thing), (action) => {
      if (action === "show") showText(api, recordDialog(thing))
      else ask(context, action, thing.steps)
    })
  } else if ("kind" in thing)
    showList(context, foldTitle(thing), CHOOSE, foldActions(thing), (action) => {
      if (action === "show") recall(context, thing)
      else ask(context, action, [thing])
    })
  else {
    const { step, what, why, messageID } = thing
    const state = why === undefined ? "settled; it is folded when that pays" : `not folded: ${why}`
    const isKept = (switches.whole?.[messageID] ?? 0) > status.calls
    showList(context, `step ${step} ${what}`, state, keptActions(isKept), (wish) => ask(context, wish, [thing]))
  }
}

function ask({ api, reporter, folder, status }: FoldsContext, wish: Wish, steps: readonly AskedStep[]): void {
  api.ui.dialog.clear()
  reporter.run(wish, async () => {
    reporter.say(await askFor(wish, folder, status, steps), true)
  })
}

/** A list to choose from, by the dialog of the host. A chosen fold, episode or step opens its own list. */
function showList<Action extends string = never>(
  context: FoldsContext,
  title: string,
  placeholder: string,
  rows: ListRow<Action | FoldedThing>[],
  act: (action: Action) => void = () => {},
): void {
  const { api }: { api: TuiPluginApi & Partial<ListDialogs> } = context
  const list: ListDialog<Action | FoldedThing> = {
    title,
    placeholder,
    options: rows.map((row) => fitRow(row, dialogWidth(api.renderer.width) - LIST_MARGINS)),
    onSelect: ({ value }) => (typeof value === "object" ? showActions(context, value) : act(value)),
  }
  if (api.showList) api.showList(list)
  else {
    api.ui.dialog.replace(() => <api.ui.DialogSelect {...list} />)
    api.ui.dialog.setSize("large")
  }
}

function recall({ api, reporter, status }: FoldsContext, fold: FoldStatus): void {
  reporter.run(`recall of ${fold.id}`, async () => {
    showText(api, originalDialog(fold, await fetchOriginal(api.client, status.sessionID, fold)))
  })
}

/** Width of a large dialog on a terminal this wide. */
function dialogWidth(terminalWidth: number): number {
  return Math.min(DIALOG_COLUMNS, terminalWidth - 2)
}

/** `onReturn`: what the return key does. */
export function TextDialog(props: DialogText & { api: TuiPluginApi; onReturn?: () => void }) {
  const theme = () => props.api.theme.current
  const terminal = useTerminalDimensions()
  // OpenCode places a dialog a quarter of the way down the screen
  const maxRows = () => Math.max(3, Math.floor((terminal().height * 3) / 4) - FRAME_ROWS)
  let scroll: ScrollBoxRenderable | undefined
  onMount(() => {
    // OpenCode returns the focus to the prompt one millisecond after the previous dialog closed; take it after that
    const timer = setTimeout(() => {
      if (scroll && !scroll.isDestroyed) scroll.focus()
    }, 2)
    onCleanup(() => clearTimeout(timer))
  })
  // without these bindings OpenCode scrolls the conversation and closes the dialog
  const keys: Record<string, (box: ScrollBoxRenderable) => void> = {
    up: (box) => box.scrollBy(-1),
    down: (box) => box.scrollBy(1),
    pageup: (box) => box.scrollBy(-1, "viewport"),
    pagedown: (box) => box.scrollBy(1, "viewport"),
    home: (box) => box.scrollTo(0),
    end: (box) => box.scrollTo(box.scrollHeight),
  }
  const bindings = Object.entries(keys).map(([key, move]) => ({ key, cmd: () => scroll && move(scroll) }))
  if (props.onReturn) bindings.push({ key: "return", cmd: () => props.onReturn?.() })
  onMount(() => onCleanup(props.api.keymap.registerLayer({ bindings })))
  return (
    <box paddingLeft={4} paddingRight={4} paddingBottom={1} gap={1}>
      <box flexDirection="row" justifyContent="space-between">
        <text fg={theme().text} wrapMode="none">
          <b>{fit(props.title, dialogWidth(terminal().width) - TITLE_MARGINS)}</b>
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
          maxHeight={maxRows()}
          viewportOptions={{ paddingRight: 1 }}
          verticalScrollbarOptions={{
            trackOptions: { backgroundColor: theme().backgroundPanel, foregroundColor: theme().borderActive },
          }}
        >
          <text fg={theme().text} wrapMode={props.isVerbatim ? "char" : "word"}>
            {props.text}
          </text>
        </scrollbox>
      </Show>
    </box>
  )
}
