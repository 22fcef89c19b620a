// Random sessions as agents really make them, and their requests one by one as the hooks prepare them: for properties
// that must hold at any moment of any session.

import fc from "fast-check"
import { createEnv } from "../../src/digest/digests.ts"
import type { Fold } from "../../src/fold/fold.ts"
import { addFolds } from "../../src/fold/folding.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { SECTIONS } from "../../src/hud/sections.ts"
import type { Slot } from "../../src/hud/slots.ts"
import {
  type Circumstances,
  newSessionState,
  type RequestOptions,
  type SessionState,
} from "../../src/request/request.ts"
import { arrayAt, findAhead, prepare, type Request } from "../support/conversation.ts"
import { bash, edit, failedTool, ROOT, read, SessionBuilder, tool, usage } from "../support/session.ts"

export const PROTECTED_TOOL = "mcp_vault"
export const PROTECTED_FILE = "src/vault.ts"
/** Tools whose results instruct the agent. */
export const ANSWERS = ["todowrite", "skill", "task", "question"]

/** Calls of a tool, by what they do and to which of a few things, so that they come again. */
const use = fc.record({
  does: fc.constantFrom(
    ..."read read read part edit write grep glob run cat page failed failing aborted mcp vault recalled".split(" "),
    PROTECTED_TOOL,
    ...ANSWERS,
  ),
  which: fc.nat(3),
})

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant("call" as const), uses: fc.array(use, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom("asked" as const, "said" as const), quotes: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("pause", "compaction", "revert", "restart", "model", "pruned") }),
  },
)
/** What OpenCode does not send, or sends in words of its own, and more than one message of the user. */
const odd = fc.record({ kind: fc.constantFrom("failed", "aborted", "empty", "interrupted", "file") })
export type Step = { kind: string; uses?: { does: string; which: number }[]; quotes?: boolean }

const PROVIDERS: Pricing[] = [
  { read: 0.1, write: 1.25, lifetimeMs: 300_000 },
  { read: 0.5, write: 1, lifetimeMs: 600_000 },
  { read: 1, write: 1, lifetimeMs: 0 },
].map((figures) => ({
  ...{ row: "test", output: 5, minimumTokens: 1024, billing: "tokens" as const, usdPerMillion: 3 },
  ...figures,
}))

export type Plan = {
  steps: Step[]
  slot: Slot
  pricing: Pricing
  fullAt: number | undefined
  isCached: boolean
  isAhead: boolean
}

export const sessions: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(step, { minLength: 8, maxLength: 40, size: "max" }) as fc.Arbitrary<Step[]>,
  slot: fc.constantFrom<Slot>("tail", "tool", "sticky"),
  pricing: fc.constantFrom(...PROVIDERS),
  // some models are full soon, and OpenCode would compact
  fullAt: fc.constantFrom(undefined, 9_000, 100_000),
  // whether the provider's reports confirm what was expected
  isCached: fc.boolean(),
  // whether there is time between requests to write the next folds
  isAhead: fc.boolean(),
})

/** Sessions in which calls fail or end early as well. */
export const oddSessions: fc.Arbitrary<Plan> = fc
  .record({ plan: sessions, odd: fc.array(fc.tuple(odd, fc.nat(40)), { maxLength: 8 }) })
  .map(({ plan, odd }) => ({
    ...plan,
    steps: odd.reduce((steps, [one, at]) => steps.toSpliced(at, 0, one), plan.steps),
  }))

/** A session in which folds surely pay: one large output, then many small ones. */
export const PAYING: Plan = {
  ...{ slot: "tail", fullAt: undefined, isCached: true, isAhead: false },
  pricing: PROVIDERS.find(({ read }) => read === 0.5) as Pricing,
  steps: ["run", ...Array(10).fill(["read", "edit", "page"]).flat()].map((does: string, i) => {
    return { kind: "call", uses: [{ does, which: i % 4 }] }
  }),
}

/** One request: the array as OpenCode hands it over, the same as it goes out, and what was decided. */
export type Sent = {
  given: HostMessage[]
  messages: HostMessage[]
  call: Request
  conversation: SessionState
  circumstances: Circumstances
  options: RequestOptions
}

const env = createEnv(ROOT)

/**
 * Plays a session call by call; every request is looked at when it is made, since the next may change what is known.
 */
