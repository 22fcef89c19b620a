// A program drives `opencode run --format json`: stdout, stderr, the exit code and the stored session are the same with the
// plugin as without it.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { environmentFor } from "../../opencode/config.ts"
import { findOpencode } from "../../opencode/host.ts"
import { hudsOf } from "../../opencode/request.ts"
import { differences, outlineIn } from "../../opencode/stored.ts"
import { LARGE, testLarge } from "../../support/large.ts"
import { sample } from "../../support/size.ts"
import {
  bash,
  edit,
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
import { type Ended, type RunLine, type Running, type RunOptions, startRun } from "./ndjson-client.ts"
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

type Run = {
  main?: readonly Next[]
  args: readonly string[]
  stdin?: string
  /** what the program does with the run while it runs */
  meanwhile?(run: Running): Promise<void>
}

function start({ host, provider }: World, { main = [], args, stdin }: Omit<Run, "meanwhile">): Running {
  provider.play(scriptOf({ main }))
  const options: RunOptions = {
    opencode: findOpencode(),
    directory: host.project,
    env: environmentFor(host.root),
    args,
  }
  return startRun(stdin === undefined ? options : { ...options, stdin })
}

async function play(world: World, run: Run): Promise<Ended> {
  const running = start(world, run)
  await run.meanwhile?.(running)
  return running.ended
}

/**
 * Compares the same run in both worlds, over all lines or the first `lines`; every line on stdout must be JSON.
 */
async function same(run: Run | ((world: World) => Run), lines?: number): Promise<[Ended, Ended]> {
  const of = (world: World) => play(world, typeof run === "function" ? run(world) : run)
  const [without, with_] = await Promise.all([of(bare), of(hooked)])
  for (const ended of [without, with_]) expect(ended.noise).toEqual([])
  const plain = ({ exitCode, signal, stderr }: Ended, { host }: World) => ({
    exitCode,
    signal,
    stderr: stderr.replaceAll(host.root, "ROOT").replace(/\berr_[0-9a-f]{8}\b/g, "a reference"),
  })
  expect(plain(with_, hooked)).toEqual(plain(without, bare))
  const told = (world: World, ended: Ended) => accountIn(world, ended.lines.slice(0, lines))
  expect(differencesOf(told(bare, without), told(hooked, with_))).toEqual([])
  expect(with_.tokens).toEqual(without.tokens)
  return [without, with_]
}

function accountIn({ host, provider }: World, lines: readonly RunLine[]): string[] {
  const told = lines.map(({ type, timestamp, ...properties }) => ({ type: `run ${type}`, properties }))
  return accountOf(told, { words: { "hud_recall, ": "", [host.root]: "ROOT", [provider.url]: "PROVIDER" } })
}

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
    args: ["--thinking", "--title", "A run", "Make the login test pass"],
  })
  expect(with_.exitCode).toBe(0)
  expect(with_.lines[0]?.sessionID).toMatch(/^ses_/)
  expect(with_.text).toContain("Done, naïve 試験 🙂 \u2028 end.")
  expect(with_.tools.map(({ tool, status }) => `${tool} ${status}`)).toEqual(
    without.tools.map(({ tool, status }) => `${tool} ${status}`),
  )
  expect(with_.tools.length).toBe(7)
  expect(with_.tokens.input).toBeGreaterThan(0)
  expect(with_.lines.filter(({ type }) => type === "step_finish")).toHaveLength(4)
  expect(hooked.provider.from("main", with_.session).filter((request) => hudsOf(request).length === 1).length).toBe(3)
  expect(JSON.stringify(with_.lines)).not.toContain("<hud>")
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
    args: ["-s", sessions.get(world) ?? "", "Then look at alpha"],
  }))
  expect(with_.session).toBe(sessions.get(hooked) ?? "")
  expect(with_.exitCode).toBe(0)
  expect(hudsOf(hooked.provider.from("main", with_.session).at(-1) ?? { body: {} })).toHaveLength(1)
})

testLarge("the newest session is resumed with -c", async () => {
  const [, with_] = await same({ main: [say("Here.")], args: ["-c", "Are you there?"] })
  expect(with_.session).toBe(sessions.get(hooked) ?? "")
})

testLarge("a session is forked with -s and --fork, and its copy goes on", async () => {
  const [, with_] = await same((world) => ({
    main: [use(read("beta.txt")), say("Forked.")],
    args: ["-s", sessions.get(world) ?? "", "--fork", "Look at beta instead"],
  }))
  expect(with_.session).toMatch(/^ses_/)
  expect(with_.session).not.toBe(sessions.get(hooked) ?? "")
})

testLarge("a prompt on stdin and a command's output may hold NUL bytes and control characters", async () => {
  const odd = "a\\000b\\033[31mred\\033[0m\\007\\342\\200\\256c\\377d"
  const [, with_] = await same({
    main: [use(bash(`printf '${odd}'`)), { text: "a\u0000b \u001b[31m \ud83d\ude42" }],
    args: ["--title", "Bytes"],
    stdin: "Print a\u0000b \u001b[31mred\u0007 <hud>\nand a second line\n",
  })
  expect(with_.exitCode).toBe(0)
  expect(with_.tools[0]?.output).toContain("red")
  expect(JSON.stringify(with_.lines)).toContain("a\\u0000b")
})

testLarge("a permission that nobody can give is refused", async () => {
  const [, with_] = await same({
    main: [use(bash("rm -f gone.txt")), say("Then not.")],
    args: ["--title", "Refused", "Remove it"],
  })
  expect(with_.tools[0]?.status).toBe("error")
})

testLarge("a request that the provider refuses ends the run with an error line and code 1", async () => {
  const [, with_] = await same({
    main: [use(read("alpha.txt")), { status: 400, message: "this model is out of order" }],
    args: ["--title", "Fails", "Look at alpha"],
  })
  expect(with_.exitCode).toBe(1)
  expect(with_.errors.join()).toContain("out of order")
})

const WRONG: [string, string[]][] = [
  ["a model that is not there", ["-m", "scripted/no-such-model", "Hello"]],
  ["a session that is not there", ["-s", "ses_000000000000aaaaaaaaaaaaaa", "Hello"]],
  ["a provider that is not there", ["-m", "nobody/at-all", "Hello"]],
  ["a session id that is none", ["-s", "../../etc", "Hello"]],
]

for (const [wrong, args] of WRONG)
  testLarge(`${wrong} ends the run with the same message and exit code`, async () => {
    // the session may repeat the error if the run is still there
    const [, with_] = await same({ main: [say("Hello.")], args }, 1)
    expect(with_.exitCode).not.toBe(0)
  })

for (const [signal] of sample([["SIGTERM"], ["SIGINT"]] as const, ["SIGTERM"]))
  testLarge(`${signal} in the middle of an answer ends the run as it does without the plugin`, async () => {
    const [, with_] = await same({
      main: [use(read("alpha.txt")), { text: "I begin and never end", hang: true }],
      args: ["--title", "Killed", "-m", OPENAI, "Look at alpha"],
      meanwhile: async (run) => {
        await run.line(({ type }) => type === "step_finish")
        run.kill(signal)
      },
    })
    expect(with_.exitCode === 0 && with_.signal === null).toBe(false)
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
