// Other plugins in the real OpenCode, listed before this one and after it: the turn, its end and its errors are the same as
// with that plugin alone, and every request that goes out has one HUD.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { fileURLToPath } from "node:url"
import { hudsOf, type ModelRequest, withoutHud } from "../opencode/request.ts"
import { differences, outlineOf } from "../opencode/stored.ts"
import { TAIL } from "../support/neighbour.ts"
import { complaints, expectSound, type Neighbourhood, openNeighbourhood } from "../support/neighbourhood.ts"
import { sized } from "../support/size.ts"
import { ALONE, bash, PATIENCE_MS, PLUGIN, read, say, todo, use } from "../support/world.ts"

setDefaultTimeout(2 * PATIENCE_MS)

const NEIGHBOUR = fileURLToPath(new URL("../support/neighbour.ts", import.meta.url))
const BROKEN = fileURLToPath(new URL("../support/broken-neighbour.ts", import.meta.url))
// a busy machine must not cause a warning
const HUD = [PLUGIN, { ...ALONE, deadlineMs: 5_000 }] as const
const NO_IMPORT = "cannot be imported"
const NEIGHBOURS = [
  "throws in experimental.chat.messages.transform",
  NO_IMPORT,
  // this one in the large run, those after it only under `npm run prove`
  "adds a user message at the end",
  "puts another array in the array's place",
  "rejects in event",
  "rejects in server()",
  "answers nonsense from every hook",
  "throws in config",
  "rejects in chat.message",
  "rejects in chat.params",
  "rejects in tool.definition",
  "throws in tool.execute.before",
  "rejects in tool.execute.after",
  "rejects in experimental.chat.system.transform",
  "rejects in experimental.text.complete",
  "adds a synthetic user message at the end",
  "puts clones in the messages' places",
  "freezes every message",
  "changes outputs",
  "adds a system message",
].slice(0, sized(2, 99, 3))

let here: Neighbourhood

beforeAll(async () => {
  here = await openNeighbourhood()
})
afterAll(() => here?.close())

type Played = { requests: ModelRequest[]; outline: string[]; error: string }

async function play(name: string, plugins: Parameters<Neighbourhood["project"]>[1]): Promise<Played> {
  const { client, provider } = here
  const directory = here.project(name, plugins)
  const session = await client.create({ directory, title: "Neighbours" })
  provider.play(
    [use(read("alpha.txt"), todo(["look", "in_progress"])), use(bash("sh check")), say("It fails.")],
    session,
  )
  const refused = await client.prompt(session, "Look at alpha").then(
    () => "",
    (cause: unknown) => String(cause),
  )
  return {
    requests: provider.from("main", session),
    outline: outlineOf(await client.messages(session), directory),
    error: refused.replace(/err_\w+|ses_\w+/g, "…"),
  }
}

/** The conversation without the HUD, the project's folder and the number that the scripted model gives a call. */
function plain(request: ModelRequest): string[] {
  const calls = [...new Set(request.raw.match(/call_\d{4}/g))]
  return withoutHud(request).map((message) =>
    message
      .replaceAll(/\/[^"\s]*\/(?=alpha\.txt)/g, "")
      .replaceAll(/call_\d{4}/g, (call) => `call ${calls.indexOf(call)}`),
  )
}

describe.each(NEIGHBOURS)("a plugin that %s", (does) => {
  let played: { alone: Played; before: Played; after: Played }
  beforeAll(async () => {
    const name = does.replace(/\W+/g, "-")
    const other = does === NO_IMPORT ? BROKEN : ([NEIGHBOUR, { does }] as const)
    const alone = await play(`${name}-alone`, [other])
    const before = await play(`${name}-before`, [other, HUD])
    const after = await play(`${name}-after`, [HUD, other])
    played = { alone, before, after }
  })

  test.each(["before", "after"] as const)("listed %s it: the turn goes as with that plugin alone", (order) => {
    const { alone, [order]: both } = played
    expect(both.error).toBe(alone.error)
    expect(differences(alone.outline, both.outline)).toEqual([])
    expect(both.requests.length).toBe(alone.requests.length)
    both.requests.forEach((request, at) => {
      expectSound(request)
      expect(plain(request)).toEqual(plain(alone.requests[at] as ModelRequest))
      expect(request.raw.split(TAIL).length).toBe(alone.requests[at]?.raw.split(TAIL).length as number)
      // OpenCode sends the array it passed to the hooks; once a hook has replaced it, later hooks do not get it
      const hidden = order === "before" && does.includes("another array")
      expect(hudsOf(request)).toHaveLength(at === 0 || hidden ? 0 : 1)
    })
  })
})

test("the plugin logged no warning", () => {
  expect(complaints(here.host.log()).filter((line) => line.includes("opencode-hudfold"))).toEqual([])
})
