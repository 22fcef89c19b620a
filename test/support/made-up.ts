// A long made-up session in a web shop's code, for the tests and the pictures of the report: files are looked for, read
// and changed, tests fail and pass, the context is compacted. The same for the same arguments.

import type { HostPart } from "../../src/host/v1/message.ts"
import { bash, failedTool, read, SessionBuilder, tool } from "./session.ts"

export type MadeUp = {
  calls: number
  id?: string
  /** epoch ms of the first call */
  startMs?: number
  /** tokens from which the context is compacted */
  compactsAt?: number
}

const START = Date.parse("2026-11-02T09:00:00Z")
const CALL_MS = 40_000
/** Calls between which the user is away for the night. */
const DAY = 130
const NIGHT_MS = 15 * 3_600_000
/** What system prompt and tool definitions come to, in tokens. */
const SYSTEM = 11_000
/** USD per token of Claude Sonnet: fresh, cached, written, answered. */
const USD = { input: 3e-6, read: 0.3e-6, write: 3.75e-6, output: 15e-6 }

const AREAS = ["cart", "checkout", "login", "search", "stock", "mail", "prices", "orders"]
const ROLES = ["model", "routes", "view", "store", "rules"]
const ASKED = [
  "make the login test pass on node 22, and keep the old cookie name",
  "prices are rounded twice at the checkout, find out where and mend it",
  "orders without an address should be held back, with a test for it",
  "the search shows what is out of stock; leave it out unless asked for",
]

export function madeUpSession({
  calls,
  id = "ses_madeup",
  startMs = START,
  compactsAt = 150_000,
}: MadeUp): SessionBuilder {
  const session = new SessionBuilder(id)
  const next = numbers(calls)
  let tokens = 0
  let nowMs = startMs
  for (let call = 0; call < calls; call++) {
    if (call % 60 === 0) session.user(ASKED[(call / 60) % ASKED.length] ?? "go on")
    nowMs += call > 0 && call % DAY === 0 ? NIGHT_MS : CALL_MS + next(30_000)
    const parts = [{ type: "text", text: prose("this", 1 + next(6)) }, ...step(call, next)]
    const isCold = call % DAY === 0
    const before = SYSTEM + tokens
    const output = 150 + next(400)
    const written = Math.round(Math.max(600, 0.03 * tokens))
    const cached = isCold ? 0 : Math.max(0, before - written)
    const usage = { input: 4, output, reasoning: 0, cache: { read: cached, write: before - cached } }
    const cost = 4 * USD.input + cached * USD.read + (before - cached) * USD.write + output * USD.output
    session.assistant(parts, { tokens: usage, cost, time: { created: nowMs, completed: nowMs + 8000 } })
    tokens += Math.round(JSON.stringify(parts).length / 4)
    if (before > compactsAt && call < calls - 1) {
      session.compaction(session.messages.at(-3)?.info.id)
      tokens = 6000
    }
  }
  return session
}

/** What the agent does at a call: it looks, reads, changes, checks. */
function step(call: number, next: (below: number) => number): HostPart[] {
  const area = AREAS[Math.floor(call / 12 + next(2)) % AREAS.length] ?? "cart"
  const file = `src/${area}/${ROLES[next(ROLES.length)]}.ts`
  switch (call % 12) {
    case 0:
      return [todos(call), tool("grep", { pattern: `${area}[A-Z]\\w+`, path: "src" }, matches(area, 20 + next(60)))]
    case 1:
    case 2:
    case 5:
      return [read(file, code(area, 30 + next(130)))]
    case 3:
      return [tool("glob", { pattern: `src/${area}/**` }, ROLES.map((role) => `src/${area}/${role}.ts`).join("\n"))]
    case 4:
    case 8:
      return [
        tool(
          "edit",
          { filePath: file, oldString: code(area, 4 + next(30)), newString: code(`${area}New`, 30) },
          "Edit applied.",
        ),
      ]
    case 6:
    case 10:
      return [bash(`npm test -- ${area}`, tests(area, 40 + next(60), call % 24 === 6), call % 24 === 6 ? 1 : 0)]
    case 7:
      return call % 36 === 7
        ? [failedTool("edit", { filePath: file, oldString: "none", newString: "some" }, "Error: oldString not found")]
        : [bash(`git diff ${file}`, code(area, 20 + next(40)))]
    case 9:
      return [tool("webfetch", { url: `https://docs.example/${area}` }, prose(area, 20 + next(60)))]
    default:
      return [{ type: "text", text: `The ${area} part does what was asked for; ${call} steps so far.` }]
  }
}

function todos(call: number): HostPart {
  const list = AREAS.slice(0, 5).map((area, at) => ({
    content: `go through ${area}`,
    status: at < (call / 12) % 5 ? "completed" : at === Math.ceil((call / 12) % 5) ? "in_progress" : "pending",
  }))
  return tool("todowrite", { todos: list }, JSON.stringify(list), { todos: list })
}

function code(area: string, lines: number): string {
  return lined(lines, (at) => `  ${area}Items.set("${at}", priceOf(${at}, { rounded: ${at % 3 === 0} }))`)
}

function matches(area: string, lines: number): string {
  return lined(
    lines,
    (at) => `src/${area}/${ROLES[at % ROLES.length]}.ts:${at * 3}: const ${area}Item${at} = take(${at})`,
  )
}

function tests(area: string, lines: number, fails: boolean): string {
  const failure = `\n(fail) ${area} > rounds once\n  at src/${area}/rules.test.ts:42: expected 1999, got 2000\n`
  return `${lined(lines, (at) => `(pass) ${area} > case ${at}`)}${fails ? failure : ""}\n${lines} pass\n${fails ? 1 : 0} fail`
}

function prose(area: string, lines: number): string {
  return lined(
    lines,
    (at) => `Part ${at} of the guide says how ${area} is to be set up, and what to mind when it is not.`,
  )
}

function lined(count: number, of: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => of(at)).join("\n")
}

/** Whole numbers below a bound, the same row for the same seed (a linear congruential generator). */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