export function play({ steps, slot, pricing, fullAt, isCached, isAhead }: Plan, look: (sent: Sent) => void): void {
  const session = new SessionBuilder().user("make the login test of the shop pass on node 22, please")
  const agent = createAgent()
  let conversation = newSessionState(env)
  let nowMs = session.timeOf(0)
  let model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" }
  let sentTokens = 0
  const options: RequestOptions = {
    hud: { enabled: true, slot, budgetTokens: 250, sections: SECTIONS },
    fold: { enabled: true },
    isProtected: ({ tool, files }) => tool === PROTECTED_TOOL || files.some(({ path }) => path === PROTECTED_FILE),
  }
  const request = () => {
    const messages = arrayAt(session.fresh())
    freeze(messages.map(({ info, parts }) => [info, ...parts]))
    const given = messages.map(({ info, parts }) => ({ info, parts: [...parts] }))
    const circumstances: Circumstances = {
      ...{ nowMs, model, pricing, contextLimit: 200_000 },
      ...(fullAt === undefined ? {} : { fullAt }),
    }
    const call = prepare(messages, conversation, circumstances, options, env)
    call.commit()
    look({ given, messages, call, conversation, circumstances, options })
    if (isAhead) findAhead(call, messages, env)
    const total = Math.ceil(JSON.stringify(messages).length / 4)
    const cached = isCached ? Math.min(sentTokens, total) : 0
    sentTokens = total
    return usage(total - cached, cached)
  }
  for (const { kind, uses = [], quotes } of steps) {
    nowMs += 10_000
    const quoted = quotes ? `\n${agent.lineOf(session.messages)}` : ""
    if (kind === "call")
      session.assistant(
        uses.map(({ does, which }) => agent.use(does, which)),
        request(),
      )
    else if (kind === "said") session.assistant([{ type: "text", text: `This is the line:${quoted}` }], request())
    else if (kind === "asked") session.user(`And what of this?${quoted}`)
    else if (kind === "failed")
      session
        .assistant([{ type: "text", text: "Half of it" }, agent.use("read", 1)], failedWith("APIError"))
        .user("again")
    else if (kind === "aborted") {
      const info = { ...request(), ...failedWith("MessageAbortedError") }
      session.assistant([{ type: "text", text: "Half of it" }, agent.use("aborted", 1)], info).user("go on")
    } else if (kind === "empty") session.assistant([], request()).user("and?").user("well?")
    else if (kind === "interrupted") {
      const { state, ...call } = edit("src/a.ts")
      const running = { ...call, state: { status: "running", input: state?.input ?? {} } }
      session.assistant([running], request()).user("go on")
    } else if (kind === "file")
      session.user("see this", [
        { type: "file", mime: "image/png", filename: "a.png", url: "data:image/png;base64,AA" },
      ])
    else if (kind === "pause") nowMs += 2 * pricing.lifetimeMs
    else if (kind === "compaction") session.compaction()
    else if (kind === "revert") session.messages.splice(Math.max(1, session.messages.length - 3))
    else if (kind === "model") model = { ...model, modelID: `${model.modelID}-2` }
    else if (kind === "pruned") prune(session.messages)
    else if (kind === "restart") {
      const stored: Fold[] = JSON.parse(JSON.stringify([...conversation.folding.folds.values()]))
      conversation = newSessionState(env)
      conversation.folding = addFolds(conversation.folding, stored)
    }
  }
  request()
}

const failedWith = (name: string) => ({ error: { name, data: {} } })

/** An agent in a project whose files change as they are edited. */
function createAgent() {
  const versions = new Map<string, number>()
  const versionOf = (path: string) => versions.get(path) ?? 0
  const file = (path: string) => lines(`const ${path.replace(/\W/g, "_")} = ${versionOf(path)} +`, 60)
  return {
    use(does: string, which: number): HostPart {
      const path = does === "vault" ? PROTECTED_FILE : `src/${"abcd"[which]}.ts`
      if (["edit", "write"].includes(does)) versions.set(path, versionOf(path) + 1)
      switch (does) {
        case "read":
        case "vault":
          return read(path, file(path))
        case "part":
          return tool("read", { filePath: `${ROOT}/${path}`, offset: 10, limit: 20 }, file(path).slice(0, 900))
        case "edit":
          return edit(path)
        case "write":
          return tool("write", { filePath: `${ROOT}/${path}`, content: file(path) }, "Wrote file successfully.")
        case "grep":
          return tool("grep", { pattern: `name${which}` }, lines(`${ROOT}/src/a.ts:${which}: found`, 50))
        case "glob":
          return tool("glob", { pattern: `**/*${which}` }, lines(`${ROOT}/src/some/folder`, 50))
        case "run":
          // large enough for a fold to pay
          return bash(`npm test ${which}`, `${lines("  ok", 6000)}\nTests: 6000 passed, 6000 total`)
        case "failing":
          return bash(`npm test ${which}`, `${lines("  x", 80)}\na.test.ts:9 expected 1, got 2\nTests: 80 failed`, 1)
        case "aborted":
          return failedTool("bash", { command: `make ${which}`, note: file(path) }, lines("  compiling", 80))
        case "cat":
          return bash(`cat ${path}`, file(path))
        case "page":
          return tool("webfetch", { url: `https://example.com/${which}` }, lines("Text of a page, 日本 🙂, no.", 40))
        case "failed":
          return failedTool(
            which < 2 ? "edit" : "write",
            { filePath: `${ROOT}/${path}`, oldString: file(path), nested: { list: [file(path), which] } },
            `Error: oldString not found in ${path}`,
          )
        case "recalled":
          return tool("hud_recall", { ids: `r${which + 1}` }, file(path))
        default:
          return tool(does, { q: which }, lines(`answer of ${does}`, 40))
      }
    },
    /** A line of some output, to be quoted. */
    lineOf(messages: readonly HostMessage[]): string {
      const output = messages.flatMap(({ parts }) => parts).find(({ state }) => state?.output)?.state?.output
      return output?.split("\n").at(-3) ?? "none"
    },
  }
}

/** OpenCode clears the outputs of an old turn: it marks them, and sends a placeholder. */
function prune(messages: readonly HostMessage[]): void {
  for (const { parts } of messages.slice(0, Math.floor(messages.length / 3)))
    for (const part of parts)
      if (part.state?.status === "completed") part.state.time = { ...part.state.time, compacted: 1 }
}

function lines(text: string, count: number): string {
  return Array.from({ length: count }, (_, i) => `${text} ${i}`).join("\n")
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return
  Object.freeze(value)
  for (const one of Object.values(value)) freeze(one)
}
