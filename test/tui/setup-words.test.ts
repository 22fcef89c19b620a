// What the setup dialog says of a plan and of the command line's output.

import { expect, test } from "bun:test"
import { nextStep, planRows, type SetupStep, stepWords } from "../../src/tui/setup-words.ts"

const engine = { version: "3.21.1", variants: ["linux-x64"], why: "no GPU found", isThere: false }
const sizes = { fetchedBytes: 51_000_000, installedBytes: 45_000_000 }
const model = { kind: "hub", name: "smollm2-135m", licence: "Apache-2.0", isThere: false }
const plan = (given: object = {}) =>
  JSON.stringify({
    plan: {
      machine: { availableBytes: 24e9, cpu: "any" },
      engine: { ...engine, ...sizes },
      model: { ...model, file: { sizeBytes: 145_000_000 } },
      ...given,
    },
  })

test("a plan says which model, what it brings, and how large all of it is", () => {
  const rows = Object.fromEntries((planRows(plan()) ?? []).map(({ name, said }) => [name, said]))
  expect(rows).toMatchObject({
    Model: "smollm2-135m, 145 MB, licence Apache-2.0",
    Engine: "node-llama-cpp 3.21.1, linux-x64 (no GPU found)",
    "In all": "196 MB to fetch, 190 MB on disk",
    Memory: "about 474 MB while it works, 24.0 GB free",
  })
  expect(rows.Brings).toContain("9 of 39 such outputs, and held no more of what agents needed later")
})

test("of what is installed nothing is fetched, and of a model that was not measured nothing is promised", () => {
  const record = { name: "qwen3-0.6b", sizeBytes: 639_000_000 }
  const given = plan({ engine: { ...engine, ...sizes, isThere: true }, model: { kind: "kept", record } })
  const rows = Object.fromEntries((planRows(given) ?? []).map(({ name, said }) => [name, said]))
  expect(rows).toMatchObject({
    Model: "qwen3-0.6b, 639 MB, already here",
    "In all": "nothing to fetch: it is installed",
  })
  expect(rows.Brings).toContain("was not measured")
  expect(planRows("no plan")).toBeUndefined()
  expect(planRows("{}")).toBeUndefined()
})

test("the output of the command line is three steps, with a bar while a model is fetched", () => {
  const said = (line: string) => {
    step = nextStep(step, line)
    return stepWords(step, 78)
  }
  let step: SetupStep | undefined
  expect(said("machine: linux x64")).toBe("step 1 of 3: installing the engine")
  expect(said("engine: installing with npm")).toBe("step 1 of 3: installing the engine")
  expect(said("model: smollm2-135m 40% of 145 MB")).toBe(
    "step 2 of 3: fetching the model  ████████████░░░░░░░░░░░░░░░░░░ 40%",
  )
  expect(said("testing it on a sample …")).toBe("step 3 of 3: testing the model")
  expect(said("it runs on the processor")).toBe("step 3 of 3: testing the model")
})
