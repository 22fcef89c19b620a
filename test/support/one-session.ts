// Plays one session with every feature on, as OpenCode would: two turns and a compaction in one process, a third turn in the
// next. Faults are injected into these two; a last process without faults checks what is left.

import { stepText } from "../../src/fold/original.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { type Hosted, host, type Sent } from "./hosted.ts"
import { idIn } from "./records.ts"
import { bash, edit, read, SessionBuilder, tool, usage } from "./session.ts"

const SESSION = "ses_test"

export type Setting = {
  options: object
  directory?: string
  /** the client of each process, from what the plain one would be */
  client?(plain: object): object
  /** waited for at the end of each turn, for what is done behind the session's back */
  settled?(): Promise<unknown>
  /** called before the process that no fault is to reach */
  mend?(): void
}

/** Options with which a short session has folds already, for there is no cache to lose, and the store is in this folder. */
export function everythingOn(folder: string): { store: { path: string } } & Record<string, unknown> {
  // what is logged is looked at, so that a slow machine must not be a reason to log
  return { store: { path: `${folder}/hud.db` }, deadlineMs: 5000, fold: { price: { read: 1, write: 1 } } }
}

export type Process = {
  logged: string[]
  sent: Sent[]
  /** what the agent got for a recall id: from the array, and where that was not handed over, from OpenCode's server */
  recalled: { original: string; live: string; asked: string }[]
}
export type Played = {
  /** what no fault may lead to, in words */
  wrong: string[]
  /** the two that meet faults, and the last */
  processes: [Process, Process, Process]
}

const listing = (name: string, lines = 200) =>
  Array.from({ length: lines }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/${name}/part-${i}.ts`).join("\n")

const page = (name: string) =>
  tool(
    "webfetch",
    { url: `https://docs.example/${name}` },
    Array.from({ length: 60 }, (_, n) => `${name} of kind ${n} expire after a week.`).join("\n\n"),
  )

/** Enough steps for those before them to be settled. */
const QUIET = Array.from({ length: 12 }, (_, n) => `part${n}`)

export async function playSession(setting: Setting): Promise<Played> {
  const session = new SessionBuilder(SESSION).user("make the login test pass on node 22, please")
  const wrong: string[] = []
  const first = await inProcess(session, setting, wrong, async (work) => {
    await work.begin()
    await work.step([bash("ls -l src/auth", listing("auth")), todos()])
    await work.step([bash("ls -l src/cart", listing("cart"))])
    await work.step([read("a.ts", listing("a", 150))])
    await work.step([read("a.ts", listing("a", 150))])
    await work.step([bash("npm test", `${listing("test", 60)}\n1 failed\nError: expected 200, got 401`, 1)])
    await work.step([edit("src/login.ts"), page("cookies")])
    for (const name of QUIET) await work.step([bash(`ls -l src/${name}`, listing(name, 100))])
    await work.recall()
    await work.end()
    await work.compact()
    session.user("and keep the old cookie name")
    await work.begin()
    await work.step([bash("ls -l src/mail", listing("mail"))])
    await work.step([read("c.ts"), read("d.ts")])
    await work.end()
  })
  session.user("now write it down in the README")
  const second = await inProcess(session, setting, wrong, async (work) => {
    await work.begin()
    await work.step([read("README.md", listing("readme", 50))])
    await work.step([bash("npm test", "4 passed"), page("sessions")])
    await work.recall()
    await work.end()
  })
  setting.mend?.()
  session.user("thank you; what is left to do?")
  const last = await inProcess(session, { ...setting, client: (plain) => plain }, wrong, async (work) => {
    await work.begin()
    await work.recall()
    await work.end()
  })
  return { wrong, processes: [first, second, last] }
}

type Work = {
  begin(): Promise<void>
  /** one request, answered by the agent with these parts */
  step(parts: HostPart[]): Promise<void>
  /** one request, answered by asking for what is folded first in it */
  recall(): Promise<void>
  end(): Promise<void>
  compact(): Promise<void>
}

