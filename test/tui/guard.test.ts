// A fault of ours as OpenCode's screen gets to know it: a notice, once.

import { expect, test } from "bun:test"
import { createGuard } from "../../src/tui/guard.ts"

type Toast = { message: string; variant?: string }

function guarded(onToast: (toast: Toast) => void = () => {}) {
  const toasts: Toast[] = []
  const toast = (one: Toast) => {
    toasts.push(one)
    onToast(one)
  }
  // of the screen's interface the guard uses this alone
  const guard = createGuard({ ui: { toast } } as unknown as Parameters<typeof createGuard>[0])
  return { guard, toasts }
}

test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("no room")
    },
  ],
  ["rejects", () => Promise.reject(new Error("no room"))],
])("what %s becomes one notice, however often", async (_, body) => {
  const { guard, toasts } = guarded()
  guard.run("/hud", body)
  guard.run("/hud", body)
  await new Promise(setImmediate)
  expect(toasts).toMatchObject([{ variant: "error", message: "/hud: no room" }])
})

test("another fault is another notice", () => {
  const { guard, toasts } = guarded()
  guard.report("the panel", new Error("one"))
  guard.report("the panel", "two")
  expect(toasts.map(({ message }) => message)).toEqual(["the panel: one", "the panel: two"])
})

test("a screen that is going away is not a fault of its own", () => {
  const { guard } = guarded(() => {
    throw new Error("destroyed")
  })
  expect(() => guard.report("the panel", new Error("one"))).not.toThrow()
})

test("what goes well is run at once and says nothing", () => {
  const { guard, toasts } = guarded()
  const done: string[] = []
  guard.run("/hud", () => done.push("run"))
  expect({ done, toasts }).toEqual({ done: ["run"], toasts: [] })
})
