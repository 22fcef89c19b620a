// From the messages that OpenCode passes to the hook to a digest in the compactor's context: hooks, queue and backend are
// real, only the answers of the server are scripted.

import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import plugin from "../../src/plugin.ts"
import { completion, modelList, type Seen, type Served, serve } from "../digest/servers.ts"
import { temporaryFolder, until } from "../store/support.ts"
import { foldsIn } from "../support/records.ts"
import { read, SessionBuilder, tool } from "../support/session.ts"

const KINDS = Array.from({ length: 60 }, (_, n) => `Cookies of kind ${n} expire after a week.`)
const PAGE = ["# Frobnicator", ...KINDS].join("\n\n")
const SUMMARY = "Cookies of the Frobnicator expire after a week."

type Call = (input: object, output: object) => Promise<void>

/** A server that writes the same digest for every output, once `answers` resolves. */
function served(answers: () => Promise<unknown> | undefined = () => undefined): Promise<Served> {
  return serve(async ({ path }) => {
    if (path.endsWith("/models")) return modelList("tiny")
    await answers()
    return completion(JSON.stringify({ summary: SUMMARY }))
  })
}

const writes = ({ seen }: Served): Seen[] => seen.filter(({ path }) => path.endsWith("/chat/completions"))

async function load(
  server: Served | undefined,
  stored: () => unknown = () => [],
  backend = "openai",
  store: object = { enabled: false },
) {
  const logged: string[] = []
  const client = {
    app: {
      log: async ({ body }: { body: { message: string } }) => void logged.push(body.message),
      agents: async () => ({ data: [] }),
    },
    session: { messages: async () => ({ data: stored() }) },
    tui: {},
  }
  const hooks = await plugin.server({ client, directory: "/home/dev/shop", worktree: "/home/dev/shop" } as never, {
    store,
    digest: { backend, ...(server ? { openai: { url: server.url } } : {}) },
  })
  const call = (name: keyof typeof hooks) => hooks[name] as unknown as Call
  return {
    logged,
    transform: (messages: unknown) => call("experimental.chat.messages.transform")({}, { messages }),
    event: (type: string, properties: object) => call("event")({ event: { type, properties } }, {}),
    compacting: async () => {
      const output: { context: string[] } = { context: [] }
      await call("experimental.session.compacting")({ sessionID: "ses_test" }, output)
      return output.context.join("\n")
    },
    dispose: () => (hooks.dispose as () => Promise<void>)(),
  }
}

const session = () => new SessionBuilder().user("Find out about cookies").assistant([fetched()])
const fetched = () => tool("webfetch", { url: "https://example.com/cookies" }, PAGE)

describe("an output that the hook has seen", () => {
  test("is digested by the model, and the compactor gets the digest", async () => {
    await using server = await served()
    const built = session()
    const hooks = await load(server, () => built.fresh())
    expect(await hooks.compacting()).not.toContain(SUMMARY)
    await hooks.event("session.idle", { sessionID: "ses_test" })
    await hooks.transform(built.fresh())
    await until(() => writes(server).length === 1)
    await until(async () => (await hooks.compacting()).includes(SUMMARY))
    await hooks.dispose()
  })

  test("is digested once, however often its messages are passed", async () => {
    await using server = await served()
    const built = session()
    const hooks = await load(server)
    for (let n = 0; n < 3; n++) await hooks.transform(built.fresh())
    await until(() => writes(server).length === 1)
    await hooks.transform(built.assistant([fetched()]).fresh())
    await hooks.event("session.idle", { sessionID: "ses_test" })
    await hooks.dispose()
    expect(writes(server)).toHaveLength(1)
  })
})

test("of a resumed session, outputs that are folded are not digested", async () => {
  using folder = temporaryFolder()
  const store = { path: join(folder.path, "hud.db") }
  const page = (name: string, paragraphs: number) =>
    tool(
      "webfetch",
      { url: `https://example.com/${name}` },
      `# ${name}\n\n${`Cookies of ${name} expire.\n\n`.repeat(paragraphs)}`,
    )
  const built = new SessionBuilder().user("Find out about cookies")
  for (const name of ["one", "two", "three"]) built.assistant([page(name, 600)])
  for (let n = 0; n < 14; n++) built.assistant([read(`quiet-${n}.ts`)])
  const first = await load(undefined, undefined, "extract", store)
  const sent = built.fresh()
  await first.transform(sent)
  expect(foldsIn(built.messages, sent).size).toBeGreaterThan(2)
  await first.dispose()
  await using server = await served()
  const second = await load(server, undefined, "openai", store)
  await second.transform(built.assistant([page("newest", 100)]).fresh())
  await second.event("session.idle", { sessionID: "ses_test" })
  // the largest is asked for first
  await until(() => writes(server).length > 0)
  await second.dispose()
  expect(JSON.stringify(writes(server)[0]?.body)).toContain("Cookies of newest")
})

describe("the digest in work is aborted", () => {
  const cases: [string, (hooks: Awaited<ReturnType<typeof load>>, built: SessionBuilder) => Promise<unknown>][] = [
    ["when its session is deleted", (hooks) => hooks.event("session.deleted", { info: { id: "ses_test" } })],
    ["when its message is reverted", (hooks, built) => hooks.transform(built.fresh().slice(0, 1))],
    ["when OpenCode ends", (hooks) => hooks.dispose()],
  ]
  for (const [when, end] of cases)
    test(when, async () => {
      const never = Promise.withResolvers<void>()
      await using server = await served(() => never.promise)
      const built = session()
      const hooks = await load(server)
      await hooks.transform(built.fresh())
      await until(() => writes(server).length === 1)
      await end(hooks, built)
      await until(() => server.open === 0)
      never.resolve()
      await hooks.dispose()
    })
})

test("nothing starts while a command runs, and what waits starts when it has ended", async () => {
  await using server = await served()
  await using free = await served()
  const hooks = await load(server)
  const others = await load(free)
  const running = (status: string) =>
    hooks.event("message.part.updated", {
      part: { type: "tool", tool: "bash", callID: "call_x", state: { status } },
    })
  await running("running")
  await hooks.transform(session().fresh())
  await hooks.event("session.idle", { sessionID: "ses_test" })
  // by the time an unhindered queue has finished, the other one would have started
  await others.transform(session().fresh())
  await others.event("session.idle", { sessionID: "ses_test" })
  await until(() => writes(free).length === 1)
  expect(writes(server)).toHaveLength(0)
  await running("completed")
  await until(() => writes(server).length === 1)
  await hooks.dispose()
  await others.dispose()
})

test.each([
  ["auto", 0],
  ["llama", 1],
])("with %s and no model set up, the log has %d lines about it", async (backend, lines) => {
  const hooks = await load(undefined, undefined, backend)
  await hooks.transform(session().fresh())
  await hooks.event("session.idle", { sessionID: "ses_test" })
  if (lines > 0) await until(() => hooks.logged.some((one) => one.includes("not set up")))
  else await Bun.sleep(50)
  await hooks.dispose()
  expect(hooks.logged.filter((one) => one.includes("not set up"))).toHaveLength(lines)
})
