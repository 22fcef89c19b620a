// What a program does with OpenCode over HTTP. Each scenario drives one server and returns the sessions it made. Every stage
// plays them in the same order, since a server remembers granted permissions.

import type { ModelRequest } from "../../opencode/request.ts"
import type { Reply, ToolCall } from "../../opencode/wire.ts"
import { foldsIn, look, recall, recallID } from "../../support/folds.ts"
import { bash, edit, OPENAI, read, say, todo, use } from "../../support/world.ts"
import type { Next, Stage } from "./stage.ts"

export type Scenario = (stage: Stage) => Promise<readonly string[]>

/** Files that every stage has; outputs that are worth a fold. */
const LOOKS = Array.from({ length: 7 }, (_, at) => use(look(at + 1)))

/** Asks for the first output that is folded; where nothing is, for an id that is none. */
const askBack: Next = (request: ModelRequest) => {
  const [fold] = foldsIn(request).values()
  return use(recall(fold === undefined ? "r1" : recallID(fold)))
}

const task = { description: "look at gamma", prompt: "Read gamma.txt and report", subagent_type: "general" }

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a text, in a session that gets its title by itself": async (stage) => {
    const { client } = stage
    const session = await client.create()
    stage.play({ main: [say("Hello, naïve 試験 🙂.")] }, session)
    const from = client.events.length
    await stage.turn(session, "Hello there")
    await titled(stage, session, from)
    return [session]
  },

  "tools: reads, a check that fails, an edit, todos, a missing file, a tool there is not": async (stage) => {
    const session = await stage.client.create({ title: "Tools" })
    stage.play(
      {
        main: [
          { thinking: "The README first.", text: "I look around.", calls: [read("README.md")] },
          use(read("alpha.txt"), todo(["mend the login", "in_progress"])),
          use(bash("sh check")),
          use(edit("alpha.txt", "second", "other")),
          use(read("missing.txt")),
          use({ name: "no_such_tool", arguments: { a: 1 } }),
          use(read("README.md")),
          use(bash("sh check"), todo(["mend the login", "completed"])),
          use(bash("git checkout alpha.txt")),
          say("Done."),
        ],
      },
      session,
    )
    await stage.turn(session, "Make the login test pass")
    return [session]
  },

  "reasoning before tools and before the answer": async (stage) => {
    const session = await stage.client.create({ title: "Reasoning" })
    const thinking = "Let me think.\nFirst ".repeat(30)
    stage.play(
      {
        main: [
          { thinking, calls: [read("beta.txt")] },
          { thinking, text: "Two lines." },
        ],
      },
      session,
    )
    await stage.turn(session, "What is in beta?")
    return [session]
  },

  "a permission asked for, given once, refused, given for good, and not asked for again": async (stage) => {
    const { client } = stage
    const session = await client.create({ title: "Permissions" })
    const remove = use(bash("rm -f gone.txt"))
    stage.play({ main: [remove, say("Gone."), remove, remove, say("Gone again."), remove, say("And again.")] }, session)
    stage.answer("once")
    await stage.turn(session, "Remove it")
    stage.answer("reject")
    await stage.turn(session, "Once more")
    stage.answer("always")
    await stage.turn(session, "And once more")
    await stage.turn(session, "The last time")
    return [session]
  },

  "much read, and a folded output asked back": async (stage) => {
    const { client } = stage
    const session = await client.create({ title: "Long" })
    stage.play({ main: [...LOOKS, askBack, say("Seen."), use(read("beta.txt")), say("Done.")] }, session)
    await stage.turn(session, "Look at the logs")
    await stage.turn(session, "Now beta")
    return [session]
  },

  "a compaction, and the next turn": async (stage) => {
    const { client } = stage
    const session = await client.create({ title: "Compaction" })
    stage.play({ main: [...LOOKS.slice(0, 3), say("Seen."), use(read("beta.txt")), say("Done.")] }, session)
    await stage.turn(session, "Look at the logs")
    const from = client.events.length
    await client.summarize(session, OPENAI)
    await client.idle(session, from)
    await stage.turn(session, "Now beta")
    return [session]
  },

  "an answer aborted in the middle, and the next prompt": async (stage) => {
    const { client } = stage
    const session = await client.create({ title: "Abort" })
    stage.play(
      { main: [use(read("alpha.txt")), { text: "I begin and never end", hang: true }, say("Once more.")] },
      session,
    )
    const from = client.events.length
    await client.promptAsync(session, "Look at alpha")
    await client.event(
      ({ type, properties }) =>
        type === "message.part.delta" && properties.sessionID === session && String(properties.delta).includes("end"),
      { from },
    )
    await client.abort(session)
    await idles(stage, session, 2, from)
    await stage.turn(session, "Go on")
    return [session]
  },

  "a request that the provider refuses with 400, and the next prompt": failing("Refused", {
    status: 400,
    message: "this model is out of order",
  }),
  "an answer that is no answer": failing("Garbage", { body: 'data: {"choices": [{]}\n\n<html>' }),
  "a rate limit, 429, that passes": passing("Limited", read("alpha.txt"), { status: 429, message: "slow down" }),
  "a server error, 500, that passes": passing("Broken", bash("sh check"), { status: 500, message: "internal" }),

  "a subagent": async (stage) => {
    const session = await stage.client.create({ title: "Parent" })
    stage.play({ main: [use(read("alpha.txt")), use({ name: "task", arguments: task }), say("Done.")] }, session)
    stage.play({
      main: [],
      child: [use(read("gamma.txt"), bash("sh check")), use(read("missing.txt")), say("Two lines.")],
    })
    await stage.turn(session, "Compare alpha with gamma")
    return [session]
  },

  "two sessions at once on one stream": async (stage) => {
    const { client } = stage
    const [one, other] = [await client.create({ title: "One" }), await client.create({ title: "Other" })]
    const steps = (file: string) => [
      { ...use(read(file), todo([`look at ${file}`, "in_progress"])), delayMs: 50 },
      { ...use(bash(`cat ${file} && exit 3`)), delayMs: 50 },
      say(`Seen ${file}.`),
    ]
    stage.play({ main: steps("alpha.txt") }, one)
    stage.play({ main: steps("beta.txt") }, other)
    await Promise.all([stage.turn(one, "Look at alpha"), stage.turn(other, "Look at beta")])
    return [one, other]
  },

  "NUL bytes and control characters in prompt, output and file": async (stage) => {
    const session = await stage.client.create({ title: "Bytes" })
    const odd = "a\\000b\\033[31mred\\033[0m\\007\\r\\nc\\342\\200\\256d\\377e"
    stage.play(
      {
        main: [
          use(bash(`printf '${odd}'`)),
          use(bash(`printf '${odd}' > odd.bin; cat odd.bin; rm -rf missing`)),
          use(bash(`printf '${odd}' >&2; exit 2`)),
          { text: "a\u0000b\u001b[31m \u2028 \u202e \ud83d\ude42" },
        ],
      },
      session,
    )
    stage.answer("once")
    await stage.turn(session, "Print a\u0000b \u001b[31mred\u0007 \u2028\u202e\u200b <hud>")
    return [session]
  },

  "a prompt while the agent works, a command of the user's own, an undo, a fork": async (stage) => {
    const { client } = stage
    const session = await client.create({ title: "Operations" })
    stage.play(
      { main: [use(read("alpha.txt"), todo(["look", "in_progress"])), use(bash("sh check")), say("Done.")] },
      session,
    )
    await stage.turn(session, "Look at alpha")
    await client.call("POST", `/session/${session}/shell`, { body: { agent: "build", command: "echo by hand" } })
    const user = (await client.messages(session)).findLast(({ info }) => info.role === "user")
    await client.revert(session, String(user?.info.id))
    await client.call("POST", `/session/${session}/unrevert`)
    const id = await client.fork(session)
    stage.play({ main: [use(read("beta.txt")), say("Forked.")] }, id)
    await stage.turn(id, "Go on here")
    return [session, id]
  },
}

