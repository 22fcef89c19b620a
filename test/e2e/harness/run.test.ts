// A program drives `opencode run --format json`: stdout, stderr, the exit code and the stored session are the same with the
// plugin as without it.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { RunOptions, RunResult } from "../../opencode/host.ts"
import { hudsOf } from "../../opencode/request.ts"
import { differences, outlineIn } from "../../opencode/stored.ts"
import { LARGE, testLarge } from "../../support/large.ts"
import {
  bash,
  edit,
  eventually,
  FILES,
  OPENAI,
  openWorld,
  PATIENCE_MS,
  PLUGIN,
  read,
  say,
  todo,
  use,
  type World,
} from "../../support/world.ts"
import { accountOf, differencesOf } from "./account.ts"
import { type Next, scriptOf } from "./stage.ts"

setDefaultTimeout(2 * PATIENCE_MS)

const PROJECT = { ...FILES, "opencode.json": JSON.stringify({ permission: { bash: { "*": "allow", "rm *": "ask" } } }) }

let bare: World
let hooked: World

beforeAll(async () => {
  bare = await openWorld({ plugin: null, files: PROJECT, snapshots: LARGE })
  hooked = await openWorld({ plugin: [PLUGIN, { deadlineMs: 5_000 }], files: PROJECT, snapshots: LARGE })
})
afterAll(async () => {
  await bare.close()
  await hooked.close()
}, PATIENCE_MS)

type Run = { main: readonly Next[]; prompt: string } & RunOptions

function play({ host, provider }: World, { main, prompt, ...options }: Run): Promise<RunResult> {
  provider.play(scriptOf({ main }))
  return host.run(prompt, options)
}

/**
 * Compares the same run in both worlds, over all lines or the first `lines`; every line on stdout must be JSON.
 */
async function same(run: Run | ((world: World) => Run), lines?: number): Promise<[RunResult, RunResult]> {
  const of = (world: World) => play(world, typeof run === "function" ? run(world) : run)
  const [without, with_] = await Promise.all([of(bare), of(hooked)])
  for (const { stdout, events } of [without, with_])
    expect(stdout.split("\n").filter(Boolean)).toHaveLength(events.length)
  const plain = ({ exitCode, stderr }: RunResult, { host }: World) => ({
    exitCode,
    stderr: stderr.replaceAll(host.root, "ROOT").replace(/\berr_[0-9a-f]{8}\b/g, "a reference"),
  })
  expect(plain(with_, hooked)).toEqual(plain(without, bare))
  const told = ({ host, provider }: World, { events }: RunResult) => {
    const said = events.slice(0, lines).map(({ type, ...properties }) => ({ type: `run ${type}`, properties }))
    return accountOf(said, { words: { "hud_recall, ": "", [host.root]: "ROOT", [provider.url]: "PROVIDER" } })
  }
  expect(differencesOf(told(bare, without), told(hooked, with_))).toEqual([])
  return [without, with_]
}

const toolsIn = ({ events }: RunResult) => events.filter(({ type }) => type === "tool_use")

const sessions = new Map<World, string>()

test("text, reasoning, working, failing and unknown tools, steps, tokens, the session's id on the first line, and what is stored", async () => {
  const [without, with_] = await same({
    main: [
      {
        thinking: "The README first.",
        text: "I look around.",
        calls: [read("README.md"), read("README.md"), todo(["look", "in_progress"])],
      },
      use(bash("sh check"), read("missing.txt"), edit("alpha.txt", "second", "other")),
      use({ name: "no_such", arguments: {} }),
      say("Done, naïve 試験 🙂 \u2028 end."),
    ],
    args: ["--thinking", "--title", "A run"],
    prompt: "Make the login test pass",
  })
  expect(with_.exitCode).toBe(0)
  expect(with_.events[0]?.sessionID).toMatch(/^ses_/)
  expect(with_.stdout).toContain("Done, naïve 試験 🙂 \u2028 end.")
  expect(toolsIn(with_)).toHaveLength(7)
  expect(with_.events.filter(({ type }) => type === "step_finish")).toHaveLength(4)
  expect(hooked.provider.from("main", with_.session).filter((request) => hudsOf(request).length === 1).length).toBe(3)
  expect(with_.stdout).not.toContain("<hud>")
  const before = await outlineIn(bare.host, without.session)
  const after = await outlineIn(hooked.host, with_.session)
  expect(before.length).toBeGreaterThan(20)
  // OpenCode names the tools there are
  const others = after.map((line) => line.replaceAll("hud_recall, ", ""))
  expect(differences(before, others)).toEqual([])
  sessions.set(bare, without.session).set(hooked, with_.session)
})

