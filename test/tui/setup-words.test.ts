// What the setup dialog says of the command line's output.

import { expect, test } from "bun:test"
import { nextStep, type SetupStep, stepWords } from "../../src/tui/setup-words.ts"

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