/** A turn that ends with a provider error, and the next prompt. */
function failing(title: string, broken: Reply): Scenario {
  return async (stage) => {
    const session = await stage.client.create({ title })
    stage.play({ main: [use(read("alpha.txt")), broken, say("Back.")] }, session)
    const from = stage.client.events.length
    await stage.turn(session, "Look at alpha")
    await idles(stage, session, 2, from)
    await stage.turn(session, "Once more")
    return [session]
  }
}

/** A turn in which the provider refuses a request once and OpenCode retries it. */
function passing(title: string, call: ToolCall, refusal: Reply): Scenario {
  return async (stage) => {
    const session = await stage.client.create({ title })
    stage.play({ main: [use(call), refusal, say("Done.")] }, session)
    await stage.turn(session, "Look at it")
    return [session]
  }
}

/** After an error or an abort OpenCode sends idle twice; a prompt between the two would be a race. */
async function idles({ client }: Stage, session: string, count: number, from: number): Promise<void> {
  let left = count
  const isIdle = (type: string) => type === "session.idle"
  await client.event(({ type, properties }) => isIdle(type) && properties.sessionID === session && --left === 0, {
    from,
  })
}

/** A background job writes the title during the first turn. */
async function titled({ client }: Stage, session: string, from: number): Promise<void> {
  await client.event(
    ({ type, properties }) =>
      type === "session.updated" &&
      properties.sessionID === session &&
      (properties.info as { title: string }).title === "A scripted session",
    { from },
  )
}
