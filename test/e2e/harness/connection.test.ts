// Lost connections, a restarted server, a password: what a program meets that drives OpenCode for days.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { environmentFor } from "../../opencode/config.ts"
import { findOpencode } from "../../opencode/host.ts"
import { hudsOf, type ModelRequest } from "../../opencode/request.ts"
import { EAGER, foldsIn, FILES as LOGS, look, recall, recalledIn, recallID } from "../../support/folds.ts"
import { LARGE, testLarge } from "../../support/large.ts"
import {
  eventually,
  FILES,
  openWorld,
  PATIENCE_MS,
  read,
  say,
  TWICE,
  todo,
  use,
  type World,
  type WorldOptions,
} from "../../support/world.ts"
import { authorization, connect, HttpError } from "./http-client.ts"
import { badLine, type Serving, startServe } from "./server.ts"
import { Refused } from "./sse.ts"

setDefaultTimeout(2 * PATIENCE_MS)

const PASSWORD = "open sésame"
const USERNAME = "someone"
const PLAN = todo(["look at the logs", "in_progress"])

type Server = { world: World; serving: Serving; start(port?: number): Promise<Serving> }

let hooked: Server
/** In the large run an OpenCode without the plugin too, which shows that what is expected of both is right. */
let servers: Server[]

beforeAll(async () => {
  const bare = LARGE ? [open(null)] : []
  // the unknown option gives the plugin something to log
  servers = await Promise.all([open([EAGER[0], { ...EAGER[1], deadlineMs: 5_000, unknown: true }]), ...bare])
  hooked = servers[0] as Server
}, 2 * PATIENCE_MS)
afterAll(async () => {
  for (const { world, serving } of servers) {
    await serving.stop()
    await world.close()
  }
}, PATIENCE_MS)

async function open(plugin: NonNullable<WorldOptions["plugin"]> | null): Promise<Server> {
  const world = await openWorld({ plugin, files: { ...FILES, ...LOGS } })
  const env = {
    ...environmentFor(world.host.root),
    OPENCODE_SERVER_PASSWORD: PASSWORD,
    OPENCODE_SERVER_USERNAME: USERNAME,
  }
  const start = (port?: number) =>
    startServe({ opencode: findOpencode(), directory: world.host.project, env, ...(port ? { port } : {}) })
  return { world, serving: await start(), start }
}

const client = ({ world }: Server, url: string) =>
  connect({ url, directory: world.host.project, password: PASSWORD, username: USERNAME })

describe("with a password on the server", () => {
  const PATHS = ["/global/health", "/doc", "/session", "/event", "/experimental/tool/ids", "/agent", "/config"]
  const wrong = { password: "wrong", username: USERNAME }
  const default_ = { password: PASSWORD }

  test.each(PATHS)("%s is refused without it and with a wrong one, with the plugin as without it", async (path) => {
    for (const { serving, world } of servers) {
      const target = new URL(path, serving.url)
      target.searchParams.set("directory", world.host.project)
      for (const who of [{}, wrong, default_]) {
        const response = await fetch(target, { headers: authorization(who) })
        expect(response.status).toBe(401)
        expect(await response.text()).not.toContain("opencode-hudfold")
      }
    }
  })

  test("a client with name and password drives a turn, and the plugin's own calls to the server are authorised too", async () => {
    const one = await client(hooked, hooked.serving.url)
    try {
      expect(await one.health()).toEqual({ healthy: true, version: expect.any(String) })
      const session = await one.create("With a password")
      hooked.world.provider.play([use(look(1)), TWICE, say("Done.")], session)
      await one.turn(session, "Look at the first log")
      expect(hudsOf(hooked.world.provider.from("main", session)[2] as ModelRequest)).toHaveLength(1)
      await eventually(
        "a line of the plugin in the log",
        () => hooked.world.host.log().includes("hudfold: ") || undefined,
      )
    } finally {
      one.close()
    }
  })

  test("a client without the password is refused at once and does not try again", async () => {
    const refused = await connect({ url: hooked.serving.url, directory: hooked.world.host.project }).catch((e) => e)
    expect(refused).toBeInstanceOf(Refused)
  })

  test("an unknown session is a 404, as without the plugin", async () => {
    for (const server of servers) {
      const one = await client(server, server.serving.url)
      const failure = await one.call("GET", "/session/ses_000000000000aaaaaaaaaaaaaa/message").catch((e) => e)
      expect(failure).toBeInstanceOf(HttpError)
      expect((failure as HttpError).status).toBe(404)
      one.close()
    }
  })
})

