// A terminal of OpenCode 2 in small: loads a built half with `bun --conditions=browser`, draws its slots and runs its commands,
// and prints what became of it as JSON. Arguments: the file, the session, the message of a fold's original.

import { createComponent, testRender } from "@opentui/solid"
import { createRoot, createSignal } from "solid-js"
import { loadedModule, storedOf } from "./host-v2.ts"
import { bash, SessionBuilder } from "./session.ts"

const [, , file = "", sessionID = ""] = process.argv
type Claim = { append: string; render: (input: object) => unknown }
type Command = { id?: string; slash?: { name: string }; enabled?: () => boolean; run: () => unknown }

const claims: Claim[] = []
const listeners = new Map<string, number>()
const shown: unknown[] = []
const toasts: { message: string }[] = []
const layers: { mode?: string; commands: Command[] }[] = []
const session = new SessionBuilder(sessionID).user("look").assistant([bash("ls", "a\nb\n")])
const colour = "#ffffff"
let values: Record<string, unknown> = {}
let isSetUp = false

const context = {
  options: {},
  theme: { text: { base: colour, muted: colour, feedback: {} }, background: { base: "#000000" } },
  renderer: { width: 120 },
  data: {
    on(type: string) {
      listeners.set(type, (listeners.get(type) ?? 0) + 1)
      return () => void listeners.set(type, (listeners.get(type) ?? 0) - 1)
    },
    session: {
      message: {
        async sync() {},
        get: (_: string, id: string) => session.messages.filter(({ info }) => info.id === id).map(storedOf)[0],
      },
    },
  },
  keymap: {
    layer(input: () => (typeof layers)[number]) {
      // the real one uses the component's context
      if (isSetUp === false) throw new Error("no component")
      layers.push(input())
    },
  },
  storage: {
    store<T extends object>(_: string, { initial }: { initial: T }) {
      values = initial as typeof values
      return [initial, async (change: (draft: T) => void) => change(initial)] as const
    },
  },
  ui: {
    dialog: {
      show: (render: () => unknown) => void shown.push(render),
      set() {},
      clear() {},
      async select(list: { title: string; options: { title: string; value: unknown }[] }) {
        shown.push(list.title)
        return list.options.find(({ title }) => title.includes("src/db.ts"))?.value
      },
    },
    toast: { show: (toast: { message: string }) => void toasts.push(toast) },
    router: { current: () => ({ type: "session", sessionID }) },
    slot(claim: Claim) {
      claims.push(claim)
      return () => {}
    },
  },
}

const module = (await import(file)) as { default: { setup(context: unknown): Promise<() => void> } }
const plugin = module.default
// throws where OpenCode 2 would not load it
loadedModule(module)
const nothing = await plugin.setup({})
const dispose = await plugin.setup(context)
isSetUp = true

const draw = async (slot: string, input: object) => {
  const { render } = claims.find(({ append }) => append === slot) as Claim
  const screen = await testRender(() => createComponent(render as never, input as never) as never, {
    width: 60,
    height: 24,
  })
  await screen.renderOnce()
  const first = screen.captureCharFrame()
  await new Promise((resolve) => setTimeout(resolve, 300))
  await screen.renderOnce()
  const frame = screen.captureCharFrame()
  screen.renderer.destroy()
  return { first, frame }
}
const [id] = createSignal(sessionID)
const input = {
  get sessionID() {
    return id()
  },
}
const { first, frame: panel } = await draw("sidebar.content", input)
const { frame: line } = await draw("prompt.footer.status", input)
const { frame: home } = await draw("prompt.footer.status", {})
createRoot(() => {
  for (const { append, render } of claims) if (append === "app") render({})
})
const commands = layers.flatMap((layer) => layer.commands)
const named = (slash: string) => commands.find((command) => command.slash?.name === slash)
const run = async (slash: string) => {
  await named(slash)?.run()
  await new Promise((resolve) => setTimeout(resolve, 100))
}
const couldResume = named("hud-resume")?.enabled?.()
await run("hud-pause")
await run("hud-folds")
await run("hud-status")
await run("hud-setup")
const dialog = await testRender(shown.at(-1) as never, { width: 80, height: 24 })
await dialog.renderOnce()
const setup = dialog.captureCharFrame()
dialog.renderer.destroy()
dispose()
process.stdout.write(
  JSON.stringify({
    ...{ panel, first, line, home, setup, couldResume, values, toasts, nothing: nothing === undefined },
    commands: commands.map((command) => [command.id, command.slash?.name]),
    shown: shown.map((one) => (typeof one === "string" ? one : "a dialog")),
    listening: [...listeners.values()].reduce((sum, count) => sum + count, 0),
    slots: claims.map(({ append }) => append),
    keys: Object.keys(plugin),
  }),
)
process.exit(0)
