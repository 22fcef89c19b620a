import { describe, expect, test } from "bun:test"
import { createModels, fullSize, OUTPUT_CAP, outputCapOf } from "../../src/host/models.ts"
import { slotFor } from "../../src/hud/slots.ts"
import { readOptions } from "../../src/options.ts"
import { bindsThinking, type ModelName } from "../../src/session/conversation.ts"

describe("the size at which OpenCode compacts", () => {
  test.each([
    ["the context less the answer", { context: 100_000, output: 8000 }, {}, 92_000],
    ["an answer is capped at 32,000", { context: 200_000, output: 64_000 }, {}, 168_000],
    ["an unknown answer counts as the cap", { context: 200_000, output: 0 }, {}, 168_000],
    ["so does a missing one", { context: 200_000 }, {}, 168_000],
    [
      "reserved does nothing without a limit of the input",
      { context: 100_000, output: 8000 },
      { reserved: 50_000 },
      92_000,
    ],
    ["a limit of the input keeps 20,000 free", { context: 400_000, input: 272_000, output: 128_000 }, {}, 252_000],
    ["or the answer, if that is less", { context: 400_000, input: 272_000, output: 8000 }, {}, 264_000],
    ["or what is reserved", { context: 400_000, input: 272_000, output: 8000 }, { reserved: 1000 }, 271_000],
    ["even nothing", { context: 400_000, input: 272_000, output: 8000 }, { reserved: 0 }, 272_000],
    ["OpenCode 2 keeps its buffer free", { context: 60_000, output: 2000 }, { buffer: 20_000 }, 40_000],
    ["or the answer, if that is more", { context: 200_000, output: 64_000 }, { buffer: 20_000 }, 168_000],
    ["or a tenth, as newer versions do", { context: 1_000_000, output: 64_000 }, { buffer: 20_000 }, 900_000],
    ["of the input too", { context: 400_000, input: 272_000, output: 8000 }, { buffer: 20_000 }, 244_800],
    ["a context below its buffer is always over", { context: 16_000, output: 2000 }, { buffer: 20_000 }, 0],
    ["an input limit of 0 is none", { context: 100_000, input: 0, output: 8000 }, {}, 92_000],
    ["a small context is always over", { context: 8000, output: 8000 }, {}, 0],
    ["more reserved than there is", { context: 8000, input: 4000, output: 1000 }, { reserved: 9000 }, 0],
  ])("%s", (_, limits, compaction, expected) => {
    expect(fullSize(limits, compaction)).toBe(expected)
  })

  test.each([
    ["with an unknown context", { context: 0, output: 8000 }],
    ["with no context, whatever the input", { input: 100_000, output: 8000 }],
  ])("is not known %s", (_, limits) => {
    expect(fullSize(limits)).toBeUndefined()
  })

  test("another output cap moves it", () => {
    const limits = { context: 200_000, output: 64_000 }
    expect(fullSize(limits, { auto: true }, outputCapOf("64000"))).toBe(136_000)
    expect(fullSize(limits, { auto: true }, outputCapOf("100"))).toBe(199_900)
  })

  test.each([undefined, "", "0", "-5", "1.5", "many", "Infinity"])("an output cap of %p is ignored", (variable) => {
    expect(outputCapOf(variable)).toBe(OUTPUT_CAP)
  })
})

test.each([true, false])("with compaction.auto %p, requests have the same room", (auto) => {
  const models = createModels(readOptions({}).options)
  const name = { providerID: "local", modelID: "small" }
  models.configure({ compaction: { auto } })
  models.note({ id: name.modelID, providerID: name.providerID, limit: { context: 16_000, output: 4_000 } })
  expect(models.circumstances(name, 0)).toMatchObject({ fullAt: 12_000, compactsAt: auto ? 12_000 : undefined })
})

test.each([
  ["of the context, although an answer may fill it", { context: 32_768, output: 32_768 }, 768, 16_384],
  ["of the input, although all of that may be reserved", { context: 400_000, input: 16_000 }, 0, 8_000],
  ["and never more than the input may have", { context: 264_000, input: 128_000, output: 64_000 }, 108_000, 108_000],
])("where nothing is compacted, requests have half %s", (_, limit, compacted, otherwise) => {
  const models = createModels(readOptions({}).options)
  const name = { providerID: "local", modelID: "small" }
  models.note({ id: name.modelID, providerID: name.providerID, limit })
  expect(models.circumstances(name, 0).fullAt).toBe(compacted)
  models.configure({ compaction: { auto: false } })
  expect(models.circumstances(name, 0)).toMatchObject({ fullAt: otherwise, compactsAt: undefined })
})

test("a model with another name in the configuration is treated as the one that it is, from the first request on", () => {
  const models = createModels(readOptions({}).options)
  const named = (modelID: string) => models.circumstances({ providerID: "own", modelID }, 0).model as ModelName
  models.configure({ provider: { own: { models: { fast: { id: "mistralai/devstral-small" }, claude: {} } } } })
  expect(slotFor("auto", named("fast"))).toBe("tool")
  expect(slotFor("auto", named("claude"))).toBe("tail")
  models.note({ id: "claude", providerID: "own", api: { id: "claude-sonnet-5-5" } })
  expect(slotFor("auto", named("claude"))).toBe("sticky")
  expect(bindsThinking(named("claude"))).toBe(true)
})