test(
  "a connection that passes on three bytes at a time and breaks during a turn: the client reconnects and sees the turn end",
  async () => {
    const line = await badLine(hooked.serving.port, 3)
    const one = await client(hooked, line.url)
    try {
      const session = await one.create("A bad line")
      const text = "Ein naïves 試験 🙂. "
      hooked.world.provider.play(
        [use(read("alpha.txt"), PLAN), { ...use(read("beta.txt")), delayMs: 400 }, say(text.repeat(20)), say(text)],
        session,
      )
      const from = one.events.length
      await one.promptAsync(session, "Look at both")
      await one.event(({ type }) => type === "message.part.updated", from)
      line.cut()
      await one.idle(session, from)
      expect(one.waitsMs.length).toBeGreaterThan(0)
      expect(one.events.filter(({ type }) => type === "server.connected").length).toBeGreaterThan(1)
      // events sent meanwhile are not repeated; the stored session has their content
      const stored = await one.messages(session)
      expect(stored.at(-1)?.parts.find(({ type }) => type === "text")?.text).toBe(text.repeat(20))
      const at = one.events.length
      await one.turn(session, "Once more")
      expect(one.events.slice(at).filter(({ type }) => type === "session.idle")).toHaveLength(1)
      const told = one.events.slice(at).flatMap(({ properties }) => String(properties.delta ?? ""))
      expect(told.join("")).toBe(text)
    } finally {
      one.close()
      await line.close()
    }
  },
  PATIENCE_MS,
)

test(
  "a server restarted on its port: the client reconnects, folds are unchanged, and recall returns the originals",
  async () => {
    const { provider } = hooked.world
    const one = await client(hooked, hooked.serving.url)
    try {
      const session = await one.create("A new server")
      provider.play([use(look(1), PLAN), ...[2, 3, 4, 5, 6].map((number) => use(look(number))), say("Seen.")], session)
      await one.turn(session, "Look at the logs")
      const before = foldsIn(provider.from("main", session).at(-1))
      expect(before.size).toBeGreaterThan(0)

      const from = one.events.length
      const { port } = hooked.serving
      await hooked.serving.stop()
      hooked.serving = await hooked.start(port)
      await one.event(({ type }) => type === "server.connected", from)
      expect(one.waitsMs.length).toBeGreaterThan(0)

      const [, fold] = [...before][0] ?? []
      provider.play([use(recall(recallID(fold ?? ""))), say("That is it.")], session)
      await one.turn(session, "What was in the first?")
      const requests = provider.from("main", session)
      const after = foldsIn(requests.at(-2))
      for (const [call, text] of before) expect({ call, text: after.get(call) }).toEqual({ call, text })
      const [recalled] = recalledIn(requests)
      expect(recalled?.answer).toBe(recalled?.original as string)
      expect(one.events.slice(from).filter(({ type }) => type === "session.idle")).toHaveLength(1)
    } finally {
      one.close()
    }
  },
  2 * PATIENCE_MS,
)

testLarge(
  "every turn ends with one idle event, with several calls and several sessions too",
  async () => {
    const one = await client(hooked, hooked.serving.url)
    try {
      const sessions = [await one.create("One"), await one.create("Other")]
      const from = one.events.length
      for (const turn of [1, 2, 3])
        await Promise.all(
          sessions.map((session) => {
            hooked.world.provider.play([use(look(turn), PLAN), use(read("alpha.txt")), say("Done.")], session)
            return one.turn(session, `Turn ${turn}`)
          }),
        )
      for (const session of sessions) {
        const said = one.events.slice(from).filter(({ properties }) => properties.sessionID === session)
        expect(said.filter(({ type }) => type === "session.idle")).toHaveLength(3)
        const idle = said.filter(
          ({ properties }) => (properties.status as { type?: string } | undefined)?.type === "idle",
        )
        expect(idle).toHaveLength(3)
        await one.call("DELETE", `/session/${session}`)
      }
    } finally {
      one.close()
    }
  },
  PATIENCE_MS,
)
