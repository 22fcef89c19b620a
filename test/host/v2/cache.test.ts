// OpenCode 2 marks the last message only for the provider's cache, which would be the HUD, gone at the next request. Counted
// by the fake host's own account of marks and entries. And where a HUD may not be the last message.

import { expect, test } from "bun:test"
import * as module from "../../../src/plugin.ts"
import {
  fakeHostV2,
  heard,
  loadedModule,
  MODEL_V2,
  partsRead,
  type SentV2,
  textsOf,
  toolV2,
} from "../../support/host-v2.ts"

async function work(options: object, model: object, { markless = false, thinks = false } = {}) {
  const host = fakeHostV2({ model })
  const cleanup = await loadedModule(module).setup(
    host.context({ store: { enabled: false }, deadlineMs: 5000, fold: { enabled: false }, ...options }),
  )
  if (markless)
    host.hook("context", (event) => {
      event.messages = (event.messages as { content: object[] }[]).map((message) => ({
        ...message,
        content: message.content.map((part) => ({ ...part, cache: undefined })),
      }))
    })
  host.user("make the login test pass on node 22, please")
  const sent: SentV2[] = []
  for (let n = 0; n < 12; n++) {
    sent.push(await host.request())
    const call = toolV2(`call_${n}`, "read", { path: `src/file-${n}.ts` }, `export const n${n} = ${n}\n`)
    host.answer(thinks ? [{ type: "reasoning", text: `File ${n} is next.` }, call] : [call])
    await heard()
  }
  await (cleanup as () => Promise<void>)()
  return sent
}

const hasHudLast = ({ messages }: SentV2) => textsOf(messages).at(-1)?.startsWith("<hud>") === true
const parts = ({ messages }: SentV2) => messages.flatMap(({ content }) => content).length

test("with a HUD at the tail, the provider finds all of the request before", async () => {
  const sent = await work({ hud: { slot: "tail" } }, MODEL_V2)
  const shown = sent.map(hasHudLast)
  expect(shown.filter(Boolean).length).toBeGreaterThan(5)
  const read = partsRead(sent)
  for (let at = 1; at < sent.length; at++) {
    const before = sent[at - 1] as SentV2
    expect(read[at]).toBe(parts(before) - (shown[at - 1] ? 1 : 0))
  }
  // one mark of ours leaves room for the tools' and the two of the system prompt
  expect(sent.every(({ breakpoints }) => breakpoints <= 1)).toBe(true)
  expect(sent.some(({ breakpoints }) => breakpoints === 1)).toBe(true)
})

test("without the mark it would find nothing of it", async () => {
  const sent = await work({ hud: { slot: "tail" } }, MODEL_V2, { markless: true })
  const shown = sent.map(hasHudLast)
  const read = partsRead(sent)
  for (let at = 1; at < sent.length; at++)
    if (shown[at - 1]) expect(read[at]).toBeLessThan(parts(sent[at - 1] as SentV2) - 1)
})

test("a sticky HUD needs no mark: the next request has it too", async () => {
  const sent = await work({ hud: { slot: "sticky" } }, MODEL_V2)
  expect(sent.every(({ breakpoints }) => breakpoints === 0)).toBe(true)
  const read = partsRead(sent)
  for (let at = 1; at < sent.length; at++) expect(read[at]).toBe(parts(sent[at - 1] as SentV2))
})

test("with a HUD inside the last result, the message before is marked", async () => {
  const sent = await work({ hud: { slot: "tool" } }, MODEL_V2)
  const shown = sent.map(({ messages }) => textsOf(messages).at(-1)?.endsWith("</hud>") === true)
  expect(shown.filter(Boolean).length).toBeGreaterThan(5)
  const read = partsRead(sent)
  // what the last message had is sent again without its HUD, the call before it too
  for (let at = 2; at < sent.length; at++)
    expect(read[at]).toBeGreaterThanOrEqual(parts(sent[at - 1] as SentV2) - (shown[at - 1] ? 2 : 0))
})

test("models without marks get none", async () => {
  const sent = await work({}, { ...MODEL_V2, providerID: "openai", id: "gpt-5" })
  expect(sent.some(hasHudLast)).toBe(true)
  expect(sent.every(({ breakpoints }) => breakpoints === 0)).toBe(true)
})

test("a model that has thought in the running turn has the HUD inside the last result", async () => {
  const sent = await work({}, { ...MODEL_V2, providerID: "openai", id: "gpt-5" }, { thinks: true })
  expect(sent.slice(1).map(({ messages }) => messages.at(-1)?.role)).toEqual(Array(11).fill("tool"))
  expect(textsOf(sent.at(-1)?.messages ?? []).at(-1)).toContain("<hud>")
})

test.each(["auto", "tail", "sticky"])(
  "Copilot's requests end with a tool's result within a turn, with slot %s",
  async (slot) => {
    const sent = await work({ hud: { slot } }, { ...MODEL_V2, providerID: "github-copilot", id: "gpt-5" })
    expect(sent[0]?.messages.at(-1)?.role).toBe("user")
    expect(sent.slice(1).map(({ messages }) => messages.at(-1)?.role)).toEqual(Array(11).fill("tool"))
    expect(textsOf(sent.at(-1)?.messages ?? []).at(-1)).toContain("<hud>")
  },
)
