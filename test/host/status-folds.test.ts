// What a session's status says of its folds: the outputs, the episodes with their records, and the steps that stay.

import { expect, test } from "bun:test"
import { MAX_STATUS_FOLDS, MAX_STATUS_RECORD, MAX_STATUS_STEPS } from "../../src/host/status.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { dataOfFile } from "../support/data.ts"
import { bash, edit, read, SessionBuilder } from "../support/session.ts"
import { load } from "./loaded.ts"

const data = dataOfFile()

/** The status after a session was sent call by call, and then undone to its first messages; and its last request. */
async function play(
  id: string,
  session: SessionBuilder,
  options: Record<string, unknown> = {},
  left = session.messages.length,
) {
  const hooks = await load(options)
  await hooks.model(id)
  let sent: HostMessage[] = []
  const ends = session.messages.flatMap(({ info }, at) => (info.role === "assistant" ? [at] : []))
  for (const end of [...ends, left]) sent = await hooks.transform(session.fresh().slice(0, end))
  await hooks.dispose()
  const status = await readStatus(statusFolder(data), id)
  if (!status) throw new Error("no status was written")
  return { ...status.folding, sent }
}

const big = (name: string) => read(`src/${name}.ts`, `export const ${name} = 1\n`.repeat(400))

function long(id: string, steps: number): SessionBuilder {
  const session = new SessionBuilder(id).user("go")
  for (let i = 0; i < steps; i++) {
    if (i === 15) session.user("and now the rest")
    session.assistant([big(`file${i}`)])
  }
  return session.assistant([edit("src/last.ts"), bash("npm test", "1 failed", 1)])
}

test("lists episodes as they stand in the request, with their records and reasons", async () => {
  const id = "ses_episodes"
  const { steps, outputs, episodes, savedTokens, newest, sent } = await play(id, long(id, 40))
  expect(steps).toBeGreaterThan(10)
  expect(episodes.reduce((sum, { count }) => sum + count, 0)).toBe(steps)
  expect(newest).toHaveLength(outputs)
  const saved = episodes.map((episode) => episode.savedTokens)
  const ofOutputs = newest.map(({ tokens, textTokens }) => tokens - textTokens)
  expect([...saved, ...ofOutputs].reduce((sum, one) => sum + one, 0)).toBe(savedTokens)
  // the user's second message separates two episodes
  expect(episodes.length).toBeGreaterThan(1)
  expect(episodes.map(({ from }) => from)).toEqual(episodes.map(({ from }) => from).toSorted((a, b) => b - a))
  const texts = JSON.stringify(sent)
  for (const { from, to, record, count, steps } of episodes) {
    expect(to - from + 1).toBe(count)
    expect(texts).toContain(JSON.stringify(record).slice(1, -1))
    expect(steps.map(({ step }) => step)).toEqual(Array.from({ length: count }, (_, i) => from + i))
    for (const { kind, because, cutBecause, call } of steps) {
      expect(kind).toBe("step")
      expect([because, cutBecause]).not.toContain("")
      expect(call).toBeGreaterThan(to)
    }
  }
})

test("lists no output of a message that was undone", async () => {
  const id = "ses_undone"
  const whole = await play(id, long(id, 40))
  expect(whole.outputs).toBeGreaterThan(0)
  const { outputs, newest } = await play(`${id}_2`, long(`${id}_2`, 40), {}, 3)
  expect([outputs, newest]).toEqual([0, []])
})

test("lists no output that OpenCode has cleared since", async () => {
  const id = "ses_cleared"
  const session = long(id, 40)
  const hooks = await load()
  await hooks.model(id)
  for (let end = 2; end <= session.messages.length; end++) await hooks.transform(session.fresh().slice(0, end))
  for (const { state } of session.messages.flatMap(({ parts }) => parts))
    if (state?.time) state.time = { ...state.time, compacted: 1 }
  await hooks.transform(session.user("go on").fresh())
  await hooks.dispose()
  const { folding } = (await readStatus(statusFolder(data), id)) ?? {}
  expect([folding?.outputs, folding?.newest]).toEqual([0, []])
})

test("says why steps are open, and counts those that wait", async () => {
  const id = "ses_open"
  const { kept, steps } = await play(id, long(id, 20))
  expect(kept.open + kept.settled + steps).toBe(21)
  expect(kept.newest[0]).toMatchObject({ step: 21, what: "edit src/last.ts and 1 more" })
  expect(kept.reasons.reduce((sum, { steps }) => sum + steps, 0)).toBe(kept.open)
  for (const { why } of kept.reasons) expect(why).not.toContain("file1")
})

test("names what an option protects", async () => {
  const id = "ses_protected"
  const options = { fold: { protectedFiles: ["src/file3.ts"] } }
  const { kept, episodes } = await play(id, long(id, 40), options)
  expect(kept.reasons).toContainEqual({ why: "an option protects it", steps: 1 })
  expect(episodes.some(({ from, to }) => from <= 4 && to >= 4)).toBe(false)
})

test("stays small in a long session", async () => {
  const id = "ses_many"
  const session = new SessionBuilder(id).user("go")
  for (let i = 0; i < 700; i++) session.assistant([read(`src/${i}.ts`, `const a${i} = ${i}\n`.repeat(60))])
  const hooks = await load()
  await hooks.model(id)
  for (const end of [300, 600, 700]) await hooks.transform(session.fresh().slice(0, end))
  await hooks.dispose()
  const folding = (await readStatus(statusFolder(data), id))?.folding
  expect(folding?.steps).toBeGreaterThan(MAX_STATUS_STEPS)
  expect(folding?.newest.length).toBeLessThanOrEqual(MAX_STATUS_FOLDS)
  const listed = folding?.episodes.flatMap(({ steps }) => steps) ?? []
  expect(listed.length).toBeLessThanOrEqual(MAX_STATUS_STEPS)
  for (const { record } of folding?.episodes ?? []) expect(record.length).toBeLessThanOrEqual(MAX_STATUS_RECORD)
})