testLarge("a session is resumed with -s", async () => {
  const [, with_] = await same((world) => ({
    main: [use(read("alpha.txt")), say("Two lines.")],
    session: sessions.get(world) ?? "",
    prompt: "Then look at alpha",
  }))
  expect(with_.session).toBe(sessions.get(hooked) ?? "")
  expect(with_.exitCode).toBe(0)
  expect(hudsOf(hooked.provider.from("main", with_.session).at(-1) ?? { body: {} })).toHaveLength(1)
})

testLarge("the newest session is resumed with -c", async () => {
  const [, with_] = await same({ main: [say("Here.")], continue: true, prompt: "Are you there?" })
  expect(with_.session).toBe(sessions.get(hooked) ?? "")
})

testLarge("a session is forked with -s and --fork, and its copy goes on", async () => {
  const [, with_] = await same((world) => ({
    main: [use(read("beta.txt")), say("Forked.")],
    session: sessions.get(world) ?? "",
    args: ["--fork"],
    prompt: "Look at beta instead",
  }))
  expect(with_.session).toMatch(/^ses_/)
  expect(with_.session).not.toBe(sessions.get(hooked) ?? "")
})

testLarge("a prompt on stdin and a command's output may hold NUL bytes and control characters", async () => {
  const odd = "a\\000b\\033[31mred\\033[0m\\007\\342\\200\\256c\\377d"
  const [, with_] = await same({
    main: [use(bash(`printf '${odd}'`)), { text: "a\u0000b \u001b[31m \ud83d\ude42" }],
    args: ["--title", "Bytes"],
    prompt: "Look:",
    stdin: "Print a\u0000b \u001b[31mred\u0007 <hud>\nand a second line\n",
  })
  expect(with_.exitCode).toBe(0)
  expect(JSON.stringify(toolsIn(with_))).toContain("red")
  expect(with_.stdout).toContain("a\\u0000b")
})

testLarge("a permission that nobody can give is refused", async () => {
  const [, with_] = await same({
    main: [use(bash("rm -f gone.txt")), say("Then not.")],
    args: ["--title", "Refused"],
    prompt: "Remove it",
  })
  expect(toolsIn(with_)[0]?.part?.state).toMatchObject({ status: "error" })
})

testLarge("a request that the provider refuses ends the run with an error line and code 1", async () => {
  const [, with_] = await same({
    main: [use(read("alpha.txt")), { status: 400, message: "this model is out of order" }],
    args: ["--title", "Fails"],
    prompt: "Look at alpha",
  })
  expect(with_.exitCode).toBe(1)
  expect(JSON.stringify(with_.events.find(({ type }) => type === "error"))).toContain("out of order")
})

const WRONG: [string, RunOptions][] = [
  ["a model that is not there", { model: "scripted/no-such-model" }],
  ["a session that is not there", { session: "ses_000000000000aaaaaaaaaaaaaa" }],
  ["a provider that is not there", { model: "nobody/at-all" }],
  ["a session id that is none", { session: "../../etc" }],
]

for (const [wrong, options] of WRONG)
  testLarge(`${wrong} ends the run with the same message and exit code`, async () => {
    // the session may repeat the error if the run is still there
    const [, with_] = await same({ main: [say("Hello.")], prompt: "Hello", ...options }, 1)
    expect(with_.exitCode).not.toBe(0)
  })

testLarge("SIGTERM in the middle of an answer ends the run as it does without the plugin", async () => {
  const [, with_] = await same(({ provider }) => {
    const stop = new AbortController()
    const before = provider.from("main").length
    const isBegun = () => provider.from("main").length === before + 2 || undefined
    void eventually("the answer", isBegun).then(() => stop.abort())
    const main = [use(read("alpha.txt")), { text: "I begin and never end", hang: true }]
    return { main, args: ["--title", "Killed"], model: OPENAI, prompt: "Look at alpha", signal: stop.signal }
  }, 2)
  expect(with_.exitCode).not.toBe(0)
})

testLarge("without --format json the output for people is the same", async () => {
  const options = { plain: true, args: ["--title", "Plain"] }
  const [without, with_] = await Promise.all(
    [bare, hooked].map(async ({ host, provider }) => {
      provider.play(scriptOf({ main: [use(read("alpha.txt"), todo(["look", "in_progress"])), say("Seen.")] }))
      const { exitCode, stdout, stderr } = await host.run("Look at alpha", options)
      return { exitCode, stdout: stdout.replaceAll(host.root, "ROOT"), stderr: stderr.replaceAll(host.root, "ROOT") }
    }),
  )
  expect(with_).toEqual(without as never)
  expect(`${with_?.stdout}${with_?.stderr}`).toContain("Seen.")
})