async function inProcess(
  session: SessionBuilder,
  { options, directory, settled, client = (plain) => plain }: Setting,
  wrong: string[],
  play: (work: Work) => Promise<void>,
): Promise<Process> {
  const done: Process = { logged: [], sent: [], recalled: [] }
  const stored = (id: string) => session.messages.find(({ info }) => info.id === id)
  const plain = {
    app: {
      log: async ({ body }: { body: { message: string } }) => void done.logged.push(body.message),
      agents: async () => ({ data: [{ name: "title", prompt: "You are a title generator." }] }),
    },
    session: {
      messages: async () => ({ data: session.fresh() }),
      message: async ({ path }: { path: { messageID: string } }) => {
        const message = stored(path.messageID)
        return message ? { data: structuredClone(message) } : { error: { name: "NotFoundError" } }
      },
    },
    tui: { showToast: async () => ({ data: true }) },
  }
  const hooks = await host({ options, client: client(plain), ...(directory ? { directory } : {}) })
  await play(working(session, hooks, done, settled))
  await hooks.dispose()
  wrong.push(...hooks.wrong)
  return done
}

function working(session: SessionBuilder, hooks: Hosted, done: Process, settled: Setting["settled"]): Work {
  const { event } = hooks
  const request = async (): Promise<Sent> => {
    const sent = await hooks.request(session.messages)
    done.sent.push(sent)
    return sent
  }
  const answer = async (parts: HostPart[]) => {
    for (const part of parts) await event("message.part.updated", { part: running(part) })
    session.assistant(parts, usage(1_000, 3_000 * session.messages.length))
    for (const part of parts) await event("message.part.updated", { part })
    await event("message.updated", { info: session.messages.at(-1)?.info })
  }
  return {
    async begin() {
      await event("session.status", { status: { type: "busy" } })
    },
    async step(parts) {
      await request()
      await event("permission.asked", { id: "per_1", permission: "bash", patterns: ["npm *"] })
      await answer(parts)
      await event("permission.replied", { requestID: "per_1" })
      await event("todo.updated", { todos: TODOS })
    },
    async recall() {
      const { messages, folds } = await request()
      const [[part = "", text = ""] = []] = folds
      const id = idIn(text)
      const asked = id === "" ? { steps: /^\d+/.exec(text)?.[0] ?? "1" } : { ids: id }
      const live = await hooks.recall(asked, messages)
      const original = originalIn(session.messages, part)
      if (original !== undefined) done.recalled.push({ original, live, asked: await hooks.recall(asked) })
      await answer([tool("hud_recall", asked, live)])
    },
    async end() {
      await request()
      await answer([{ type: "text", text: "Done." }])
      await event("session.status", { status: { type: "idle" } })
      await event("session.idle", {})
      await settled?.()
    },
    async compact() {
      done.sent.push(await hooks.compact(session.messages))
      const tail = session.messages.at(-3)?.info.id
      const kept = session.messages.slice(-3)
      session.compaction(tail)
      const [asked, summary] = session.messages.splice(-2) as [HostMessage, HostMessage]
      session.messages.splice(0, session.messages.length, asked, summary, ...kept)
      await event("session.compacted", {})
    },
  }
}

const TODOS = [
  { content: "mend the login", status: "in_progress" },
  { content: "write it down", status: "pending" },
]

const todos = () => tool("todowrite", { todos: TODOS }, JSON.stringify(TODOS), { todos: TODOS })

function running(part: HostPart): HostPart {
  return { ...part, state: { ...part.state, status: "running" } } as HostPart
}

/** The output of a part, or a whole step as text. */
function originalIn(messages: readonly HostMessage[], part: string): string | undefined {
  const step = messages.find(({ info }) => info.id === part)
  if (step) return conversationOf([step]).map(stepText)[0]
  return messages.flatMap(({ parts }) => parts).find(({ id }) => id === part)?.state?.output
}
