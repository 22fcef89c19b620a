// How errors of the plugin reach OpenCode's screen: as a notice, each once.

import { expect, test } from "bun:test"
import { createReporter } from "../../src/tui/reporter.ts"

type Toast = { message: string; variant?: string }

function setUp(onToast: (toast: Toast) => void = () => {}) {
  const toasts: Toast[] = []
  const toast = (one: Toast) => {
    toasts.push(one)
    onToast(one)
  }
  // the reporter uses no other part of the screen's interface
  const reporter = createReporter({ ui: { toast } } as unknown as Parameters<typeof createReporter>[0])
  return { reporter, toasts }
}

test.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("no room")
    },
  ],
  ["rejects", () => Promise.reject(new Error("no room"))],
])("a body that %s becomes one notice, however often", async (_, body) => {
  const { reporter, toasts } = setUp()
  reporter.run("/hud", body)
  reporter.run("/hud", body)
  await new Promise(setImmediate)
  expect(toasts).toMatchObject([{ variant: "error", message: "/hud: no room" }])
})

test("a different error is another notice", () => {
  const { reporter, toasts } = setUp()
  reporter.report("the panel", new Error("one"))
  reporter.report("the panel", "two")
  expect(toasts.map(({ message }) => message)).toEqual(["the panel: one", "the panel: two"])
})

test("a screen that is being torn down is not an error of its own", () => {
  const { reporter } = setUp(() => {
    throw new Error("destroyed")
  })
  expect(() => reporter.report("the panel", new Error("one"))).not.toThrow()
})

test("a body that succeeds runs at once and shows nothing", () => {
  const { reporter, toasts } = setUp()
  const done: string[] = []
  reporter.run("/hud", () => done.push("run"))
  expect({ done, toasts }).toEqual({ done: ["run"], toasts: [] })
})
