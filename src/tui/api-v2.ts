// OpenCode 2's terminal in the shape of OpenCode 1's, as far as the panel and the commands use it. Types are mirrored, so that
// neither host's library is loaded in the other.

import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import type { JSX } from "solid-js"
import { fromStored } from "../store/stored-v2.ts"
import { asRecord } from "../system/values.ts"

export type ListRow<T> = { title: string; description: string; footer?: string; category?: string; value: T }

export type ListDialog<T> = {
  title: string
  placeholder: string
  options: ListRow<T>[]
  onSelect(chosen: { value: T }): void
}

/** What OpenCode 2 has in place of a component for lists. */
export type ListDialogs = { showList<T>(list: ListDialog<T>): void }

type SlotInput = { readonly sessionID?: string }

/** The part of OpenCode 2's context that is used. */
export type TerminalV2 = {
  options?: unknown
  theme: unknown
  renderer: { width: number }
  data: {
    session: {
      message: { sync(sessionID: string): Promise<void>; get(sessionID: string, messageID: string): unknown }
    }
  }
  keymap: { layer(input: () => { mode?: string; commands: readonly object[] }): void }
  storage: {
    store<T extends object>(
      key: string,
      options: { initial: T },
    ): readonly [T, (change: (draft: T) => void) => Promise<void>]
  }
  ui: {
    dialog: {
      show(render: () => JSX.Element, onClose?: () => void): void
      set(options: { size: string }): void
      clear(): void
      select<T>(list: Omit<ListDialog<T>, "onSelect">): Promise<T | undefined>
    }
    toast: { show(toast: object): void }
    router: { current(): { type: string; sessionID?: string } }
    slot(claim: { append: string; render: (input: SlotInput) => JSX.Element }): () => void
  }
}

/** Whether the argument of `setup` is that of OpenCode 2's terminal. */
export function isTerminalV2(context: unknown): context is TerminalV2 {
  return typeof asRecord(asRecord(context)?.ui)?.slot === "function"
}

/** `dispose` calls everything that was passed to `lifecycle.onDispose`. */
export function apiOfV2(context: TerminalV2): { api: TuiPluginApi & ListDialogs; dispose: () => void } {
  const { ui, data, keymap } = context
  const disposals: (() => unknown)[] = []
  const initial = { values: {} as Record<string, unknown> }
  const [kept, keep] = context.storage.store("panel", { initial })
  const api = {
    theme: {
      get current() {
        return coloursOf(context.theme)
      },
    },
    kv: {
      get: (key: string, fallback: unknown) => kept.values?.[key] ?? fallback,
      set: (key: string, value: unknown) =>
        void keep((draft) => {
          draft.values = { ...draft.values, [key]: value }
        }).catch(() => {}),
    },
    lifecycle: { onDispose: (end: () => unknown) => void disposals.push(end) },
    route: {
      get current() {
        const { type, sessionID } = ui.router.current()
        return { name: type, params: { sessionID } }
      },
    },
    renderer: {
      get width() {
        return context.renderer.width
      },
    },
    ui: {
      dialog: {
        replace: (render: () => JSX.Element, onClose?: () => void) => ui.dialog.show(render, onClose),
        setSize: (size: string) => ui.dialog.set({ size }),
        clear: () => ui.dialog.clear(),
      },
      toast: (toast: object) => ui.toast.show(toast),
    },
    showList: <T>({ onSelect, ...list }: ListDialog<T>) => {
      const choose = (value: T | undefined) => {
        if (value !== undefined) onSelect({ value })
      }
      // a rejection is a dialog that closed
      void ui.dialog.select<T>(list).then(choose, () => {})
    },
    keymap: { registerLayer },
    state: { session: { messages: () => [] } },
    client: {
      session: {
        async message({ sessionID, messageID }: { sessionID: string; messageID: string }) {
          await data.session.message.sync(sessionID)
          const stored = data.session.message.get(sessionID, messageID)
          const [message] = stored ? fromStored([stored], sessionID) : []
          return message ? { data: message } : { response: { status: 404 } }
        },
      },
    },
  }
  const dispose = () => {
    for (const end of disposals.splice(0)) end()
  }
  return { api: api as unknown as TuiPluginApi & ListDialogs, dispose }

  function registerLayer({ commands = [], bindings = [] }: LayerV1): () => void {
    if (commands.length > 0) {
      const named = commands.map(({ name, title, category, slashName, enabled, run }) => ({
        ...{ id: name, title, group: category, palette: true, slash: { name: slashName }, run },
        ...(enabled ? { enabled } : {}),
      }))
      // a layer belongs to a component, and `setup` is not inside one
      return ui.slot({
        append: "app",
        render() {
          keymap.layer(() => ({ commands: named }))
          return null
        },
      })
    }
    keymap.layer(() => ({
      mode: "modal",
      commands: bindings.map(({ key, cmd }) => ({ bind: key, run: () => void cmd() })),
    }))
    return () => {}
  }
}

/** What this plugin registers with OpenCode 1. */
type LayerV1 = {
  commands?: {
    name: string
    title: string
    category: string
    slashName: string
    enabled?: () => boolean
    run: () => unknown
  }[]
  bindings?: { key: string; cmd: () => unknown }[]
}

/** OpenCode 2's colours under the names of OpenCode 1. */
function coloursOf(theme: unknown) {
  const at = (path: string) =>
    path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], theme)
  const text = at("text.base")
  const muted = at("text.muted") ?? text
  const feedback = (kind: string) => at(`text.feedback.${kind}.base`) ?? text
  return {
    text,
    textMuted: muted,
    success: feedback("success"),
    warning: feedback("warning"),
    error: feedback("error"),
    backgroundPanel: at("background.surface.overlay") ?? at("background.base"),
    borderActive: at("border.base") ?? muted,
  }
}
