// The same recorded session through both hosts: the same folds, records and HUD, call by call.

import { describe, expect, test } from "bun:test"
import type { HostMessage } from "../../../src/host/v1/message.ts"
import * as module from "../../../src/plugin.ts"
import { dataOfFile } from "../../support/data.ts"
import { fakeHostV2, heard, loadedModule, storedOf, textsOf } from "../../support/host-v2.ts"
import { host } from "../../support/hosted.ts"
import { LARGE, withoutRare } from "../../support/large.ts"
import { madeUpSession } from "../../support/made-up.ts"
import { bash, failedTool, read, SessionBuilder, tool, usage } from "../../support/session.ts"

dataOfFile()

const OPTIONS = { store: { enabled: false }, deadlineMs: 5000 }

/** The texts of a request in order, in which alone the hosts could differ. */
const textsOfV1 = (messages: readonly HostMessage[]): string[] =>
  messages.flatMap(({ info, parts }) => {
    const said = parts.flatMap((part) =>
      part.type === "text" || part.type === "reasoning" ? [part.text ?? ""] : part.type === "tool" ? [""] : [],
    )
    const returned = parts.flatMap(({ state }) => (state ? [state.output ?? state.error ?? ""] : []))
    return info.role === "assistant" ? [...said, ...returned] : said
  })

const listing = (n: number) => Array.from({ length: 300 }, (_, i) => `export const value${n}_${i} = ${i}`).join("\n")

type Arrival = "before the next request" | "after the next request" | "never"

/** Every request of a session through both hosts. `arrival`: when OpenCode 2's events are heard. */
async function both(session: SessionBuilder, arrival: Arrival) {
  const one = await host({ options: OPTIONS, client: {}, sessionID: session.sessionID })
  const other = fakeHostV2({ sessionID: session.sessionID })
  const context = other.context(OPTIONS) as { event: { subscribe(): AsyncIterable<object> } }
  const { subscribe } = context.event
  let gate = Promise.withResolvers<void>()
  context.event.subscribe = async function* () {
    for await (const event of subscribe()) {
      await gate.promise
      yield event
    }
  }
  if (arrival === "before the next request") gate.resolve()
  const cleanup = await loadedModule(module).setup(context)
  // OpenCode 1 passes the model after the first request; here both know it from the start
  await one.request([])
  const requests: { v1: string[]; v2: string[] }[] = []
  for (const [at, message] of session.messages.entries()) {
    if (message.info.role === "assistant") {
      const { messages: v1 } = await one.request(session.messages.slice(0, at))
      const { messages: v2 } = await other.request()
      requests.push({ v1: textsOfV1(v1), v2: textsOf(v2) })
      if (arrival === "after the next request") {
        gate.resolve()
        await heard()
        gate = Promise.withResolvers()
      }
    }
    other.store(storedOf(message))
    if (arrival === "before the next request") await heard()
  }
  expect(one.wrong).toEqual([])
  await one.dispose()
  await (cleanup as () => Promise<void>)()
  return requests
}

const SESSIONS: [string, () => SessionBuilder][] = [
  ["a long session", () => madeUpSession({ calls: LARGE ? 150 : 80, compactsAt: Number.POSITIVE_INFINITY })],
  [
    "one with errors and exit codes",
    () => {
      const session = new SessionBuilder("ses_errors").user("make the login test pass on node 22, please")
      session.assistant([failedTool("read", { filePath: "/home/dev/shop/none.ts" }, "no such file")], usage(300))
      session.assistant([bash("npm test", "1 failed\nError: expected 200, got 401", 1)], usage(400, 300))
      // the project's folder is not said again, another one is
      for (const workdir of ["/home/dev/shop", "/home/dev/shop/web"])
        session.assistant([tool("bash", { command: "ls", workdir }, "a.ts")], usage(450, 350))
      for (let n = 0; n < 40; n++) session.assistant([read(`src/file-${n}.ts`, listing(n))], usage(600, 400 + n * 600))
      return session.user("and now the logout").assistant([bash("npm test", "2 passed")], usage(100, 30_000))
    },
  ],
]
const ARRIVALS: Arrival[] = ["before the next request", "after the next request", "never"]

describe.each(ARRIVALS)("with events that are heard %s", (arrival) => {
  // the long one shows no more of the other arrivals than the other does
  const rare = arrival === "after the next request" ? [] : ["a long session"]
  test.each(withoutRare(SESSIONS, rare))(
    "%s goes out the same",
    async (_, make) => {
      const requests = await both(make(), arrival)
      expect(requests.length).toBeGreaterThan(40)
      for (const { v1, v2 } of requests) expect(v2).toEqual(v1)
      const folded = requests.filter(({ v2 }) => v2.some((text) => /^(?:Steps? \d|folded r)/.test(text)))
      expect(folded.length).toBeGreaterThan(10)
      expect(requests.filter(({ v2 }) => v2.at(-1)?.startsWith("<hud>")).length).toBeGreaterThan(10)
    },
    60_000,
  )
})
